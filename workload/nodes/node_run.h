// SPDX-License-Identifier: MIT
// Runs a node program: the operations of a kind of job whose settings hold one (job_kind.nodes).
#pragma once

#include "collective/recorder.h"
#include "workload/nodes/node_account.h"
#include "workload/nodes/node_measured.h"
#include "workload/nodes/node_window.h"
#include "workload/program.h"

// The ends of the passes of a rank's first iteration, for those who know what a pass is.
struct pass_clock {
    uint32_t rank; // of the job
    ps_t *end_ps;  // [n_passes] PS_NEVER = not ended
    size_t n_passes;
};

struct node_run {
    struct job_run *job;
    const struct node_program *program;
    void *cursor;
    struct node_window *windows; // [rank]
    struct node_account account;
    struct comm_request request; // of the step that is being started
    struct name_pool names;
    uint32_t *job_ranks; // [rank of the network] rank of the job
    struct timeline timeline;
    struct pass_clock clock;
    struct measured_calls *measured; // [rank]
};

extern const struct program_ops node_run_ops;

// The function job_kind.new of such kinds.
void *node_run_new(struct job_run *job);

// Write down the ends of the first `passes` passes of a rank.
void node_run_watch(struct node_run *p, uint32_t rank, size_t passes);

// Labels of nodes on critical paths: a layer, and what its communication is for. label_read()
// returns the layer's index + 1 and the use, or n_uses for a computation.
uint32_t node_label(const struct node_program *p, const struct node *node);
uint32_t node_label_read(const struct node_program *p, uint32_t label, uint32_t *use);
