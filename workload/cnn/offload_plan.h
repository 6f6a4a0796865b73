// SPDX-License-Identifier: MIT
// The choice, for each layer of a chain, to keep its output, to swap it or to compute it again, so
// that an iteration is as short as possible.
//
// All choices are compared by the time of their schedule (offload_schedule.h). Tried are: keep all;
// keep the last outputs, which are needed first, and swap or recompute the others in so many blocks
// of equal memory; then the choice of one layer, of two layers, and of the first layer whose
// weights stay is changed as long as that shortens the iteration (hill climbing). The number of
// tries is bounded, so the result is good, not proven best; with method auto it is never longer
// than with the other methods, whose results it begins with.
//
// KARMA solves the same in two steps, first blocks, then what to recompute, by a general optimiser
// (Wahib et al., SC 2020).
#pragma once

#include "workload/cnn/offload_schedule.h"

enum offload_method { OFFLOAD_AUTO, OFFLOAD_ONLY_SWAP, OFFLOAD_ONLY_RECOMPUTE };
extern const char *const offload_methods[]; // "auto", "swap", "recompute", NULL

struct offload_plan {
    struct offload_choice choice;
    ps_t iteration_ps;
    uint32_t kept, swapped, recomputed; // layers
    ps_t recomputed_ps;                 // computing again
};

// Returns false if nothing that the method allows fits. offload_plan_free() in both cases.
bool offload_plan_make(struct offload_plan *plan, const struct offload_chain *chain,
                       enum offload_method method);
void offload_plan_free(struct offload_plan *plan);
