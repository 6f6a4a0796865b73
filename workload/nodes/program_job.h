// SPDX-License-Identifier: MIT
// A job whose nodes the scenario gives, inline or in a file.
#pragma once

#include "workload/contention.h"
#include "workload/group_choice.h"
#include "workload/kind.h"
#include "workload/nodes/node.h"

struct program_params { // as in a scenario
    const char *file;
    int order; // enum program_order
    uint64_t comm_streams, copy_bps, window;
    struct group_params group;
    struct contention_params contention;
    struct mapping_params mapping;
};

enum program_order { PROGRAM_IN_ORDER, PROGRAM_AS_READY };

struct program_settings {
    struct program_params params;
    struct group_choice choice;
    struct tier_set tiers;
    struct node_program nodes;
};

extern const struct job_kind program_kind;
