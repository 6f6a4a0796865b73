// SPDX-License-Identifier: MIT
// The state of a rank's streams (comm/rank_streams.h).
#pragma once

#include "collective/phase.h"
#include "comm/comm_internal.h"
#include "comm/rank_streams.h"
#include "engine/slots.h"
#include "engine/timer.h"

struct stream;

struct stream_phase {
    uint8_t dim, op;
    bool anticlockwise;
    uint32_t queue; // of the rank
    uint32_t tree;  // of a double binary tree: which of the two
    uint64_t bytes; // at the beginning
    const struct coll_choice *choice;
};

enum stream_event { STREAM_BEGIN, STREAM_DELAYED, STREAM_RECEIVED };

// An event of a stream that will come.
struct stream_wait {
    struct sim_timer timer;
    struct stream *stream;
    struct stream_wait *next_free;
    enum stream_event event;
    uint32_t path;
};

// Progress in a phase.
struct stepper {
    uint32_t n, index;     // members of the group; this rank's position
    uint32_t total;        // messages to send
    uint32_t window;       // messages that are prepared at a time
    uint32_t plain, added; // a cycle: messages that are prepared without adding, then with adding
    uint32_t prepared, sent, received, free;
    uint64_t bytes;    // of the next message that is prepared
    uint32_t distance; // halving, doubling: to its receiver
    bool growing;
    unsigned state; // of a tree
};

struct stream_set { // a rank's part of a collective
    struct communicator *comm;
    struct instance *instance;
    uint32_t member, streams_left;
};

struct stream { // a chunk of it
    struct stream_set *set;
    uint64_t number; // among the member's streams of this communicator
    uint32_t n_phases, at;
    struct stream_phase phases[COLL_MAX_PHASES];
    int64_t priority;
    ps_t ready_ps; // time when it entered its queue
    struct stepper step;
    struct stream *next; // of its set, while that is issued
};

struct letter { // messages of a stream from one member with one size
    uint32_t src, arrived, expected;
    uint64_t bytes;
};

struct inbox { // messages of a member's stream, which may not have begun
    struct stream *stream;
    struct letter *letters;
    uint32_t n, cap;
    bool ended;
};

struct inboxes {         // of a member of a communicator
    struct inbox *items; // [number - first]
    uint64_t first;
    size_t n, cap;
    size_t n_ended;     // at the front of `items`
    uint64_t n_streams; // that the member has begun
};

struct stream_waiting {
    int64_t priority;
    uint64_t turn; // lowest first among streams of one priority
    struct stream *stream;
};

struct stream_queue {
    struct stream_waiting *waiting; // a heap
    size_t n, cap;
    uint64_t turn; // turn of the next stream that is added
    uint32_t running;
};

struct rank_state {
    struct stream_queue *queues; // [dim * queues + i]
    struct {
        uint32_t any, first, last; // the queue that is given next
    } turn[COLL_MAX_DIMS + 1];
    uint32_t trees[COLL_OPS][COLL_MAX_DIMS + 1];
};

struct stream_message { // in flight
    struct communicator *comm;
    uint64_t number, bytes;
    uint32_t src, dst; // members
    struct instance *instance;
    struct phase_record *record;
};

struct rank_streams {
    struct comm_job *job;
    stream_rank_done *rank_done;
    struct rank_state *ranks; // [rank of the network]
    uint32_t n_ranks;
    uint32_t queues;
    struct stream_message *messages;
    struct slots numbers; // of messages
    struct stream_wait *free_waits, **blocks;
    size_t n_blocks;
};

static inline uint32_t stream_rank(const struct stream *s)
{
    return comm_rank(s->set->comm, s->set->member);
}

static inline const struct stream_phase *stream_phase(const struct stream *s)
{
    return &s->phases[s->at];
}

/* rank_streams.c */

// Call the stream's algorithm with the event after `delay_ps`.
void stream_wait(struct stream *s, enum stream_event event, ps_t delay_ps);
void stream_send(struct stream *s, uint32_t peer, uint64_t bytes, ps_t now);
// Expect a message, which may have arrived already: STREAM_RECEIVED follows.
void stream_receive(struct stream *s, uint32_t peer, uint64_t bytes);
// The rank's delay before a message: its own, and the time to add `bytes` if it `adds`.
ps_t stream_delay_ps(const struct stream *s, uint64_t bytes, bool adds);

/* stream_queue.c */

void stream_queue_add(struct stream_queue *q, struct stream *s);
// Remove the stream that is to start next; NULL = none waits.
struct stream *stream_queue_take(struct stream_queue *q);

/* stream_plan.c */

// The bytes of a chunk, and their number in *n.
uint64_t stream_chunks(const struct communicator *c, const struct comm_request *request,
                       uint32_t *n);
// Set the phases of the rank's next chunk; there may be none.
void stream_plan(struct stream *s, struct rank_streams *streams, const struct comm_request *request,
                 uint64_t bytes);

/* stream_steps.c: ring, direct, halving and doubling; stream_tree.c */

// Begin a phase. Events lead to the step functions, which return true when the phase has ended.
void stream_steps_begin(struct stream *s);
bool stream_steps_run(struct stream *s, enum stream_event event, ps_t now);
bool stream_tree_run(struct stream *s, enum stream_event event, ps_t now);

/* stream_inbox.c */
struct inboxes *inboxes_of(struct communicator *c, uint32_t member);
struct inbox *inbox_of(struct communicator *c, uint32_t member, uint64_t number);
// Count a message. Return true if it has both arrived and been expected.
bool inbox_arrive(struct inbox *box, uint32_t src, uint64_t bytes);
bool inbox_expect(struct inbox *box, uint32_t src, uint64_t bytes);
void inbox_end(struct communicator *c, uint32_t member, uint64_t number);
