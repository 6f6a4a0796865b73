// SPDX-License-Identifier: MIT
// How a collective is spread over dimensions and chunks: the settings of the system layer.
#pragma once

#include <stdalign.h>

#include "collective/phase.h"

enum coll_phases { COLL_BASELINE, COLL_BANDWIDTH_AWARE };
enum coll_order_of_dims { COLL_ASCENDING, COLL_ROUND_ROBIN, COLL_THEMIS };
// Of phases that wait for a dimension, by priority first (FIFO, LIFO): in the order they came, or
// the latest first. SMALLEST: reduce-scatters and all-gathers by size, the latest first of equals.
enum coll_queueing { COLL_QUEUE_FIFO, COLL_QUEUE_LIFO, COLL_QUEUE_SMALLEST };

// The algorithm of an operation along a dimension, with its settings.
struct coll_choice {
    const struct coll_algorithm *algorithm;
    alignas(uint64_t) unsigned char params[COLL_PARAMS_BYTES];
};

#define COLL_ALGORITHMS_MAX 16 // of the registry

// An algorithm (or NULL) with the defaults of its settings.
struct coll_choice coll_choice_of(const struct coll_algorithm *algorithm);

// Set one of its settings, to a value in scenario syntax that is in range. False where the algorithm has
// no setting of this name.
bool coll_choice_set(struct coll_choice *choice, const char *key, const char *text);

struct coll_schedule {
    uint32_t n_dims;
    uint32_t dim_size[COLL_MAX_DIMS];    // innermost first; their product is the ranks
    double dim_bandwidth[COLL_MAX_DIMS]; // of a rank, in any one unit: Themis
    struct coll_choice choice[COLL_OPS][COLL_MAX_DIMS + 1]; // [op][dim]; [n_dims] = all at once
    bool flat[COLL_OPS];                                    // [op]: over all ranks at once
    uint64_t chunks, active_chunks; // a collective is cut into; that run at once in a
                                    // dimension, 0 = all
    int phases, order, queueing;    // enums above
    bool newest_first;              // of two collectives the later has priority
    ps_t endpoint_ps;               // of a rank before each message, and after its last
    uint64_t reduce_bps;            // at which a rank adds what it receives, 0 = at once
};
