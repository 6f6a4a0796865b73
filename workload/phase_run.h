// SPDX-License-Identifier: MIT
// A phase of one chunk in one group while it is there: its program and its ranks' walks.
#pragma once

#include "workload/instance.h"
#include "workload/walk.h"

struct phase_run {
    /* config */
    struct system *system;
    struct instance *instance;
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t id; // for tokens
    uint32_t chunk, index, dim, group;
    uint32_t n_members, steps;
    /* state */
    uint32_t n_ready, n_done;
    double ready_ps;        // sum over members that are ready, from the start of the collective
    struct sim_timer timer; // of a phase in closed form,
    ps_t ends_ps;           // which ends then; else PS_NEVER
    ps_t began_ps;          // given a place in its dimension; PS_NEVER = not
    struct phase_run *next_free;
    struct walk walks[];
};

// Runs are used again: one list of free ones per group size.
struct phase_pool {
    struct phase_run **runs; // by id
    size_t n, cap;
    struct phase_run *free[COLL_MAX_DIMS + 1]; // [dim]
};

void phase_pool_free(struct phase_pool *pool);

// A run with `members` walks at step 0, of dimension `dim`. Their timers are not initialised.
struct phase_run *phase_run_take(struct phase_pool *pool, uint32_t dim, uint32_t members);
void phase_run_give(struct phase_pool *pool, struct phase_run *run);
