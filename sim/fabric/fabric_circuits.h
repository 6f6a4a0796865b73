// SPDX-License-Identifier: MIT
// The circuits of a fabric, by dimension.
#pragma once

#include "net/topology/circuit_schedule.h"
#include "sim/fabric/fabric_internal.h"

struct circuit_switch {
    struct sim_timer timer;
    struct fabric *fabric;
    uint32_t dim;
    const struct circuit_params *params;
    struct circuit_schedule schedule;
    uint32_t (*ports)[2]; // [circuit] ports of its two ends
    bool *marked;         // [circuit] scratch memory of mark_phase()
    ps_t guard_ps;
    ps_t from_ps; // begin of the light of the present phase
    uint32_t phase;
    bool dark; // between two phases
    uint64_t n_changes;
};

struct circuits {
    struct circuit_switch *of_dim[SPEC_MAX_DIMS]; // NULL = the dimension has no circuits
};

// Returns true if a dimension has a path for the pair; in a dimension of circuits this is a
// circuit, or transit over several.
bool fabric_pair_joined(const struct fabric *fabric, uint32_t a, uint32_t b);
