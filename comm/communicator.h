// SPDX-License-Identifier: MIT
// Communicators: ordered lists of ranks that run collectives together.
//
// A collective runs as phases of its chunks over the dimensions of its communicator. A phase of a chunk
// concerns one group of ranks along a dimension. Where a dimension runs a limited number of phases at
// once, a group has one queue per dimension (comm/admission.h), and a phase joins it when all of the
// group's ranks are ready for it: no rank holds a place for another that waits elsewhere, so ranks that
// get there in different orders cannot block each other. Where the number is not limited, every rank
// begins when it is ready. (ASTRA-sim has a queue per rank; ranks that move alike see the same.)
//
// The members of one communicator must issue the same collectives in the same order. Communicators of
// different ranks are independent of each other, also where they share ranks.
#pragma once

#include "collective/schedule.h"
#include "engine/engine.h"
#include "net/transfer.h"

struct communicator;
struct recorder;
struct timeline;
struct dim_use;

#define COMM_TOKEN_BITS 47 // of a message's token: what is above them is the job's

// What the communicators of a job have in common: network, traffic, records, counts.
struct comm_job {
    /* config */
    struct engine *engine;
    const struct transfer *transfer;
    // What a rank can send to another by all its ports, in bytes/s or any other unit.
    double (*bandwidth)(void *ctx, uint32_t src, uint32_t dst);
    void *bandwidth_ctx;
    struct recorder *recorder;
    uint32_t job, cls;  // of the messages
    uint32_t channels;  // chunk c uses queue pairs of channel c modulo these; 0 = 1
    uint64_t token;     // upper bits of the tokens
    uint64_t *messages; // counts those that are posted
    uint32_t *delays;   // counts timers that messages will follow
    /* state */
    struct walk **walks; // by token
    size_t n_walks, cap_walks;
    uint32_t n_communicators;
};
void comm_job_free(struct comm_job *job); // after its communicators

// What a rank issues. Nothing of it may differ between the members.
struct comm_request {
    enum coll_op op;
    uint64_t bytes; // the largest per-rank buffer (collective/collective.h)
    uint32_t dims;  // bit set of the schedule's dimensions; all ranks that agree in the others take
                    // part together
    uint32_t root, inner;             // as in coll_shape
    const struct coll_uneven *uneven; // all_to_all over all ranks at once; NULL = alike
    bool urgent;                      // before all that are not
    const char *name;                 // for the record
};

// A member's part of the collective that it issued with `ticket` has ended. `ctx` as in comm_new.
typedef void comm_done(void *ctx, uint32_t member, uint32_t ticket, ps_t now);

// `ranks`: the network's rank of each member, as many as the schedule's sizes multiply to; NULL =
// member i is rank i. They must outlive it, as must `job`.
struct communicator *comm_new(struct comm_job *job, const uint32_t *ranks,
                              const struct coll_schedule *schedule, comm_done *done, void *ctx);
void comm_free(struct communicator *c);

// Record phases of ranks, and dimensions in use, from now on; either may be NULL.
void comm_watch(struct communicator *c, struct timeline *timeline, struct dim_use *use);

// Add to the dimensions' use what has begun and not ended.
void comm_use_settle(struct communicator *c, ps_t now);

// Member `member` issues its next collective; the request stays where it is as long as the recorder.
// False: there is nothing to do for any member, and `done` does not follow. `done` may be called before
// it returns. A request other than that of the first member who issued it ends the program.
bool comm_issue(struct communicator *c, uint32_t member, const struct comm_request *request,
                uint32_t ticket, ps_t now);

// A message of a communicator of this job has arrived; `token` as posted.
void comm_delivered(struct comm_job *job, uint64_t token, uint64_t bytes, ps_t now);

// Bytes that all members will send for one such collective; called before anything runs.
uint64_t comm_bytes(const struct communicator *c, const struct comm_request *request);

// Queue pairs that one such collective will use, about: from the plan of a chunk and the peers of a few
// members.
double comm_queue_pairs(const struct coll_schedule *s, enum coll_op op, uint32_t dims,
                        uint64_t bytes);
