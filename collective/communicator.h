// SPDX-License-Identifier: MIT
// Communicators: ordered lists of ranks that run collectives together.
//
// A collective runs as phases of its chunks over the dimensions of its communicator. A phase of a
// chunk involves one group of ranks along a dimension. If the number of phases running at once in a
// dimension is limited, each group has one queue per dimension (collective/phase_admission.h), and
// a phase enters the queue when all ranks of the group are ready for it. No phase therefore holds a
// place while it waits for a rank that waits elsewhere, so ranks that arrive in different orders
// cannot deadlock. If the number is not limited, every rank begins when it is ready. (ASTRA-sim has
// a queue per rank, which is equivalent if all ranks behave alike.)
//
// The members of one communicator must issue the same collectives in the same order. Different
// communicators are independent, even if they share ranks.
#pragma once

#include "collective/algorithm/schedule.h"
#include "engine/engine.h"
#include "engine/noise.h"
#include "engine/tally.h"
#include "net/transfer.h"

struct communicator;
struct recorder;
struct timeline;
struct dim_use;
struct rank_streams;
struct executor;
struct cores;
struct rendezvous;

#define COMM_TOKEN_BITS 47 // bits of a message's token; the bits above them belong to the job

// Request for aggregators: a group of ranks whose collectives are to be reduced in the network.
struct comm_reduce_request {
    uint32_t job;
    const uint32_t *ranks; // [n] of the network
    uint32_t n;
    uint64_t phases;        // that may run at once
    uint64_t segment_bytes; // largest segment
    uint64_t trees;         // PARAM_AUTO = one in each plane
};

enum comm_issuer {
    COMM_ISSUES, // it may issue a collective, or this is not known
    COMM_RESTS,  // it issues none
    COMM_AWAITS  // it issues none before all its collectives with *ticket have ended
};

// State that all communicators of a job share: network, messages, records, counters.
struct comm_job {
    /* config */
    struct engine *engine;
    struct path_book *path_book;
    const struct transfer *transfer;
    struct cores *cores; // of the hosts (engine/cores/cores.h), for libraries
    // Bandwidth from one rank to another over all its ports, in bytes/s or any other fixed unit.
    double (*bandwidth)(void *ctx, uint32_t src, uint32_t dst);
    void *bandwidth_ctx; // for `bandwidth` and `reduce`
    // Reserves aggregators for a group, or returns NULL where the network has none for it. The
    // result stays valid during the run, and its buffer is known when all groups have been made.
    const struct coll_reduction *(*reduce)(void *ctx, const struct comm_reduce_request *request);
    struct recorder *recorder;
    uint32_t job, cls, transport; // of the messages
    struct noise_delay noise;     // of each step of a rank
    uint64_t seed;                // of the noise
    uint32_t channels;      // chunk c uses the queue pairs of channel c mod channels; 0 means 1
    uint64_t token;         // upper bits of all tokens
    struct tally *messages; // posted
    char **failure;         // set, and the engine stopped, when members issue different collectives
    struct tally *delays;   // armed timers that will post messages
    // Set to true if collectives are planned by when they are issued, or run by a library; may be
    // NULL.
    bool *takes_order;
    // Set to a number by which the ranks of the network are divided into servers whose ranks read
    // each other's state, 0 = none; may be NULL.
    uint32_t *server_ranks;
    // Returns whether a member may issue a collective before `until_ps`. `ctx` as in comm_new().
    enum comm_issuer (*issuer)(const void *ctx, uint32_t member, ps_t until_ps, uint32_t *ticket);
    struct communicator *
        *queued; // list of communicators with queues (collective/foresight.h); may be NULL
    // Called with the bytes that a rank of the network sends for a collective; NULL = not needed.
    void (*sent)(void *ctx, uint32_t rank, uint32_t label, uint64_t bytes);
    void *sent_ctx;
    /* state */
    struct walk **walks; // by token, in the newest table
    struct walk_table *walk_tables;
    size_t n_walks, cap_walks;
    uint32_t n_communicators;
    struct rank_streams *streams;  // of communicators whose schedule enables them
    struct executor *library;      // of communicators whose schedule names one
    struct rendezvous *rendezvous; // of all messages of the job; NULL = they leave when posted
    // Several threads handle messages of their ranks at the same time (comm_is_by_rank()).
    bool by_rank;
};

// True if the messages of the job's collectives concern only the rank that sends or receives them,
// so that threads may handle those of their ranks without the lock.
static inline bool comm_is_by_rank(const struct comm_job *job)
{
    return job->by_rank && !job->rendezvous && !job->library && !job->streams && !job->sent;
}

// Complete the records of phases that are running.
void comm_settle(const struct communicator *c);

void comm_job_free(struct comm_job *job); // after its communicators

// A request to run a collective. It must be the same for all members.
struct comm_request {
    enum coll_op op;
    uint64_t bytes; // the largest per-rank buffer (collective/algorithm/collective.h)
    // Bit set of the schedule's dimensions; the ranks that agree in all other dimensions form a
    // group.
    uint32_t dims;
    uint32_t root, inner; // as in coll_shape
    // all_to_all over all ranks at once; NULL = all vectors have `bytes`
    const struct coll_uneven *uneven;
    // Among the collectives that wait for a dimension, those of a larger priority go first. Equal
    // priorities: with 0 in the order of the schedule (newest_first), else in the order of issue.
    int32_t priority;
    uint32_t label;   // names the collective on critical paths; 0 = without a name
    const char *name; // for the record
};

// True if members may issue these requests as the same collective; names may differ.
bool comm_requests_equal(const struct comm_request *a, const struct comm_request *b);

// Callback: `member` has ended its part of the collective that it issued with `ticket`. `ctx` as in
// comm_new().
typedef void comm_done(void *ctx, uint32_t member, uint32_t ticket, ps_t now);

// Make a communicator. `ranks`: the network's rank of each member, as many as the product of the
// schedule's sizes; NULL = member i is rank i. `ranks` and `job` must outlive it.
struct communicator *comm_new(struct comm_job *job, const uint32_t *ranks,
                              const struct coll_schedule *schedule, comm_done *done, void *ctx);
void comm_free(struct communicator *c);

// Record phases of ranks, and use of dimensions, from now on; either argument may be NULL.
void comm_watch(struct communicator *c, struct timeline *timeline, struct dim_use *use);

// Add phases that have begun and not ended to the use of the dimensions.
void comm_use_flush(struct communicator *c, ps_t now);

// Member `member` issues its next collective. The request is copied, except for the sizes of uneven
// vectors, which must outlive the recorder.
// Returns false if no member has anything to do; `done` is then not called. `done` may be called
// before this function returns. A request that differs from the first member's ends the run.
bool comm_issue(struct communicator *c, uint32_t member, const struct comm_request *request,
                uint32_t ticket, ps_t now);

// The same for the communicator's collective `number`, counted from 0: members may issue
// collectives in different orders, each once. A communicator's collectives are either all numbered
// or none is.
bool comm_issue_numbered(struct communicator *c, uint32_t number, uint32_t member,
                         const struct comm_request *request, uint32_t ticket, ps_t now);

// The collective that calls `done`: its operation; and, for work that the callee defers
// (engine_defer), the time and the member of its last issue so far.
enum coll_op comm_ending_op(const struct communicator *c);
struct comm_ending {
    uint32_t last_member;
    ps_t last_issue_ps;
};
const struct comm_ending *comm_ending(const struct communicator *c);

// True if switches, not the ranks, reduce in this operation.
bool comm_offloaded(const struct communicator *c, enum coll_op op);

// A message of one of this job's communicators has arrived, and its last ACK; `token` as posted.
void comm_delivered(struct comm_job *job, uint64_t token, uint64_t bytes, ps_t now);
// The message has left its sender (struct transfer_client).
void comm_entered(struct comm_job *job, uint64_t token, ps_t now);
void comm_sent(struct comm_job *job, uint64_t token, ps_t now);

// Bytes that all members will send for one such collective; to be called before the run.
uint64_t comm_bytes(struct communicator *c, const struct comm_request *request);
