// SPDX-License-Identifier: MIT
// Collectives that were measured in a real run: how long they took there and in the simulation.
//
// A kernel of NCCL begins when its rank calls it and waits there for the other members. The time of
// the collective itself is that from the begin of the last member to the last end. Measured, it is
// the shortest time of any member, since the last one waits for nobody and all end nearly together
// (Kineto's clocks of different hosts are not exact enough to subtract them).
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "sim/result/result_distribution.h"
#include "workload/nodes/node_run.h"

struct member_call { // of one rank
    uint32_t job;
    struct measured_call call;
};

static int by_call(const void *a, const void *b)
{
    const struct member_call *x = a, *y = b;
    if (x->job != y->job)
        return x->job < y->job ? -1 : 1;
    if (x->call.group != y->call.group)
        return x->call.group < y->call.group ? -1 : 1;
    return (x->call.number > y->call.number) - (x->call.number < y->call.number);
}

static struct member_call *calls_of(const struct workload *w, size_t *n)
{
    struct member_call *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (uint32_t j = 0; j < w->n_jobs; j++) {
        // Only programs come from recordings with measured collectives.
        const struct node_run *run = w->jobs[j].spec->kind->nodes ? w->jobs[j].self : NULL;
        for (uint32_t i = 0; run != NULL && i < w->jobs[j].n_ranks; i++)
            for (size_t c = 0; c < run->measured[i].n; c++) {
                if (*n == cap)
                    list = memory_grow(list, &cap, sizeof *list);
                list[(*n)++] = (struct member_call){j, run->measured[i].items[c]};
            }
    }
    if (*n > 1)
        qsort(list, *n, sizeof *list, by_call);
    return list;
}

// The collectives in which all members have ended.
static void join(const struct workload *w, const struct member_call *calls, size_t n,
                 struct measured_collectives *m)
{
    m->list = memory_zeroed(n, sizeof *m->list);
    for (size_t i = 0, next; i < n; i = next) {
        const struct node_run *run = w->jobs[calls[i].job].self;
        const struct node_group *group = &run->program->groups[calls[i].call.group];
        struct measured_collective c = {.job = calls[i].job,
                                        .number = calls[i].call.number,
                                        .ranks = coll_ranks(&group->schedule),
                                        .group = group->name,
                                        .op = coll_op_name(calls[i].call.op),
                                        .bytes = calls[i].call.bytes,
                                        .measured_ps = PS_NEVER};
        ps_t begin_ps = 0, end_ps = 0;
        for (next = i; next < n && by_call(&calls[i], &calls[next]) == 0; next++) {
            const struct measured_call *call = &calls[next].call;
            if (call->measured_ps < c.measured_ps)
                c.measured_ps = call->measured_ps;
            begin_ps = call->begin_ps > begin_ps ? call->begin_ps : begin_ps;
            end_ps = call->end_ps > end_ps ? call->end_ps : end_ps;
        }
        // Where all data are present already, the simulated collective takes no time. The ratios
        // below need a positive one.
        c.simulated_ps = end_ps > begin_ps ? end_ps - begin_ps : 1;
        // A member that has not ended may be the one that ends last.
        if (next - i == c.ranks)
            m->list[m->n++] = c;
    }
}

/* ---- sizes ---- */

static int by_size(const void *a, const void *b)
{
    const struct measured_collective *x = a, *y = b;
    int op = strcmp(x->op, y->op);
    if (op != 0)
        return op;
    if (x->ranks != y->ranks)
        return x->ranks < y->ranks ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static double ns(ps_t ps) { return (double)ps / PS_PER_NS; }

static double ratio_of(const struct measured_collective *c)
{
    return (double)c->simulated_ps / (double)c->measured_ps;
}

static struct measured_size size_of(const struct measured_collective *list, size_t n)
{
    struct distribution measured = {.limit = n}, simulated = {.limit = n}, ratio = {.limit = n};
    struct measured_size size = {
        .op = list->op, .bytes = list->bytes, .ranks = list->ranks, .count = n};
    for (size_t i = 0; i < n; i++) {
        distribution_add(&measured, ns(list[i].measured_ps));
        distribution_add(&simulated, ns(list[i].simulated_ps));
        distribution_add(&ratio, ratio_of(&list[i]));
    }
    size.measured_ns = distribution_stats(&measured);
    size.simulated_ns = distribution_stats(&simulated);
    size.ratio = distribution_stats(&ratio);
    distribution_free(&measured);
    distribution_free(&simulated);
    distribution_free(&ratio);
    return size;
}

static void sizes_make(struct measured_collectives *m)
{
    struct measured_collective *sorted = memory_zeroed(m->n, sizeof *sorted);
    memcpy(sorted, m->list, m->n * sizeof *sorted);
    qsort(sorted, m->n, sizeof *sorted, by_size);
    m->sizes = memory_zeroed(m->n, sizeof *m->sizes);
    for (size_t i = 0, next; i < m->n; i = next) {
        // Sizes that compare equal lie together in the sorted list.
        for (next = i; next < m->n && by_size(&sorted[i], &sorted[next]) == 0;)
            next++;
        m->sizes[m->n_sizes++] = size_of(&sorted[i], next - i);
    }
    free(sorted);
}

void collect_measured_collectives(const struct sim *sim, struct result *r)
{
    struct measured_collectives *m = &r->measured_collectives;
    struct distribution ratio = {0};
    size_t n;
    struct member_call *calls = calls_of(&sim->workload, &n);
    if (n > 0)
        join(&sim->workload, calls, n, m);
    free(calls);
    ratio.limit = m->n;
    for (size_t i = 0; i < m->n; i++) {
        m->measured_ns += ns(m->list[i].measured_ps);
        m->simulated_ns += ns(m->list[i].simulated_ps);
        distribution_add(&ratio, ratio_of(&m->list[i]));
    }
    if (m->n > 0) {
        m->ratio = distribution_stats(&ratio);
        sizes_make(m);
    }
    distribution_free(&ratio);
}
