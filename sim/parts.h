// SPDX-License-Identifier: MIT
// A simulation on several threads: its nodes in parts (engine/partition.h), and for each part the structs of
// network, switches and hosts that refer to it.
//
// What crosses between parts or concerns all of them, and when:
//   packets, with their meta-data, PFC frames     by mail, at a window's end (net/crossing.h)
//   messages, programs, collectives, paths        under the lock: each rank touches what is its own
//   records, ends of collectives and jobs         deferred to the window's end, in the order of events
//   faults, routes, samples, the stall rule,      events of the common engine: the parts rest
//   measurements of links
//   the end of the run, programs that read on     windows in which they are possible run on one thread
//   when nothing is left to happen, failures
// What else needs the order of events keeps the whole simulation on one thread; sim_divide() says why.
#pragma once

#include "engine/partition.h"
#include "sim/sim_internal.h"

struct sim_parts {
    struct partition *partition;
    struct switches *switches;  // [part]
    struct hosts *hosts;        // [part]
    ps_t ends_ps;               // a message that has been posted ends not before; 0 = not known
    uint32_t witness;           // a flow that had something to send when it was last looked at
    uint64_t frames_per_window; // most frames that all ports can send
    uint64_t look_at;           // look for another witness when so many events have been processed
};

// Divide a simulation that has not begun among its threads. Writes to `why` what limits their number, if
// there are fewer than wanted.
#define SIM_WHY 200
void sim_divide(struct sim *sim, char why[SIM_WHY]);

// Put the results of the parts together, and end the threads.
void sim_unite(struct sim *sim);
void sim_parts_free(struct sim *sim); // after the hosts and the network

// What the threads did; sim_unite() has been called.
struct threads_result sim_threads_result(const struct sim *sim);

// sim/cut.c: cut the graph into at most `n` parts.
struct cut_result {
    uint32_t parts;
    ps_t lookahead_ps; // the least time that anything takes from one part to another
    uint32_t
        longer; // fewer parts would leave more links uncut, of longer_ps at least; 0 = they would not
    ps_t longer_ps;
};
struct cut_result sim_cut(const struct sim *sim, uint32_t n, uint16_t *part_of); // [n_nodes + 1]

// sim/quiet.c: true if all messages may have ended before `until_ps`, or if a flow may fail.
bool sim_may_be_quiet(struct sim *sim, ps_t until_ps);
// sim/messages.c: a lower bound of the time from the post of a message to its delivery; whether the message with
// this token of the ledger is the one with the client's token.
ps_t sim_least_ps(const struct sim *sim, const struct transfer_request *request);
bool sim_message_is(const struct sim *sim, uint64_t slot, uint64_t token);

// A message has been posted, or has failed.
void sim_quiet_posted(struct sim *sim, const struct transfer_request *request, ps_t now);
void sim_quiet_failed(struct sim *sim);
