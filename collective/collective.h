// SPDX-License-Identifier: MIT
// Collective algorithms as pure stepped programs: the DAG of sends is described, never stored.
//
// Every rank runs steps 0..steps-1. On entering a step it issues that step's sends; it leaves the
// step when that step's receives have arrived. A send names the step of the peer that awaits it, so
// a message may arrive early. Data is a vector of `bytes` per rank cut into `ranks` segments;
// segment i covers [i*bytes/ranks, (i+1)*bytes/ranks), so nothing needs to divide.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum coll_op { COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_ALL_TO_ALL, COLL_OPS };

// `bytes` is the largest per-rank buffer (NCCL): the vector of an all-reduce, the input of a
// reduce-scatter, the output of an all-gather, the send buffer of an all-to-all.
struct coll_shape {
    enum coll_op op;
    uint32_t ranks;
    uint64_t bytes;
    bool bidirectional;        // ring: half of the vector each way
    uint32_t root;             // of a rooted operation
    uint32_t window;           // direct: messages of a rank at once, 0 = all
    uint32_t pieces;           // tree: the vector is sent in so many, one behind the other; 0 = 1
    uint32_t ranks_per_server; // shifted_halving_doubling: consecutive ranks that share a server
};

struct coll_send {
    uint32_t peer;                          // rank that receives
    uint32_t peer_step;                     // step of the peer that awaits it
    uint64_t src_offset, dst_offset, bytes; // of the vector at the sender and at the receiver
    bool reduce;                            // the receiver adds, else it stores
};

struct coll_algorithm {
    const char *name, *doc, *source;
    bool (*supports)(const struct coll_shape *shape, const char **why); // false: *why says what for
    uint32_t (*steps)(const struct coll_shape *shape);
    uint32_t (*n_sends)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
    struct coll_send (*send)(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                             uint32_t k); // k < n_sends
    uint32_t (*n_recvs)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
};

const char *coll_op_name(enum coll_op op);                 // "all_reduce"
int coll_op_find(const char *name, enum coll_op *op);      // 0, or -1
const struct coll_algorithm *coll_find(const char *name);  // or NULL
extern const struct coll_algorithm *const coll_registry[]; // NULL-terminated

// Segment bounds: first byte of segment i of `shape` (i <= ranks).
uint64_t coll_segment(const struct coll_shape *shape, uint32_t i);

// NCCL's bus bandwidth factor: busbw = algbw * factor; 2(p-1)/p for all-reduce, (p-1)/p else.
double coll_bus_factor(enum coll_op op, uint32_t ranks);

// The bytes that rank r sends in all, from the sum over the program.
uint64_t coll_bytes_sent(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t rank);
