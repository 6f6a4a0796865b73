// SPDX-License-Identifier: MIT
// What the first ranks of a job did when: computing, waiting, phases of chunks.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/units.h"

enum slice_kind { SLICE_COMPUTE, SLICE_WAIT, SLICE_PHASE };

struct timeline_slice {
    ps_t begin_ps, end_ps;
    const char *layer; // NULL: of a wait, for all that is on its way
    uint32_t rank;     // of the job
    uint8_t kind;      // enum slice_kind
    uint8_t part;      // enum training_part; not of a phase
    uint8_t dim, op;   // of a phase, as in coll_phase
    uint32_t chunk;
};

#define TIMELINE_SLICES 1000000 // those that come later are left out

struct timeline {
    /* config */
    uint32_t n_ranks; // recorded; 0 = nothing is
    /* state */
    struct timeline_slice *slices;
    size_t n, cap;
};

static inline bool timeline_wants(const struct timeline *t, uint32_t rank)
{
    return t != NULL && rank < t->n_ranks;
}

// Of a rank that it wants; slices without length are left out.
void timeline_add(struct timeline *t, const struct timeline_slice *slice);
