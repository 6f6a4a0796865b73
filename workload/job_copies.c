// SPDX-License-Identifier: MIT
// The copies of a job between tiers of memory (workload/tiers/copies.h), as steps of its ranks.
#include "workload/runner_internal.h"
#include "workload/tiers/copies.h"

// No rank has to do its part for a copy.
static void on_copied(void *ctx, uint32_t rank, uint32_t step, ps_t now)
{
    struct job_run *job = ctx;
    runner_set_peers(job, (struct peers){0, UINT32_MAX});
    runner_step_ended(&job->ranks[rank], step, now);
    runner_check_dry(job->workload, now);
}

void job_tiers(struct job_run *job, const struct tier_set *tiers)
{
    struct workload *w = job->workload;
    uint64_t token = (uint64_t)job->index << TOKEN_JOB_SHIFT | TOKEN_OWN | TOKEN_COPY;
    struct copies_env env = {.engine = w->engine,
                             .path_book = w->path_book,
                             .transfer = &w->transfer,
                             .tiers = tiers,
                             .job = job->index,
                             .n_ranks = job->n_ranks,
                             .ranks = job->spec->ranks,
                             .cls = (uint32_t)job->spec->cls,
                             .transport = job->spec->transport,
                             .token = token,
                             .messages = &w->messages_open,
                             .pending = &w->starts_pending,
                             .busy_until_ps = &w->busy_until_ps,
                             .ended = on_copied,
                             .ctx = job};
    job->copies = copies_new(&env);
    w->takes_order = w->takes_order || tier_set_is_shared(tiers);
}
