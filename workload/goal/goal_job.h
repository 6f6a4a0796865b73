// SPDX-License-Identifier: MIT
// The job kind `goal`: a program in the text format GOAL.
#pragma once

#include "workload/contention.h"
#include "workload/kind.h"
#include "workload/nodes/node.h"

struct goal_params {
    const char *file;
    struct mapping_params mapping;
};

struct goal_settings {
    struct goal_params params;
    struct node_program program;
};

extern const struct job_kind goal_kind;
