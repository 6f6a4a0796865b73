// SPDX-License-Identifier: MIT
// The contexts of queue pairs in the memory of a NIC. A missing context takes a free place, or else
// the place of a random one. Each end of a flow has a context.
//
// Real caches are set-associative with undisclosed rules; random replacement has their gradual
// decline, and a closed form: where n contexts are used in turn and c fit, the share of hits h
// solves h = (1 - 1/c)^((n-1)(1-h)), since between two uses of a context the misses of the others
// may have evicted it.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/rng.h"

struct qp_cache {
    uint32_t *held; // [place] the context there
    size_t room;
    uint32_t n, limit; // places in use; all places
    struct rng rng;
};

// The places of all contexts, in whichever cache they are.
struct qp_places {
    uint32_t *at; // [context]
    size_t n;
};

// Number of the context of an end of a flow.
static inline uint32_t qp_context(uint32_t flow, bool receives) { return 2 * flow + receives; }

// Look up a context, and load it. Returns true if it was there.
bool qp_cache_use(struct qp_cache *c, struct qp_places *places, uint32_t context);

void qp_cache_free(struct qp_cache *c);
