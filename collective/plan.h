// SPDX-License-Identifier: MIT
// From a collective to the phases of its chunks: which dimension, in what order, with what.
#pragma once

#include "collective/schedule.h"

struct coll_planner {
    /* config */
    const struct coll_schedule *schedule;
    /* state */
    ps_t begun_ps;                 // of the collective that the loads are of
    double load[COLL_MAX_DIMS];    // Themis: MiB at the bandwidth of dimension 0
    uint8_t sorted[COLL_MAX_DIMS]; // dimensions as they were sorted last
    uint32_t turn;                 // round robin
};

void coll_planner_init(struct coll_planner *p, const struct coll_schedule *schedule);

// A collective begins: its chunks are planned next.
void coll_planner_begin(struct coll_planner *p, ps_t now);

// The phases of its next chunk over the dimensions of the bit set `dims`; how many (0: none of them
// has more than one rank). `bytes`: what a rank holds (of an all-gather: its own part).
uint32_t coll_plan(struct coll_planner *p, enum coll_op op, uint32_t dims, uint64_t bytes,
                   struct coll_phase out[COLL_MAX_PHASES]);
