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
    for (size_t i = 0; i < file->n; i++)
        a->missing += !used[i] && file->from_last; // a run needs one size of a table only
    free(used);
}

/* ---- messages ---- */

static const struct against_time *message_time(const struct against_file *file, uint64_t bytes)
{
    for (size_t i = 0; i < file->n; i++)
        if (file->times[i].bytes == bytes)
            return &file->times[i];
    return NULL;
}

// A message by its size and its pair of ranks, which of a goodput in both directions is {least,
// most}.
struct message {
    uint64_t bytes;
    uint32_t from, to;
    ps_t start_ps, end_ps; // end: of what the file is of
};

static int by_pair(const void *a, const void *b)
{
    const struct message *x = a, *y = b;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static struct message *messages_of(const struct result *r, uint32_t job,
                                   const struct against_file *file, size_t *n)
{
    struct message *list = memory_zeroed(r->n_flows + 1, sizeof *list);
    bool both = file->what == AGAINST_GOODPUT_BOTH, arrival = file->what == AGAINST_DELIVERY;
    *n = 0;
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        ps_t took_ps = arrival ? f->delivered_ps : f->fct_ps;
        bool turned = both && f->dst < f->src;
        if (f->job == job && took_ps > 0 && message_time(file, f->bytes) != NULL)
            list[(*n)++] =
                (struct message){f->bytes, turned ? f->dst : f->src, turned ? f->src : f->dst,
                                 f->start_ps, f->start_ps + took_ps};
    }
    qsort(list, *n, sizeof *list, by_pair);
    return list;
}

// Add the messages of one size and pair to their row. Those of a goodput are sent one after another
// or at once, so they take the time from the first start to the last end.
static void pair_add(struct against_row *row, const struct message *list, size_t n)
{
    ps_t begin_ps = list[0].start_ps, end_ps = list[0].end_ps, sum_ps = 0;
    for (size_t i = 0; i < n; i++) {
        sum_ps += list[i].end_ps - list[i].start_ps;
        begin_ps = list[i].start_ps < begin_ps ? list[i].start_ps : begin_ps;
        end_ps = list[i].end_ps > end_ps ? list[i].end_ps : end_ps;
    }
    row->simulated_ns += (double)(row->goodput ? end_ps - begin_ps : sum_ps) / PS_PER_NS;
    row->count += n;
}

static void messages_collect(struct result *r, uint32_t job, const struct against_file *file)
{
    struct against_result *a = &r->against;
    size_t n, of_pair;
    struct message *list = messages_of(r, job, file, &n);
    for (size_t i = 0; i < n; i += of_pair) {
        if (a->n == 0 || a->rows[a->n - 1].bytes != list[i].bytes) {
            a->rows = memory_resize(a->rows, a->n + 1, sizeof *a->rows);
            a->rows[a->n++] =
                (struct against_row){.op = file->op,
                                     .bytes = list[i].bytes,
                                     .ranks = 2,
                                     .goodput = file->what >= AGAINST_GOODPUT,
                                     .measured_ns = message_time(file, list[i].bytes)->time_ns};
        }
        for (of_pair = 1; i + of_pair < n && by_pair(&list[i], &list[i + of_pair]) == 0;)
            of_pair++;
        pair_add(&a->rows[a->n - 1], list + i, of_pair);
    }
    free(list);
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
    r->against.what = file->what;
    if (file->what == AGAINST_COLLECTIVES)
        rows_collect(r, job, file);
    else
        messages_collect(r, job, file);
    for (size_t i = 0; i < r->against.n; i++) // sums so far
        r->against.rows[i].simulated_ns /= (double)r->against.rows[i].count;
    if (r->n_ranks > 0)
        ranks_collect(r, job, file);
}
