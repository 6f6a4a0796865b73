// SPDX-License-Identifier: MIT
// Programs that read ahead: where all ranks wait, those with unread steps read on.
#include "workload/runner_internal.h"

static bool is_dry(const struct workload *w)
{
    return tally_sum(&w->messages_open) == 0 && tally_sum(&w->starts_pending) == 0 &&
           !workload_done(w);
}

// Every rank waits. Those whose programs have unread steps read further ahead and go on, each in an
// event of its own.
static void on_dry(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct workload *w = timer->data;
    for (size_t j = 0; j < w->n_jobs && is_dry(w); j++) {
        struct job_run *job = &w->jobs[j];
        const struct program_ops *program = job->spec->kind->program;
        uint32_t armed = 0;
        for (uint32_t i = 0; program->read_on != NULL && i < job->n_ranks; i++) {
            struct rank_run *r = &job->ranks[i];
            if (r->ended || sim_timer_active(&r->timer) || !program->read_on(job->self, i))
                continue;
            sim_timer_start(e, &r->timer, e->now_ps);
            armed++;
        }
        tally_add(&w->starts_pending, armed);
    }
}

// To be called at the end of an event. The timer of this event is the last one of the instant.
// While shards run at the same time, something is left to happen.
void runner_check_dry(struct workload *w, ps_t now)
{
    if (w->reads_ahead && !engine_is_parallel(w->engine) && is_dry(w) && !sim_timer_active(&w->dry))
        sim_timer_start(w->engine, &w->dry, now);
}

void runner_dry_init(struct workload *w)
{
    sim_timer_init_locked(w->engine, &w->dry, w->n_ranks, on_dry, w);
}
