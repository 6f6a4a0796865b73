// SPDX-License-Identifier: MIT
// Collective algorithms as pure stepped programs: the DAG of sends is described, never stored.
//
// Every rank runs steps 0..steps-1. On entering a step it issues that step's sends; it leaves the
// step when that step's receives have arrived. A send names the step of the peer that awaits it, so
// a message may arrive early. Data is a vector of `bytes` per rank cut into `ranks` segments;
// segment i covers [i*bytes/ranks, (i+1)*bytes/ranks), so nothing needs to divide.
//
// What each operation does with the vectors (those of a root: it alone begins or ends with them):
//   all_reduce      all end with the sum          broadcast  all end with the root's
//   reduce_scatter  rank i: segment i of the sum  reduce     the root ends with the sum
//   all_gather      segment i of rank i to all    gather     segment i of rank i to the root
//   all_to_all      segment i to rank i           scatter    segment i of the root to rank i
//   send_recv       the vector to the next rank   barrier    none leaves before all have come
// What a rank has received stays in its vector, so that it can be passed on; only all_to_all and
// send_recv write to a buffer of their own (equal blocks in the order of ranks; one vector).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/param.h"

enum coll_op {
    COLL_ALL_REDUCE,
    COLL_REDUCE_SCATTER,
    COLL_ALL_GATHER,
    COLL_ALL_TO_ALL,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_SEND_RECV,
    COLL_BARRIER,
    COLL_OPS
};

#define COLL_MAX_RANKS (1u << 18)
#define COLL_PARAMS_BYTES 32 // settings of an algorithm

// `bytes` is the largest per-rank buffer (NCCL tests): the vector of an all-reduce, a broadcast, a
// reduce or a send_recv; the input of a reduce-scatter or of a scatter's root; the output of an
// all-gather or of a gather's root; the send buffer of an all-to-all. A barrier ignores it.
struct coll_shape {
    enum coll_op op;
    uint32_t ranks;
    uint64_t bytes;
    uint32_t root;      // of a rooted operation
    uint32_t inner;     // ranks of the network's innermost dimension, 0 or 1 = it has but one
    const void *params; // the struct that the algorithm's table describes; NULL = its defaults
    const struct coll_uneven *uneven; // all_to_all: vectors that differ; NULL = all have `bytes`
    uint32_t chunk, chunks;           // of the uneven vectors: part `chunk` of `chunks` (0 = whole)
};

// An exchange in which ranks have vectors of their own, [rank] bytes: what a rank sends to all, or
// what all send to a rank (its gradients come back so).
struct coll_uneven {
    const uint64_t *bytes;
    bool of_receiver;
};

// One message: a range of the vector, or some whole segments each of which keeps its place.
struct coll_send {
    uint32_t peer;                   // rank that receives
    uint32_t peer_step;              // step of the peer that awaits it
    uint32_t blocks;                 // segments that it carries; 0 = it is one range
    uint64_t src_offset, dst_offset; // of the range, at the sender and at the receiver
    uint64_t bytes;                  // of the message
    bool reduce;                     // the receiver adds, else it stores
};

struct coll_block {
    uint32_t segment; // of an all-to-all: also the rank it is for
    uint32_t origin;  // all-to-all: the rank whose vector it is of
};

struct coll_algorithm {
    const char *name, *doc, *source;
    const char *astra; // its word in system files of ASTRA-sim; NULL = none
    /* settings: a struct of at most COLL_PARAMS_BYTES; keys of one name mean the same everywhere */
    const struct param *params;
    size_t n_params, params_bytes;
    bool (*supports)(const struct coll_shape *shape, const char **why); // false: *why says what for
    uint32_t (*steps)(const struct coll_shape *shape);
    uint32_t (*n_sends)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
    struct coll_send (*send)(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                             uint32_t k); // k < n_sends
    uint32_t (*n_recvs)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
    // The b-th segment of a message, b < send.blocks; NULL where all messages are ranges.
    struct coll_block (*block)(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                               uint32_t k, uint32_t b);
};

const char *coll_op_name(enum coll_op op);                 // "all_reduce"
int coll_op_find(const char *name, enum coll_op *op);      // 0, or -1
bool coll_op_rooted(enum coll_op op);                      // it has a root
const struct coll_algorithm *coll_find(const char *name);  // or NULL
extern const struct coll_algorithm *const coll_registry[]; // NULL-terminated

// Segment bounds: first byte of segment i of `shape` (i <= ranks).
uint64_t coll_segment(const struct coll_shape *shape, uint32_t i);

// What every algorithm requires of a shape: 1 to COLL_MAX_RANKS ranks, the root among them. False: *why
// says what is missing.
bool coll_shape_valid(const struct coll_shape *shape, const char **why);

// Sum of the blocks of a message, for an algorithm's send().
uint64_t coll_blocks_bytes(const struct coll_algorithm *a, const struct coll_shape *s,
                           uint32_t rank, uint32_t step, uint32_t k, uint32_t blocks);

// The message of an all-to-all between two ranks, for an algorithm's send(). Offsets of uneven vectors
// are left at 0.
struct coll_send coll_exchange(const struct coll_shape *shape, uint32_t rank, uint32_t peer,
                               uint32_t step);

// NCCL's bus bandwidth factor: busbw = algbw * factor; 2(p-1)/p for all-reduce; 1 for broadcast,
// reduce and send_recv; 0 for a barrier; (p-1)/p else.
double coll_bus_factor(enum coll_op op, uint32_t ranks);

// The bytes that rank r sends in all, from the sum over the program.
uint64_t coll_bytes_sent(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t rank);
