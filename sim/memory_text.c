// SPDX-License-Identifier: MIT
// The memory that the jobs need, as lines of text.
#include <stdio.h>
#include <stdlib.h>

#include "sim/simulation.h"
#include "workload/gpu_memory/need.h"

static void add_line(FILE *out, const struct spec *spec, const struct job_spec *job,
                     const struct memory_need *need)
{
    const struct memory_class *most = &need->classes[need->fullest];
    uint64_t capacity = spec_memory_bytes(spec, need);
    char total[UNIT_TEXT], has[UNIT_TEXT], *kinds = memory_kinds_text(&most->footprint);
    fprintf(out, "memory: %s needs %s%s a GPU", job->name, need->at_least ? "at least " : "",
            human_bytes(footprint_total(&most->footprint), total));
    if (capacity > 0)
        fprintf(out, " of %s", memory_capacity_text(capacity, has));
    fprintf(out, " (%s), within the %s", kinds, most->when);
    if (need->n_classes > 1)
        fprintf(out, " of rank%u", job_rank(job, most->rank));
    fputs("\n", out);
    free(kinds);
}

static void add_swap(FILE *out, const struct job_spec *job)
{
    struct job_swap swap;
    if (job->kind->swap == NULL || !job->kind->swap(job, &swap))
        return;
    fprintf(out,
            "out of core: %s keeps the outputs of %u layers, swaps %u, recomputes %u; weights %s\n",
            job->name, swap.kept, swap.swapped, swap.recomputed,
            swap.weights ? "are on the host" : "stay on the GPU");
}

char *sim_memory_text(const struct sim *sim)
{
    struct text text;
    FILE *out = text_open(&text);
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        const struct job_spec *job = &sim->spec->jobs[j];
        const struct memory_need *need = job->kind->memory != NULL ? job->kind->memory(job) : NULL;
        if (need != NULL)
            add_line(out, sim->spec, job, need);
        add_swap(out, job);
    }
    return text_close(out, &text);
}
