// SPDX-License-Identifier: MIT
// Collective algorithms as pure stepped programs: the DAG of sends is described, never stored.
//
// Every rank runs steps 0..steps-1. When it enters a step it issues that step's sends; it leaves
// the step when that step's receives have arrived. A send names the receiver's step, so a message
// may arrive before the receiver has reached that step. Data is a vector of `bytes` per rank cut
// into `ranks` segments; segment i covers [i*bytes/ranks, (i+1)*bytes/ranks), so `bytes` need not
// be divisible.
//
// Effect of each operation on the vectors (in a rooted operation only the root has input or
// output):
//   all_reduce      all end with the sum          broadcast  all end with the root's
//   reduce_scatter  rank i: segment i of the sum  reduce     the root ends with the sum
//   all_gather      segment i of rank i to all    gather     segment i of rank i to the root
//   all_to_all      segment i to rank i           scatter    segment i of the root to rank i
//   send_recv       the vector to the next rank   barrier    no rank leaves before all have entered
// A rank keeps what it has received in its vector, so that it can forward it; only all_to_all and
// send_recv write to a separate buffer (equal blocks in the order of ranks; one vector).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/param.h"

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
#define COLL_PARAMS_BYTES 32 // limit of an algorithm's settings

// `bytes` is the largest per-rank buffer (NCCL tests): the vector of an all-reduce, a broadcast, a
// reduce or a send_recv; the input of a reduce-scatter or of a scatter's root; the output of an
// all-gather or of a gather's root; the send buffer of an all-to-all. A barrier ignores it.
struct coll_shape {
    enum coll_op op;
    uint32_t ranks;
    uint64_t bytes;
    uint32_t root; // of a rooted operation
    // ranks of the network's innermost dimension; 0 or 1 = there is only one dimension
    uint32_t inner;
    const void *params; // the struct described by the algorithm's table; NULL = its defaults
    // all_to_all: vectors of different sizes; NULL = all have `bytes`
    const struct coll_uneven *uneven;
    // the aggregators of the group, for an algorithm that has members beside the ranks; NULL = none
    const struct coll_reduction *reduction;
    uint32_t chunk, chunks; // it is chunk `chunk` of `chunks` of a collective (0 = not cut)
};

struct coll_reduction; // collective/algorithm/reduction.h

// An all-to-all in which every rank has a vector of its own size, [rank] bytes: either what the
// rank sends in total, or (of_receiver) what it receives in total, as gradients are returned.
struct coll_uneven {
    const uint64_t *bytes;
    bool of_receiver;
};

// One message: a range of the vector, or some complete segments that each keep their position.
struct coll_send {
    uint32_t peer;                   // receiving rank
    uint32_t peer_step;              // step of the receiver that waits for this message
    uint32_t blocks;                 // number of segments; 0 = one range
    uint64_t src_offset, dst_offset; // start of the range at the sender and at the receiver
    uint64_t bytes;                  // size of the message
    bool reduce;                     // true: the receiver adds, false: it stores
};

struct coll_block {
    uint32_t segment; // in an all-to-all also the receiving rank
    uint32_t origin;  // all-to-all: the rank that the segment comes from
};

#define COLL_SUM UINT64_MAX

struct coll_algorithm {
    const char *name, *doc, *source;
    const char *astra; // its name in system files of ASTRA-sim; NULL = none
    bool offloaded;    // switches reduce, not the ranks
    bool never_splits; // it moves whole vectors, so it has no reduce-scatter and no all-gather
    bool by_chunk;     // its messages depend on whether shape.chunk is odd
    /* settings: a struct of at most COLL_PARAMS_BYTES; keys of one name mean the same everywhere */
    const struct param *params;
    size_t n_params, params_bytes;
    // returns false with *why = the shapes that are supported
    bool (*supports)(const struct coll_shape *shape, const char **why);
    uint32_t (*steps)(const struct coll_shape *shape);
    uint32_t (*n_sends)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
    struct coll_send (*send)(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                             uint32_t k); // k < n_sends
    uint32_t (*n_recvs)(const struct coll_shape *shape, uint32_t rank, uint32_t step);
    // The b-th segment of a message, b < send.blocks; NULL if all messages are ranges.
    struct coll_block (*block)(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                               uint32_t k, uint32_t b);
    // Bytes that all members send, or COLL_SUM where their sum must be made. NULL = COLL_SUM.
    uint64_t (*total)(const struct coll_shape *shape);
    /* members beside the ranks, as aggregators in switches: `rank` above is then any member */
    // Number of members, ranks included. NULL = the ranks only.
    uint32_t (*members)(const struct coll_shape *shape);
    uint32_t (*member_steps)(const struct coll_shape *shape, uint32_t member); // NULL = steps()
    // Name of the algorithm that runs where the network has none of these members; NULL = needless.
    const char *fallback;
};

extern const char *const coll_op_names[];                  // by enum coll_op, NULL-terminated
const char *coll_op_name(enum coll_op op);                 // "all_reduce"
int coll_op_find(const char *name, enum coll_op *op);      // 0, or -1
bool coll_op_rooted(enum coll_op op);                      // true if the operation has a root
const struct coll_algorithm *coll_find(const char *name);  // or NULL
extern const struct coll_algorithm *const coll_registry[]; // NULL-terminated

// First byte of segment i of `shape` (i <= ranks).
uint64_t coll_segment(const struct coll_shape *shape, uint32_t i);

// Check the requirements of all algorithms: 1 to COLL_MAX_RANKS ranks, and a root among them.
// False: *why names the violated requirement.
bool coll_shape_valid(const struct coll_shape *shape, const char **why);

// Sum of the sizes of a message's segments, for an algorithm's send().
uint64_t coll_blocks_bytes(const struct coll_algorithm *a, const struct coll_shape *s,
                           uint32_t rank, uint32_t step, uint32_t k, uint32_t blocks);

// The message of an all-to-all between two ranks, for an algorithm's send(). Offsets are 0 for
// uneven vectors.
struct coll_send coll_exchange(const struct coll_shape *shape, uint32_t rank, uint32_t peer,
                               uint32_t step);

// NCCL's bus bandwidth factor: busbw = algbw * factor; 2(p-1)/p for all-reduce; 1 for broadcast,
// reduce and send_recv; 0 for a barrier; (p-1)/p else.
double coll_bus_factor(enum coll_op op, uint32_t ranks);

// Number of members of an operation of this shape (its ranks, and the aggregators where switches
// reduce), and number of steps of member `member`.
uint32_t coll_members(const struct coll_algorithm *a, const struct coll_shape *shape);
uint32_t coll_member_steps(const struct coll_algorithm *a, const struct coll_shape *shape,
                           uint32_t member);

// Total bytes that member r sends, summed over the steps of the algorithm.
uint64_t coll_bytes_sent(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t rank);

// The same for all members.
uint64_t coll_bytes_of_all(const struct coll_algorithm *a, const struct coll_shape *s);

// coll_algorithm.total of algorithms in which each rank sends every segment of the others, or its
// own to each of them, once.
uint64_t coll_total_by_segments(const struct coll_shape *shape);
