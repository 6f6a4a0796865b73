// SPDX-License-Identifier: MIT
// Distribution of a collective over dimensions and chunks: the settings of the system layer.
#pragma once

#include <stdalign.h>

#include "collective/algorithm/phase.h"

enum coll_phases { COLL_BASELINE, COLL_BANDWIDTH_AWARE };
enum coll_order_of_dims { COLL_ASCENDING, COLL_ROUND_ROBIN, COLL_THEMIS };
// The order of phases that wait for a dimension, within one priority. FIFO, LIFO: by arrival,
// oldest or newest first. SMALLEST: reduce-scatters and all-gathers by size, the newest first among
// equals. ALTERNATING: a reduce-scatter after an all-gather and the reverse, as far as both wait.
// FEWEST: reduce-scatters and all-gathers by the phases that remain of their chunk, the oldest
// first among equals, so that chunks that are nearly done leave.
enum coll_queueing {
    COLL_QUEUE_FIFO,
    COLL_QUEUE_LIFO,
    COLL_QUEUE_SMALLEST,
    COLL_QUEUE_ALTERNATING,
    COLL_QUEUE_FEWEST
};

// The algorithm of an operation along a dimension, with its settings.
struct coll_choice {
    const struct coll_algorithm *algorithm;
    alignas(uint64_t) unsigned char params[COLL_PARAMS_BYTES];
};

#define COLL_ALGORITHMS_MAX 16 // limit of the registry

// An algorithm (or NULL) with the defaults of its settings.
struct coll_choice coll_choice_of(const struct coll_algorithm *algorithm);

// Set one setting of the algorithm to a value in scenario syntax within the range. Returns false if
// the algorithm has no setting of this name.
bool coll_choice_set(struct coll_choice *choice, const char *key, const char *text);

// Every rank queues and steps its parts of collectives for itself, as in ASTRA-sim 2
// (collective/rank_streams.h).
struct coll_streams {
    bool enabled;
    bool local;           // a group of fewer ranks than the system has
    uint32_t queues;      // of a rank for each dimension
    uint64_t least_chunk; // bytes of a chunk, unless of an all-gather
    double memory_bytes;  // per second, when a rank adds; 0 = infinitely fast
};

struct executor_spec; // collective/nccl/executor_spec.h

struct coll_schedule {
    struct coll_streams streams;
    // The library that runs the collectives, over all ranks at once, in place of the algorithms
    // below; NULL = none.
    const struct executor_spec *library;
    uint32_t n_dims;
    uint32_t dim_size[COLL_MAX_DIMS];    // innermost first; the product is the number of ranks
    double dim_bandwidth[COLL_MAX_DIMS]; // per rank, in any unit; for Themis
    // [op][dim]; [n_dims] = over all ranks at once
    struct coll_choice choice[COLL_OPS][COLL_MAX_DIMS + 1];
    bool flat[COLL_OPS]; // [op] true: one phase over all ranks at once
    // As in ASTRA-sim: all phases of a collective run the algorithms of its operation (else each
    // phase those of its own operation), and only in the dimensions that the operation has
    // algorithms for.
    bool by_operation;
    uint32_t op_dims[COLL_OPS];  // [op] bit set of these dimensions, where by_operation or streams
    uint64_t chunks;             // parts of a collective
    uint64_t active_chunks;      // phases that run at once in a dimension, 0 = no limit
    int phases, order, queueing; // enums above
    bool stepwise;               // ranks step through messages also where a phase has a closed form
    bool newest_first;           // newer collectives have priority
    // [first group of dim + group] the aggregators of each group, or NULL; the pointer NULL = none
    const struct coll_reduction *const *reductions;
    double wire_factor;  // bytes on the wire per byte of a vector; 0 = 1
    ps_t endpoint_ps;    // delay of a rank before each message and after its last one
    uint64_t reduce_bps; // rate at which a rank adds received data, 0 = infinitely fast
};

// The algorithm of a phase of a collective whose operation is `op`.
const struct coll_choice *coll_choice_at(const struct coll_schedule *s, enum coll_op op,
                                         const struct coll_phase *phase);
