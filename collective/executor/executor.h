// SPDX-License-Identifier: MIT
// Runs operations as a collective library of GPUs does (collective/nccl/nccl_operation.h): blocks
// of threads on every rank, connections between them, and proxy threads that serve the NICs.
//
// A connection carries messages of one rank to another on a channel, through a buffer of NCCL_STEPS
// steps at the receiver. Between servers a message is posted when the block has written it, and
// when the receiver has cleared it to send: with a write of 64 bytes, as soon as a step of its
// buffer is free. So a receiver grants up to NCCL_STEPS steps ahead. Inside a server a block writes
// into the receiver's buffer by itself and reads from a counter whether a step is free.
//
// A rank is a member of a group; the node of the network at which a message begins or ends is the
// rank that has the NIC, which may be another one of the server (PXN).
#pragma once

#include "collective/nccl/executor_spec.h"
#include "collective/nccl/nccl_operation.h"
#include "engine/engine.h"
#include "engine/noise.h"
#include "engine/tally.h"
#include "net/transfer.h"

struct executor;
struct executor_group;
struct executor_run;

// How Open MPI's processes run operations (mpi_run.c), in place of NCCL's blocks of threads.
struct executor_run_ops;
extern const struct executor_run_ops executor_mpi;

// The resources that a job lends its library, and the callbacks by which the library reports.
// `run_ctx` is that of executor_run_new().
struct executor_env {
    struct engine *engine;
    struct cores *cores;                // of the hosts, for MPI
    const struct executor_run_ops *mpi; // executor_mpi
    struct path_book *path_book;
    const struct transfer *transfer;
    uint32_t job, cls, transport; // of the messages
    uint64_t token;               // upper bits of all tokens
    struct tally *messages;       // posted
    struct tally *delays;         // armed timers that will post messages
    struct noise_delay noise;     // of a proxy before each message
    uint64_t seed;
    void *ctx;
    // A member, by the tag of executor_begin(), has ended its part of a run; an event of its rank.
    void (*ended)(void *ctx, void *run_ctx, uint32_t tag, ps_t now);
    // A message with data has been posted for a rank of the network, and has arrived.
    void (*posted)(void *ctx, void *run_ctx, uint32_t rank, uint64_t bytes, ps_t now);
    void (*arrived)(void *ctx, void *run_ctx, ps_t now);
    // A channel of a member has been busy from `since_ps` on.
    void (*used)(void *ctx, void *run_ctx, uint32_t tag, uint32_t channel, ps_t since_ps, ps_t now);
};

#define EXECUTOR_TOKEN_BITS 47 // of a message

struct executor *executor_new(const struct executor_env *env);
void executor_free(struct executor *l); // after its groups

// A group of `n` ranks of the network, number `index` of its job; `spec` must outlive it. Returns
// NULL with one sentence in `error` where the library would not run there.
struct executor_group *executor_group_new(struct executor *l, const struct executor_spec *spec,
                                          const uint32_t *ranks, uint32_t n, uint32_t index,
                                          char *error, size_t error_bytes);
void executor_group_free(struct executor_group *g); // with its runs

// What runs: an operation of NCCL, or exchanges between pairs of ranks.
enum executor_exchange {
    EXECUTOR_ALL_TO_ALL, // `bytes`: of a rank to all
    EXECUTOR_GATHER,     // `bytes`: of all ranks to the root
    EXECUTOR_SCATTER,
    EXECUTOR_SHIFT // `bytes`: of each rank to the next one
};
struct executor_request {
    bool barrier; // whatever the function
    bool exchanges;
    enum nccl_function function;     // unless exchanges
    enum executor_exchange exchange; // if so
    uint64_t bytes;
    uint32_t root, step; // step: number of the operation among those of the group
    const char *op, *name;
};

// Begin a run of the group; its members join it with executor_begin(). The run is freed when all
// members have ended and all its messages too. Returns NULL if no algorithm that the settings allow
// is possible for the operation.
struct executor_run *executor_run_new(struct executor_group *g,
                                      const struct executor_request *request, void *run_ctx);
void executor_begin(struct executor_run *run, uint32_t member, uint32_t tag, ps_t now);

// What runs an operation. Names outlive the run: they belong to the library or to the settings.
struct executor_choice {
    bool exchanges;                   // between pairs of ranks, by no algorithm
    bool xml;                         // the algorithm of a file
    bool mpi;                         // Open MPI
    bool limited;                     // its settings name algorithms or protocols (ALGO, PROTO)
    const char *algorithm, *protocol; // algorithm: NULL where there is none
    uint32_t channels, threads;       // that have data; of a channel, 0 = not known
    uint32_t blocks;                  // of a rank at most, of a file
    uint64_t chunk_bytes;             // of the first channel; of a file, of what a loop handles
};
struct executor_choice executor_choice(const struct executor_run *run);

// Bytes of all messages with data of such a run.
uint64_t executor_bytes(struct executor_group *g, const struct executor_request *request);

// A message has arrived, and its last ACK; `token` as posted.
// The least time from the post of a message to its delivery.
typedef ps_t executor_least(void *ctx, const struct transfer_request *request);
// True if an operation that all its members have begun cannot end within `span_ps`, since a message
// is still to be posted that takes as long.
bool executor_holds(struct executor *l, executor_least *least, void *ctx, ps_t span_ps);

void executor_delivered(struct executor *l, uint64_t token, ps_t now);
// It has left the process of its sender (struct transfer_client).
void executor_entered(struct executor *l, uint64_t token, ps_t now);
void executor_sent(struct executor *l, uint64_t token, ps_t now);
