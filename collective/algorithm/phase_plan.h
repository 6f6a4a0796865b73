// SPDX-License-Identifier: MIT
// Plans a collective: for each chunk the phases, their dimensions, order and sizes.
#pragma once

#include "collective/algorithm/schedule.h"

struct coll_planner {
    /* config */
    const struct coll_schedule *schedule;
    /* state */
    ps_t begun_ps;                 // start of the collective that the loads belong to
    double load[COLL_MAX_DIMS];    // Themis: MiB scaled to the bandwidth of dimension 0
    uint8_t sorted[COLL_MAX_DIMS]; // dimensions in the order of the last sort
    uint32_t turn;                 // round robin
};

void coll_planner_init(struct coll_planner *p, const struct coll_schedule *schedule);

// Start planning a collective; calls of coll_plan() for its chunks follow.
void coll_planner_begin(struct coll_planner *p, ps_t now);

// Plan the phases of the next chunk over the dimensions of the bit set `dims`. Returns their number
// (0: no dimension has more than one rank). `bytes`: the bytes that a rank holds (for an
// all-gather: its own part).
uint32_t coll_plan(struct coll_planner *p, enum coll_op op, uint32_t dims, uint64_t bytes,
                   struct coll_phase out[COLL_MAX_PHASES]);
