// SPDX-License-Identifier: MIT
// Collectives as ASTRA-sim 2 runs them: every rank cuts a collective into chunks, and a chunk is a
// stream, which goes through its phases on this rank alone.
//
// A rank has queues for each dimension. In a queue at most ceil(active chunks / queues) streams
// run, the others wait in order. A rank's step begins with the endpoint delay and, if data is
// added, the time of three accesses to memory; it then sends a message and expects one. Nothing is
// decided for several ranks together: messages alone connect them. Streams of one number belong
// together. Unlike admission (collective/phase_admission.h), queues of several dimensions can
// deadlock when ranks arrive at different times.
//
// Algorithms: ring, direct, halving_doubling, double_binary_tree with ASTRA-sim's order of messages
// (collective/stream_steps.c, collective/stream_tree.c), which differ in details from those of
// collective/. Source: ASTRA-sim 2 (Won et al., ISPASS 2023).
#pragma once

#include "collective/communicator.h"

struct instance;
struct rank_streams; // of one job

// A member has ended all its streams of a collective.
typedef void stream_rank_done(struct communicator *c, struct instance *in, uint32_t member,
                              ps_t now);

// Member `member` begins its part of collective `in`. Returns false if it has nothing to do.
bool streams_issue(struct communicator *c, struct instance *in, uint32_t member, ps_t now,
                   stream_rank_done *rank_done);

// A message has arrived; `token` as posted.
void streams_delivered(struct comm_job *job, uint64_t token, ps_t now);
void streams_sent(struct comm_job *job, uint64_t token, ps_t now); // the same, for its sender
void streams_free(struct comm_job *job);
void inboxes_free(struct communicator *c); // before its job's streams
