// SPDX-License-Identifier: MIT
// Computations of ranks on the cores of their hosts: they begin and end there, and their speed
// follows what threads leave (engine/cores/cores.h).
#include "engine/base/memory.h"
#include "engine/cores/cores.h"
#include "workload/runner_internal.h"
#include "workload/workload.h"

void rank_cores_computing(void *rank_run, bool begins, ps_t now)
{
    const struct rank_run *r = rank_run;
    cores_compute(r->job->workload->cores, r->timed.node, begins, now);
}

static void on_speed(void *ctx, uint32_t rank, double speed, ps_t now)
{
    const struct workload *w = ctx;
    for (struct rank_run *r = w->rank_runs[rank]; r != NULL; r = r->next_of_rank)
        timed_steps_cores(&r->timed, speed, now);
}

void rank_cores_init(struct workload *w)
{
    w->rank_runs = memory_zeroed(w->n_ranks, sizeof(struct rank_run *));
    cores_watch(w->cores, on_speed, w);
}

void rank_cores_add(struct workload *w, struct rank_run *r)
{
    r->next_of_rank = w->rank_runs[r->timed.node];
    w->rank_runs[r->timed.node] = r;
}
