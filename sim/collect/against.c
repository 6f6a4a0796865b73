// SPDX-License-Identifier: MIT
#include "sim/collect/against.h"

#include <string.h>

#include "engine/base/memory.h"

static const struct against_time *time_of(const struct against_file *file, uint64_t bytes)
{
    for (size_t i = 0; i < file->n; i++)
        if (file->times[i].bytes == bytes)
            return &file->times[i];
    return NULL;
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

void against_collect(struct result *r, uint32_t job, const struct against_file *file)
{
    struct against_result *a = &r->against;
    a->file = memory_text(file->path);
    a->kind = file->kind;
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        const struct against_time *time = time_of(file, c->bytes);
        if (c->job != job || c->end_ps < 0 || time == NULL)
            continue;
        struct against_row *row = row_of(a, c, time->time_ns);
        row->simulated_ns += (double)(c->end_ps - c->start_ps) / PS_PER_NS;
        row->count++;
    }
    for (size_t i = 0; i < a->n; i++) // sums so far
        a->rows[i].simulated_ns /= (double)a->rows[i].count;
}
