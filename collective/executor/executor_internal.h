// SPDX-License-Identifier: MIT
// The state of libraries: groups, runs, blocks, connections and proxies.
#pragma once

#include "collective/executor/executor.h"
#include "collective/nccl/known.h"
#include "collective/nccl/xml/operation.h"
#include "engine/base/slots.h"
#include "engine/critical_path.h"
#include "engine/timer.h"

struct block;

// A connection of one block to another one.
struct connection {
    /* config */
    struct executor_run *run;
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
    uint32_t sent_early; // bit i: message ended + i has been sent
    bool flows;          // message `ready` is being written, and has been posted but for its end
    uint64_t bytes[NCCL_STEPS];  // [message % NCCL_STEPS] of user data
    ps_t written_ps[NCCL_STEPS]; // when it was at the rank of the NIC
    uint32_t step[NCCL_STEPS];   // of the algorithm
    ps_t seen_ps[NCCL_STEPS];    // [message % NCCL_STEPS] when the receiver sees it as a whole
    ps_t first_ps[NCCL_STEPS];   // [message % NCCL_STEPS] when the receiver sees its first lines
    uint32_t parts_left[NCCL_STEPS], parts_unsent[NCCL_STEPS]; // of a message that is cut
    /* state of the receiver */
    // Messages: come in order, seen by the block, used by it, granted by the proxy.
    uint32_t handed, arrived, consumed, cleared;
    uint32_t early; // bit i: message handed + i has come
    uint32_t first; // messages whose first lines have come, in order
    uint32_t first_early;
    ps_t line_ps[NCCL_STEPS];    // [message % NCCL_STEPS] when its first line can have come
    ps_t spread_ps[NCCL_STEPS];  // from its first line to its end at the receiver
    ps_t cleared_ps[NCCL_STEPS]; // [grant % NCCL_STEPS] when it was posted
    ps_t way_ps;                 // at the sender: of the fastest grant; 0 = none yet
    uint32_t grants;             // posted
    uint32_t open;               // messages and grants that have been posted and not ended
};

// A block that does not wait for a primitive to begin is in one.
enum block_phase {
    BLOCK_WAITS,  // for messages, room or another block
    BLOCK_OPENS,  // it writes the first lines of its messages
    BLOCK_COPIES, // it writes the others
    BLOCK_RESTS   // it waits for the rest of the messages that it forwards line by line
};

struct block {
    struct nccl_block plan;
    struct executor_run *run;
    struct connection **from, **to;
    // The first block of the rank that waits until this one has ended `awaited` primitives, and the
    // next one of the same list.
    struct block *waiting, *next_waiting;
    uint64_t awaited;
    uint64_t at;                 // the primitive that runs or waits
    uint64_t bytes, chunk_bytes; // of an exchange, and of its messages
    struct sim_timer timer;
    uint32_t path;
    ps_t began_ps;
    ps_t opened_ps, copied_ps; // of the primitive that runs: first lines written, all of them
    ps_t idle_ps;              // since then it waits for messages alone
    enum block_phase phase;
    bool begun, armed, ended; // armed: the timer runs, to end the phase or to look again
    bool waits;               // in the list of another block
};

struct member {
    struct executor_run *run;
    struct sim_timer timer; // the launch
    uint32_t path, tag;
    uint32_t blocks_left; // that have not ended
    uint32_t first_block, n_blocks;
    bool ended;
};

// Where the blocks of a run come from.
enum run_source {
    RUN_MPI,       // none: Open MPI's processes
    RUN_OPERATION, // NCCL's algorithms
    RUN_EXCHANGES, // pairs of ranks
    RUN_XML        // a file's algorithm
};

struct executor_run {
    struct executor_group *group;
    void *ctx;
    struct executor_request request;
    enum run_source source;
    struct nccl_operation operation; // of RUN_OPERATION
    struct xml_operation xml;        // of RUN_XML
    enum nccl_protocol protocol;
    struct member *members;
    struct block *blocks;
    size_t n_blocks;
    struct connection **peers;   // pool of the blocks' `from` and `to`
    struct exchanges *exchanges; // of RUN_EXCHANGES
    struct mpi_run *mpi;         // of RUN_MPI
    uint32_t members_left;
    uint32_t launched; // members whose kernel has begun
    uint32_t open;     // connections with open messages
    struct executor_run *next;
};

// The communicators of a library that were not made when the scenario was read.
struct wiring {
    const struct executor_spec *spec;
    struct nccl_known known;
    struct wiring *next;
};

struct executor_group {
    struct executor *library;
    const struct executor_spec *spec;
    const struct nccl_communicator *comm;
    uint32_t *ranks; // [member] of the network
    uint32_t n, index;
    struct executor_run *runs;
    struct executor_group *next;
};

// What a proxy does for a connection, in an event of its rank.
typedef void proxy_call(struct connection *c, ps_t now);
struct proxy_item {
    ps_t from_ps, busy_ps; // when the proxy can see it, and for how long it is busy with it
    uint64_t turn;         // among those of the same time
    struct connection *connection;
    uint32_t path;
    proxy_call *call;
};

// The thread of a rank that serves the network: one thing at a time, what it could see first.
struct proxy {
    struct executor *library;
    struct proxy_item *items; // a heap, the next one first
    uint32_t n, cap;
    ps_t free_ps;
    uint64_t n_sent, turn;
    uint32_t node;
    struct sim_timer timer; // the end of the next one
};

// State that all operations of Open MPI in a job have in common.
struct mpi_library {
    struct mpi_message *messages; // by slot
    struct slots numbers;
    struct mpi_process **processes; // [rank of the network]
    uint32_t n_processes;
    struct mpi_task *free_tasks, *all_tasks;
    uint32_t posting; // message that is being posted
    bool is_posting;
};
#define EXECUTOR_TOKEN_MPI (UINT64_C(1) << (EXECUTOR_TOKEN_BITS - 1))

struct executor {
    struct mpi_library mpi;
    struct executor_env env;
    struct connection **connections; // by number; NULL = free
    struct slots numbers;
    struct proxy **proxies; // [rank of the network]
    uint32_t n_proxies;
    struct wiring *wirings;
    uint32_t looked_at; // where executor_holds() last found a connection: looked at first
    bool clears;        // receivers clear messages to send; not where messages have a closed form
};

// The functions of a source of runs that are no blocks of threads.
struct executor_run_ops {
    void (*new)(struct executor_run *run);
    void (*free)(struct executor_run *run);
    void (*begin)(struct executor_run *run, uint32_t member, ps_t now);
    uint64_t (*bytes)(const struct executor_group *g, const struct executor_request *request);
    struct executor_choice (*choice)(const struct executor_run *run);
    void (*delivered)(struct executor *l, uint64_t token, ps_t now);
    void (*entered)(struct executor *l, uint64_t token, ps_t now);
    void (*sent)(struct executor *l, uint64_t token, ps_t now);
    void (*end)(struct executor *l);
};

static inline const struct executor_env *run_env(const struct executor_run *run)
{
    return &run->group->library->env;
}
static inline const struct executor_spec *run_spec(const struct executor_run *run)
{
    return run->group->spec;
}
static inline uint32_t run_node(const struct executor_run *run, uint32_t member)
{
    return run->group->ranks[member];
}
static inline bool run_is_by(const struct executor_run *run, enum nccl_algorithm algorithm)
{
    return run->source == RUN_OPERATION && run->operation.choice.algorithm == algorithm;
}

/* executor_run.c */
void run_block_ended(struct block *b, ps_t now);
void run_member_ended(struct executor_run *run, uint32_t member, ps_t now);
void run_release(struct executor_run *run); // if it has ended, with all its messages

/* block.c */

// Begin to run a block, in an event of its rank.
void block_begin(struct block *b, ps_t now);
void block_free(struct block *b);
// Something that the block may wait for has happened, in an event of its rank, or of another one:
// then it goes on in an event of its own.
void block_go_on(struct block *b, ps_t now);
void block_wake(struct block *b, ps_t at);

/* executor_connection.c */
struct connection *connection_new(struct executor_run *run, uint32_t channel, uint32_t src,
                                  uint32_t dst, uint32_t slots, uint64_t messages);
void connection_free(struct connection *c);
// Returns the bytes of user data that are visible to the receiver together: a line of LL or LL128.
uint64_t connection_line_bytes(const struct connection *c);
// Whether a message of `bytes` arrives while the block writes it.
bool connection_flows(const struct connection *c, uint64_t bytes);
// The block has written the first lines of such a message, and writes the others.
void connection_begin(struct connection *c, uint64_t bytes, uint32_t step, ps_t now);
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
// Returns when the receiver sees the first lines of its next message, and the whole message;
// PS_NEVER = they have not come.
static inline ps_t connection_first_ps(const struct connection *c)
{
    return c->first == c->consumed ? PS_NEVER : c->first_ps[c->consumed % NCCL_STEPS];
}
// Returns when the first lines of the next message, which has come, could be read.
static inline ps_t connection_began_ps(const struct connection *c)
{
    uint32_t slot = c->consumed % NCCL_STEPS;
    return c->remote ? c->seen_ps[slot] - c->spread_ps[slot] : c->first_ps[slot];
}
static inline ps_t connection_seen_ps(const struct connection *c)
{
    return c->arrived == c->consumed ? PS_NEVER : c->seen_ps[c->consumed % NCCL_STEPS];
}

/* proxy.c */

// Let the proxy of a rank call `call` for a connection: it sees this after the latency, and is busy
// with it.
void proxy_add(struct executor *l, uint32_t node, proxy_call *call, struct connection *c,
               ps_t latency_ps, ps_t busy_ps, ps_t now);
// The delay that noise of the host adds before the rank's next message.
ps_t proxy_noise_ps(struct executor *l, uint32_t node);
void proxies_free(struct executor *l);

/* exchange.c */
void exchanges_new(struct executor_run *run);
void exchanges_begin(struct executor_run *run, uint32_t member, ps_t now);
// Frees the block. Returns true if it was the member's last.
bool exchange_block_ended(struct block *b, ps_t now);
void exchanges_free(struct executor_run *run);
uint32_t exchanges_channels(const struct executor_run *run);
uint64_t exchanges_bytes(const struct executor_group *g, const struct executor_request *request);
