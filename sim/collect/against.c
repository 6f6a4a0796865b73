// SPDX-License-Identifier: MIT
#include "sim/collect/against.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* ---- collectives ---- */

// The index of the file's time for a collective; file->n = it has none.
static size_t time_of(const struct against_file *file, const struct collective_result *c)
{
    size_t i = 0;
    while (i < file->n && (file->times[i].bytes != c->bytes ||
                           (file->times[i].ranks != 0 && file->times[i].ranks != c->ranks) ||
                           (file->times[i].op != NULL && strcmp(file->times[i].op, c->op) != 0)))
        i++;
    return i;
}

// The row of a collective, which is new where there is none yet.
static struct against_row *row_of(struct against_result *a, const struct collective_result *c,
                                  double measured_ns)
{
    for (size_t i = 0; i < a->n; i++)
        if (a->rows[i].bytes == c->bytes && a->rows[i].ranks == c->ranks &&
            strcmp(a->rows[i].op, c->op) == 0)
            return &a->rows[i];
    a->rows = memory_resize(a->rows, a->n + 1, sizeof *a->rows);
    a->rows[a->n] = (struct against_row){
        .op = c->op, .bytes = c->bytes, .ranks = c->ranks, .measured_ns = measured_ns};
    return &a->rows[a->n++];
}

static void rows_collect(struct result *r, uint32_t job, const struct against_file *file)
{
    struct against_result *a = &r->against;
    bool *used = memory_zeroed(file->n + 1, sizeof *used);
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        size_t time = time_of(file, c);
        if (c->job != job || c->end_ps < 0 || time == file->n)
            continue;
        used[time] = true;
        struct against_row *row = row_of(a, c, file->times[time].time_ns);
        ps_t from_ps = file->from_last ? c->last_start_ps : c->start_ps;
        row->simulated_ns += (double)(c->end_ps - from_ps) / PS_PER_NS;
        row->count++;
    }
    for (size_t i = 0; i < a->n; i++) // sums so far
        a->rows[i].simulated_ns /= (double)a->rows[i].count;
    for (size_t i = 0; i < file->n; i++)
        a->missing += !used[i] && file->from_last; // a table's other sizes are not asked for
    free(used);
}

/* ---- ranks ---- */

// Iterations of the job; 0 = not known.
static uint64_t iterations_of(const struct result *r, uint32_t job)
{
    for (size_t i = 0; i < r->n_trainings; i++)
        if (r->trainings[i].job == job)
            return r->trainings[i].n_passes;
    for (size_t i = 0; i < r->n_slowest; i++)
        if (r->slowest[i].job == job)
            return r->slowest[i].n_iterations;
    return 0;
}

static void ranks_collect(struct result *r, uint32_t job, const struct against_file *file)
{
    struct against_result *a = &r->against;
    const struct rank_result *first = r->ranks, *end = r->ranks + r->n_ranks;
    uint64_t iterations = iterations_of(r, job);
    double scale = iterations > 0 && file->steps > 0 ? (double)iterations / (double)file->steps : 1;
    while (first < end && first->job != job)
        first++;
    a->ranks = memory_zeroed(file->n_ranks + 1, sizeof *a->ranks);
    for (size_t i = 0; i < file->n_ranks; i++) {
        const struct against_rank *from = &file->ranks[i];
        if (from->rank >= (size_t)(end - first))
            continue;
        const struct rank_result *own = &first[from->rank]; // by job and rank
        if (own->job != job || own->finish_ps < 0)
            continue;
        a->ranks[a->n_ranks++] =
            (struct against_rank){.rank = from->rank,
                                  .measured_ns = from->measured_ns * scale,
                                  .measured_compute_ns = from->measured_compute_ns * scale,
                                  .simulated_ns = (double)own->finish_ps / PS_PER_NS,
                                  .simulated_compute_ns = (double)own->compute_ps / PS_PER_NS};
    }
}

void against_collect(struct result *r, uint32_t job, const struct against_file *file)
{
    r->against.file = memory_text(file->path);
    r->against.kind = file->kind;
    rows_collect(r, job, file);
    if (r->n_ranks > 0)
        ranks_collect(r, job, file);
}
