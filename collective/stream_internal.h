// SPDX-License-Identifier: MIT
// The state of a rank's streams (collective/rank_streams.h).
#pragma once

#include "collective/algorithm/phase.h"
#include "collective/comm_internal.h"
#include "collective/rank_streams.h"
#include "engine/base/slots.h"
#include "engine/timer.h"

struct stream;
struct coll_graph;
struct coll_graph_node;
struct graph_key;
struct graph_walk;

#define STREAM_NO_NODE UINT32_MAX

struct stream_phase {
    uint8_t dim, op;
    bool anticlockwise;
    uint32_t queue; // of the rank
    uint32_t tree;  // of a double binary tree: which of the two
    uint64_t bytes; // at the beginning
    const struct coll_choice *choice;
    const struct coll_graph *graph; // in place of an algorithm's steps (stream_graph.c), or NULL
};

enum stream_event { STREAM_BEGIN, STREAM_DELAYED, STREAM_RECEIVED, STREAM_NODE_ENDED };

// An event of a stream that will come.
struct stream_wait {
    struct sim_timer timer;
    struct stream *stream;
    struct stream_wait *next_free;
    enum stream_event event;
    uint32_t node; // of a graph, that ends
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
    struct graph_walk *walk; // progress in a graph
    struct stream *next;     // of its set, while that is issued
};

struct letter { // messages of a stream from one member with one size
    uint32_t src, arrived, expected;
    uint64_t bytes;
};

struct inbox { // messages of a member's stream, which may not have begun
    struct stream *stream;
    struct letter *letters;
    struct graph_key *keys; // of a graph, in place of letters
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
    uint32_t src, dst;              // members
    const struct coll_graph *graph; // whose send `node` it is, for the receiver's `key`; or NULL
    uint32_t node, key;
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
void stream_wait_node(struct stream *s, uint32_t node, ps_t delay_ps); // STREAM_NODE_ENDED
// Post the message of a send of the graph, the member's `node`.
void stream_post(struct stream *s, uint32_t node, const struct coll_graph_node *send, ps_t now);
// A receive from a member is posted: tell it, if messages wait for that.
void stream_ready(const struct stream *s, uint32_t src, uint32_t tag, ps_t now);
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

/* stream_graph.c */

// Begin, and go on when a node has ended. True: the rank's part of the graph has ended.
bool stream_graph_begin(struct stream *s, ps_t now);
bool stream_graph_ended(struct stream *s, uint32_t node, ps_t now);
// A message with the receiver's key has arrived. Returns the receive that ends, or STREAM_NO_NODE.
uint32_t stream_graph_arrived(struct inbox *box, const struct coll_graph *g, uint32_t member,
                              uint32_t number);

/* stream_inbox.c */
struct inboxes *inboxes_of(struct communicator *c, uint32_t member);
struct inbox *inbox_of(struct communicator *c, uint32_t member, uint64_t number);
// Count a message. Return true if it has both arrived and been expected.
bool inbox_arrive(struct inbox *box, uint32_t src, uint64_t bytes);
bool inbox_expect(struct inbox *box, uint32_t src, uint64_t bytes);
void inbox_end(struct communicator *c, uint32_t member, uint64_t number);
