// SPDX-License-Identifier: MIT
// Programs as explicit graphs: each rank has a list of steps, each after some others of the same rank.
//
// A step is ready when all steps that it depends on have ended. Ready steps are returned in the
// order in which they became ready (at the same instant: in the order of the list); compute and
// delay steps run one at a time. Use this for programs that are known as a whole; a generator that
// can compute its next step needs no graph.
#pragma once

#include "workload/program.h"

struct graph_step {
    struct step step;      // `id` is the index in the list; `blocks` and `detached` must be false
    const uint32_t *after; // [n_after] indices of the same rank's steps that must end first
    uint32_t n_after;
};

struct graph_rank {
    const struct graph_step *steps;
    uint32_t n;
};

struct graph_group {
    const uint32_t *ranks; // [member] rank of the job, NULL = all in order
    struct coll_schedule schedule;
};

struct step_graph {                 // settings of a job with step_graph_program
    const struct graph_rank *ranks; // [ranks of the job]
    const struct graph_group *groups;
    uint32_t n_groups;
};

// The program of a job_kind whose settings are, or begin with, a struct step_graph.
extern const struct program_ops step_graph_program;
void *step_graph_new(struct job_run *job);
