// SPDX-License-Identifier: MIT
// The state of libraries: groups, runs, blocks, connections and proxies.
#pragma once

#include "comm/library/library.h"
#include "engine/critical_path.h"
#include "engine/slots.h"
#include "engine/timer.h"

struct block;

// A connection of one block to another one.
struct connection {
    /* config */
    struct library_run *run;
    struct block *sender, *receiver; // NULL = not begun
    uint32_t src, dst;               // members
    uint32_t src_node, dst_node;     // of the network: those that have the NICs
    bool staged;     // a message goes first over NVLink to src_node, whose proxy sends it (PXN)
    uint32_t number; // in the library's table, for tokens
    uint32_t channel;
    bool remote;       // between servers
    bool exchange;     // between a pair of ranks, beside the channels of algorithms
    uint32_t window;   // messages that fit into the buffer
    uint64_t messages; // in all
    /* state of the sender */
    // Messages: written by the block, at the NIC's rank, given to its proxy, posted, sent.
    uint32_t ready, there, queued, posted, ended;
    uint32_t granted;
    uint32_t sent_early;         // bit i: message ended + i has been sent
    uint64_t bytes[NCCL_STEPS];  // [message % NCCL_STEPS] of user data
    ps_t written_ps[NCCL_STEPS]; // when it was at the rank of the NIC
    uint32_t step[NCCL_STEPS];   // of the algorithm
    ps_t seen_ps[NCCL_STEPS];    // [message % NCCL_STEPS] when the receiver sees it
    uint32_t parts_left[NCCL_STEPS], parts_unsent[NCCL_STEPS]; // of a message that is cut
    /* state of the receiver */
    // Messages: come in order, seen by the block, used by it, granted by the proxy.
    uint32_t handed, arrived, consumed, cleared;
    uint32_t early; // bit i: message handed + i has come
    uint32_t open;  // messages and grants that have been posted and not ended
};

struct block {
    struct nccl_block plan;
    struct library_run *run;
    struct block *before;   // of plan.after
    struct block *follower; // whose `before` this is
    struct connection **from, **to;
    uint64_t at;                 // the primitive that runs or waits
    uint64_t bytes, chunk_bytes; // of an exchange, and of its messages
    struct sim_timer timer;
    uint32_t path;
    ps_t began_ps;
    bool begun, busy, armed, ended; // armed: the timer runs, to end the primitive or to look again
};

struct member {
    struct library_run *run;
    struct sim_timer timer; // the launch
    uint32_t path, tag;
    uint32_t blocks_left; // that have not ended
    uint32_t first_block, n_blocks;
    bool ended;
};

struct library_run {
    struct library_group *group;
    void *ctx;
    struct library_request request;
    struct nccl_operation operation; // unless exchanges
    enum nccl_protocol protocol;
    struct member *members;
    struct block *blocks;
    size_t n_blocks;
    struct connection **peers;   // pool of the blocks' `from` and `to`
    struct exchanges *exchanges; // NULL = of an operation
    uint32_t members_left;
    uint32_t open; // connections with open messages
    struct library_run *next;
};

struct library_group {
    struct library *library;
    const struct library_spec *spec;
    struct nccl_communicator comm;
    uint32_t *ranks; // [member] of the network
    uint32_t n, index;
    struct library_run *runs;
    struct library_group *next;
};

// What a proxy does for a connection.
enum proxy_task { PROXY_SEND, PROXY_CLEAR, PROXY_RECEIVE };
struct proxy_item {
    ps_t due_ps;
    struct connection *connection;
    uint32_t path;
    uint8_t task;
};

// The thread of a rank that serves the network.
struct proxy {
    struct library *library;
    struct proxy_item *items; // a ring
    uint32_t first, n, cap;
    ps_t free_ps;
    uint64_t n_sent;
    uint32_t node;
    struct sim_timer timer;
};

struct library {
    struct library_env env;
    struct connection **connections; // by number
    struct slots numbers;
    struct proxy **proxies; // [rank of the network]
    uint32_t n_proxies;
    struct library_group *groups;
    bool clears; // receivers clear messages to send; not where messages have a closed form
};

static inline const struct library_env *run_env(const struct library_run *run)
{
    return &run->group->library->env;
}
static inline const struct library_spec *run_spec(const struct library_run *run)
{
    return run->group->spec;
}
static inline uint32_t run_node(const struct library_run *run, uint32_t member)
{
    return run->group->ranks[member];
}

/* run.c */
void run_block_ended(struct block *b, ps_t now);
void run_member_ended(struct library_run *run, uint32_t member, ps_t now);
void run_release(struct library_run *run); // if it has ended, with all its messages

/* block.c */

// Begin to run a block, in an event of its rank.
void block_begin(struct block *b, ps_t now);
void block_free(struct block *b);
// Something that the block may wait for has happened, in an event of its rank, or of another one:
// then it goes on in an event of its own.
void block_go_on(struct block *b, ps_t now);
void block_wake(struct block *b, ps_t at);
struct nccl_primitive block_primitive(const struct block *b, uint64_t i);

/* connection.c */
struct connection *connection_new(struct library_run *run, uint32_t channel, uint32_t src,
                                  uint32_t dst, uint32_t slots, uint64_t messages);
// A message that has come is seen by the receiver's block at `seen_ps`.
void connection_arrive(struct connection *c, ps_t seen_ps);
void connection_free(struct connection *c);
// The block has written its next message.
void connection_send(struct connection *c, uint64_t bytes, uint32_t step, ps_t now);
// The receiver begins; it has used a message.
void connection_open(struct connection *c, ps_t now);
void connection_consume(struct connection *c, ps_t now);
static inline bool connection_has_room(const struct connection *c)
{
    uint32_t freed = c->remote ? c->ended : c->consumed;
    return c->ready - freed < c->window;
}
// Returns when the receiver sees its next message; PS_NEVER = it has not come.
static inline ps_t connection_seen_ps(const struct connection *c)
{
    return c->arrived == c->consumed ? PS_NEVER : c->seen_ps[c->consumed % NCCL_STEPS];
}
void connection_post(struct connection *c, ps_t now);  // in an event of src_node
void connection_clear(struct connection *c, ps_t now); // in an event of dst_node

/* proxy.c */
void proxy_add(struct library *l, uint32_t node, enum proxy_task task, struct connection *c,
               ps_t latency_ps, ps_t busy_ps, ps_t now);
void proxies_free(struct library *l);

/* exchange.c */
void exchanges_new(struct library_run *run);
void exchanges_begin(struct library_run *run, uint32_t member, ps_t now);
// Frees the block. Returns true if it was the member's last.
bool exchange_block_ended(struct block *b, ps_t now);
void exchanges_free(struct library_run *run);
uint64_t exchanges_bytes(const struct library_group *g, const struct library_request *request);
