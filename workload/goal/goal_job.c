// SPDX-License-Identifier: MIT
// Settings of the job kind; workload/goal/read_goal.c reads the file.
#include "workload/goal/goal_job.h"

#include "workload/nodes/node_run.h"

static const struct param goal_params[] = {
    PARAM_ROW(
        "file", TEXT, offsetof(struct goal_params, file),
        .help =
            "num_ranks N, then `rank R { l1: calc 100 .. l2: send 10b to 1 tag 5 .. l2 requires "
            "l1 }` for each rank; docs/goal.md"),
    MAPPING_ROWS(struct goal_params, mapping),
};

static const struct node_program *nodes(const struct job_spec *job)
{
    return &((const struct goal_settings *)job->settings)->program;
}

static void free_settings(void *settings)
{
    node_program_free(&((struct goal_settings *)settings)->program);
}

const struct job_kind goal_kind = {
    .name = "goal",
    .doc = "a program of calculations, sends and receives in the text format GOAL",
    .source = "Hoefler et al., ICPP 2009; LogGOPSim, HPDC 2010; ATLAHS, 2025",
    .params = goal_params,
    .n_params = sizeof goal_params / sizeof *goal_params,
    .settings_bytes = sizeof(struct goal_settings),
    .free_settings = free_settings,
    .program = &node_run_ops,
    .new = node_run_new,
    .nodes = nodes,
};
