// SPDX-License-Identifier: MIT
// Runs operations as a collective library of GPUs does (collective/nccl/operation.h): blocks of threads on
// every rank, connections between them, and proxy threads that serve the NICs.
//
// A connection carries messages of one rank to another on a channel, through a buffer of NCCL_STEPS
// steps at the receiver. Between servers a message is posted when the block has written it, and
// when the receiver has cleared it to send: with a write of 64 bytes, as soon as a step of its
// buffer is free. So a receiver grants up to NCCL_STEPS steps ahead. Inside a server a block writes
// into the receiver's buffer by itself and knows from a counter that a step is free.
//
// A rank is a member of a group; the node of the network at which a message begins or ends is the
// rank that has the NIC, which may be another one of the server (PXN).
#pragma once

#include "collective/nccl/library_spec.h"
#include "collective/nccl/operation.h"
#include "engine/engine.h"
#include "engine/noise.h"
#include "engine/tally.h"
#include "net/transfer.h"

struct library;
struct library_group;
struct library_run;

// How Open MPI's processes run operations (mpi_run.c), in place of NCCL's blocks of threads.
struct library_run_ops;
extern const struct library_run_ops library_mpi;

// What a job gives its library, and what it is told. `run_ctx` is that of library_run_new().
struct library_env {
    struct engine *engine;
    struct cores *cores;               // of the hosts, for MPI
    const struct library_run_ops *mpi; // library_mpi
    struct path_book *path_book;
    const struct transfer *transfer;
    uint32_t job, cls, transport; // of the messages
    uint64_t token;               // upper bits of all tokens
    struct tally *messages;       // posted
    struct tally *delays;         // armed timers that will post messages
    struct noise_delay noise;     // of a proxy before each message
    uint64_t seed;
    void *ctx;
    // A member, by the tag of library_begin(), has ended its part of a run; an event of its rank.
    void (*ended)(void *ctx, void *run_ctx, uint32_t tag, ps_t now);
    // A message with data has been posted for a rank of the network, and has arrived.
    void (*posted)(void *ctx, void *run_ctx, uint32_t rank, uint64_t bytes, ps_t now);
    void (*arrived)(void *ctx, void *run_ctx, ps_t now);
    // A channel of a member has been busy from `since_ps` on.
    void (*used)(void *ctx, void *run_ctx, uint32_t tag, uint32_t channel, ps_t since_ps, ps_t now);
};

#define LIBRARY_TOKEN_BITS 47 // of a message

struct library *library_new(const struct library_env *env);
void library_free(struct library *l); // after its groups

// A group of `n` ranks of the network, number `index` of its job; `spec` must outlive it. Returns
// NULL with one sentence in `error` where the library would not run there.
struct library_group *library_group_new(struct library *l, const struct library_spec *spec,
                                        const uint32_t *ranks, uint32_t n, uint32_t index,
                                        char *error, size_t error_bytes);
void library_group_free(struct library_group *g); // with its runs

// What runs: an operation of NCCL, or exchanges between pairs of ranks.
enum library_exchange {
    LIBRARY_ALL_TO_ALL, // `bytes`: of a rank to all
    LIBRARY_GATHER,     // `bytes`: of all ranks to the root
    LIBRARY_SCATTER,
    LIBRARY_SHIFT // `bytes`: of each rank to the next one
};
struct library_request {
    bool barrier; // whatever the function
    bool exchanges;
    enum nccl_function function;    // unless exchanges
    enum library_exchange exchange; // if so
    uint64_t bytes;
    uint32_t root, step; // step: number of the operation among those of the group
    const char *op, *name;
};

// Begin a run of the group; its members join it with library_begin(). The run is freed when all
// members have ended and all its messages too. Returns NULL if no algorithm that the settings allow
// is possible for the operation.
struct library_run *library_run_new(struct library_group *g, const struct library_request *request,
                                    void *run_ctx);
void library_begin(struct library_run *run, uint32_t member, uint32_t tag, ps_t now);

// What runs an operation. Names outlive the run: they belong to the library or to the settings.
struct library_choice {
    bool exchanges;                   // between pairs of ranks, by no algorithm
    bool xml;                         // the algorithm of a file
    bool mpi;                         // Open MPI
    bool limited;                     // its settings name algorithms or protocols (ALGO, PROTO)
    bool replaced;                    // which are not possible, so that it runs another one
    const char *algorithm, *protocol; // algorithm: NULL where there is none
    uint32_t channels, threads;       // that have data; of a channel, 0 = not known
    uint32_t blocks;                  // of a rank at most, of a file
    uint64_t chunk_bytes;             // of the first channel; of a file, of what a loop handles
};
struct library_choice library_choice(const struct library_run *run);

// Bytes of all messages with data of such a run.
uint64_t library_bytes(struct library_group *g, const struct library_request *request);

// A message has arrived, and its last ACK; `token` as posted.
// The least time from the post of a message to its delivery.
typedef ps_t library_least(void *ctx, const struct transfer_request *request);
// True if an operation that all its members have begun cannot end within `span_ps`, since a message
// is still to be posted that takes as long.
bool library_holds(struct library *l, library_least *least, void *ctx, ps_t span_ps);

void library_delivered(struct library *l, uint64_t token, ps_t now);
// It has left the process of its sender (struct transfer_client).
void library_entered(struct library *l, uint64_t token, ps_t now);
void library_sent(struct library *l, uint64_t token, ps_t now);
