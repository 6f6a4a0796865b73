// SPDX-License-Identifier: MIT
// Makes the result of memory from what the jobs need, with the times of the passes.
#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/gpu_memory/need.h"
#include "workload/nodes/node_run.h"
#include "workload/training/training_job.h"

static const struct memory_need *need_of(const struct job_run *job)
{
    const struct job_kind *kind = job->spec->kind;
    return kind->memory != NULL ? kind->memory(job->spec) : NULL;
}

// The end of a step of a training job, or of a program whose passes were watched.
static ps_t step_end_ps(const struct job_run *job, size_t step)
{
    ps_t end = PS_NEVER;
    if (job->spec->kind->trains) {
        const struct training_job *t = job->self;
        end = t->step_end_ps[step];
    } else if (job->spec->kind->nodes != NULL) {
        const struct node_run *run = job->self;
        end = step < run->clock.n_passes ? run->clock.end_ps[step] : PS_NEVER;
    }
    return end == PS_NEVER ? -1 : end - job->spec->start_ps;
}

static void add_steps(const struct job_run *job, const struct memory_need *need,
                      struct memory_result *out)
{
    out->n_steps = need->n_steps;
    out->steps = memory_zeroed(need->n_steps, sizeof *out->steps);
    for (size_t i = 0; i < need->n_steps; i++)
        out->steps[i] = (struct memory_step_result){need->steps[i].what,
                                                    footprint_total(&need->steps[i].within),
                                                    need->steps[i].within, step_end_ps(job, i)};
}

void collect_memory(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    struct memory_result *out = &r->memory;
    const struct job_run *fullest = NULL;
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct memory_need *need = need_of(&w->jobs[j]);
        for (size_t c = 0; need != NULL && c < need->n_classes; c++) {
            const struct memory_class *one = &need->classes[c];
            struct memory_class_result added = {.job = w->jobs[j].index,
                                                .rank = job_rank(w->jobs[j].spec, one->rank),
                                                .ranks = one->ranks,
                                                .bytes = footprint_total(&one->footprint),
                                                .by_kind = one->footprint,
                                                .when = one->when};
            out->classes = memory_resize(out->classes, out->n_classes + 1, sizeof *out->classes);
            out->classes[out->n_classes++] = added;
            if (fullest != NULL && added.bytes <= out->fullest.bytes)
                continue;
            out->fullest = added;
            fullest = &w->jobs[j];
        }
    }
    if (fullest == NULL)
        return;
    const struct memory_need *need = need_of(fullest);
    out->capacity_bytes = spec_memory_bytes(sim->spec, need);
    out->at_least = need->at_least;
    add_steps(fullest, need, out);
}
