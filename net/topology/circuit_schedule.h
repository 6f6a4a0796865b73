// SPDX-License-Identifier: MIT
// The schedule of an optical circuit switch: a list of matchings. A matching joins ports of ranks
// in pairs, each port at most once; its circuits have light for its duration, then the switch is
// reconfigured for the next one. After the last matching the first one follows.
//
// Text: matchings with "|" between them, each a list of circuits "0-1" (port 0 of both ranks) or
// "0.1-3.0" (port 1 of rank 0, port 0 of rank 3), with "@100us" behind them for a duration of its
// own. Words: "ring" joins port 0 of each rank with port 1 of the next; "rotation" joins every pair
// of ranks once in a cycle (the rounds of a tournament), port p of P being p/P of a cycle ahead.
#pragma once

#include "engine/base/err.h"
#include "engine/base/param.h"
#include "engine/base/units.h"

struct circuit_params {
    uint64_t ports;
    const char *schedule;
    ps_t duration_ps, reconfiguration_ps;
    uint64_t threshold_bytes;
    bool transit;
};

struct circuit {
    uint32_t rank[2], port[2];
};

struct circuit_phase {
    uint32_t first, count; // range of `lit`
    ps_t duration_ps;
};

struct circuit_schedule {
    struct circuit *circuits; // all different ones, in the order of their first appearance
    uint32_t *lit;            // indices of circuits, by phase
    struct circuit_phase *phases;
    size_t cap_circuits, cap_lit, cap_phases;
    uint32_t n_circuits, n_lit, n_phases;
};

// Make the schedule for so many ranks. Adds errors at `path` ("topology.dims[1]"), after which the
// schedule must be freed too.
void circuit_schedule_make(struct circuit_schedule *s, const struct circuit_params *p,
                           uint32_t ranks, const char *path, struct err *err);
void circuit_schedule_free(struct circuit_schedule *s);
