// SPDX-License-Identifier: MIT
#include "cli/synth/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define PER_OCTAVE 64 // a quantile is right to 1.1 %
#define BINS (64 * PER_OCTAVE)
#define COLLECTIVE_FIRST 8 // kinds of nodes, then operations of collectives
#define KINDS (COLLECTIVE_FIRST + COLL_OPS)
#define GROUP_SIZES 32

struct histogram {
    double count[BINS], sum_of[BINS], n, sum;
};

struct totals {
    double n_ranks;
    struct histogram size[KINDS]; // bytes, of nodes that have some
    double nodes[KINDS];
    struct histogram time; // ns of computations
    double *busy;          // [rank] ns
    double after, most_after;
    bool *used; // [group] a collective is of it: a set lists others too, which a new one leaves out
    double groups[GROUP_SIZES]; // [log2 of the size]
};

/* ---- counting ---- */

static void histogram_add(struct histogram *h, double value)
{
    double bin = value >= 1 ? log2(value) * PER_OCTAVE : 0;
    size_t at = (size_t)fmin(bin, BINS - 1);
    h->count[at]++;
    h->sum_of[at] += value;
    h->n++;
    h->sum += value;
}

static double quantile(const struct histogram *h, double share)
{
    double seen = 0;
    for (size_t i = 0; i < BINS; i++)
        if ((seen += h->count[i]) >= share * h->n && seen > 0)
            return h->sum_of[i] / h->count[i]; // the mean of the bin
    return NAN;
}

static void count_node(void *ctx, uint32_t rank, const struct node *node)
{
    struct totals *t = ctx;
    size_t kind = node->kind == NODE_COLLECTIVE ? COLLECTIVE_FIRST + (size_t)node->op : node->kind;
    t->nodes[kind]++;
    if (node->kind == NODE_COLLECTIVE)
        t->used[node->group] = true;
    if (node->bytes > 0)
        histogram_add(&t->size[kind], (double)node->bytes);
    if (synth_timed(node)) {
        double ns = (double)node->takes_ps / 1000;
        histogram_add(&t->time, ns);
        t->busy[rank] += ns;
    }
    t->after += node->n_after;
    t->most_after = fmax(t->most_after, node->n_after);
}

static void totals_free(struct totals *t)
{
    if (t != NULL) {
        free(t->busy);
        free(t->used);
    }
    free(t);
}

static struct totals *count(const struct node_program *p, struct err *err)
{
    struct totals *t = memory_zeroed(1, sizeof *t);
    t->busy = memory_zeroed(p->n_ranks, sizeof *t->busy);
    t->n_ranks = p->n_ranks;
    t->used = memory_zeroed((size_t)p->n_groups + 1, sizeof *t->used);
    if (synth_nodes(p, count_node, t, err) != 0) {
        totals_free(t);
        return NULL;
    }
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (t->used[g])
            t->groups[(size_t)log2((double)coll_ranks(&p->groups[g].schedule))]++;
    return t;
}

/* ---- rows ---- */

static void row(struct synth_table *t, char *name, double source, double made, bool exact)
{
    if ((isnan(source) || source == 0) && (isnan(made) || made == 0)) {
        free(name);
        return;
    }
    if (t->n == t->cap)
        t->rows = memory_grow(t->rows, &t->cap, sizeof *t->rows);
    t->rows[t->n++] = (struct synth_row){name, source, made, exact};
}

static void operation_rows(struct synth_table *t, size_t kind, const char *name,
                           const struct totals *a, const struct totals *b)
{
    const struct histogram *x = &a->size[kind], *y = &b->size[kind];
    row(t, text_format("%s, of a rank", name), a->nodes[kind] / a->n_ranks,
        b->nodes[kind] / b->n_ranks, true);
    row(t, text_format("%s, bytes of a rank", name), x->sum / a->n_ranks, y->sum / b->n_ranks,
        true);
    row(t, text_format("%s, median bytes", name), quantile(x, 0.5), quantile(y, 0.5), true);
    row(t, text_format("%s, 99 %% bytes", name), quantile(x, 0.99), quantile(y, 0.99), true);
}

static void time_rows(struct synth_table *t, const struct totals *a, const struct totals *b)
{
    static const double shares[] = {0.1, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        row(t, text_format("time of a computation, %.0f %%, ns", 100 * shares[i]),
            quantile(&a->time, shares[i]), quantile(&b->time, shares[i]), false);
    row(t, memory_text("computing of a rank, mean, ns"), a->time.sum / a->n_ranks,
        b->time.sum / b->n_ranks, false);
}

static double slowest(const struct totals *t)
{
    double most = 0;
    for (size_t r = 0; r < (size_t)t->n_ranks; r++)
        most = fmax(most, t->busy[r]);
    return t->time.sum > 0 ? most / (t->time.sum / t->n_ranks) : NAN;
}

static double all_nodes(const struct totals *t)
{
    double sum = 0;
    for (size_t k = 0; k < KINDS; k++)
        sum += t->nodes[k];
    return sum;
}

// Groups by size, from a power of two to the next one.
static char *group_name(size_t i)
{
    double least = exp2((double)i);
    return i == 0 ? memory_text("groups of one rank")
                  : text_format("groups of %.0f to %.0f ranks", least, 2 * least - 1);
}

static void width_rows(struct synth_table *t, const struct totals *a, const struct totals *b)
{
    row(t, memory_text("slowest rank over the mean"), slowest(a), slowest(b), false);
    row(t, memory_text("dependencies of a node, mean"), a->after / all_nodes(a),
        b->after / all_nodes(b), true);
    row(t, memory_text("dependencies of a node, most"), a->most_after, b->most_after, true);
    for (size_t i = 0; i < GROUP_SIZES; i++)
        row(t, group_name(i), a->groups[i], b->groups[i], true);
}

int synth_compare(struct synth_table *t, const struct node_program *source,
                  const struct node_program *made, struct err *err)
{
    static const char *const kinds[] = {
        [NODE_COMPUTE] = "computations", [NODE_WAIT] = "waits",  [NODE_SEND] = "sends",
        [NODE_RECV] = "receives",        [NODE_EMPTY] = "joins", [NODE_COPY] = "copies"};
    *t = (struct synth_table){0};
    struct totals *a = count(source, err), *b = a != NULL ? count(made, err) : NULL;
    if (b != NULL) {
        row(t, memory_text("ranks"), a->n_ranks, b->n_ranks, true);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k] != NULL)
                operation_rows(t, k, kinds[k], a, b);
        for (size_t op = 0; op < COLL_OPS; op++)
            operation_rows(t, COLLECTIVE_FIRST + op, coll_op_name((enum coll_op)op), a, b);
        time_rows(t, a, b);
        width_rows(t, a, b);
    }
    bool counted = b != NULL;
    totals_free(a);
    totals_free(b);
    return counted ? 0 : -1;
}

void synth_table_free(struct synth_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->rows[i].name);
    free(t->rows);
}
