// SPDX-License-Identifier: MIT
// Programs as explicit graphs: each rank has a list of steps, each after some others of the same rank.
//
// A step is ready when all steps that it is after have ended. Ready steps are given out in the order in
// which they became ready, those that became so at once in the order of the list; of compute steps and
// delays one at a time. For programs that are at hand as a whole; a generator that can compute its next
// step needs no graph.
#pragma once

#include "workload/program.h"

struct graph_step {
    struct step step;      // its id is the index in the list; neither blocking nor detached
    const uint32_t *after; // [n_after] indices of steps of the same rank
    uint32_t n_after;
};

struct graph_rank {
    const struct graph_step *steps;
    uint32_t n;
};

struct graph_group {
    const uint32_t *ranks; // of the job by member, NULL = all in order
    struct coll_schedule schedule;
};

struct step_graph {                 // settings of a job with step_graph_program
    const struct graph_rank *ranks; // [ranks of the job]
    const struct graph_group *groups;
    uint32_t n_groups;
};

// For a struct job_kind whose settings are, or begin with, a struct step_graph.
extern const struct program_ops step_graph_program;
void *step_graph_new(struct job_run *job);
