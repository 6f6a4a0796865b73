// SPDX-License-Identifier: MIT
// A job that trains a transformer, given by its shapes.
#pragma once

#include "workload/contention.h"
#include "workload/gpu_memory/need.h"
#include "workload/kind.h"
#include "workload/llm/llm_source.h"
#include "workload/nodes/input.h"

struct llm_settings {
    struct llm_params params;
    struct group_params group;
    struct contention_params contention;
    struct mapping_params mapping;
    struct group_choice choice;
    enum llm_degree order[LLM_DEGREES]; // innermost first
    struct llm_program program;
    struct node_program nodes;
    struct memory_need memory;
    struct node_input input;
};

extern const struct job_kind llm_kind;
