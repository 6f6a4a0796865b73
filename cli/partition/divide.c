// SPDX-License-Identifier: MIT
#include "cli/partition/divide.h"

#include <math.h>
#include <metis.h>
#include <stdlib.h>

#include "engine/base/memory.h"

// METIS adds up weights in integers of 32 bits, so that weights are scaled to this sum.
#define WEIGHTS_SUM 1e8
#define SEED 1
#define CUTS 4 // divisions that METIS tries, to take the best

struct lists {                    // the graph without directions, as METIS takes it
    idx_t *first, *other, *bytes; // [n + 1], [2 edges], [2 edges]
    idx_t *weights;               // [n * constraints]
    idx_t constraints;
};

static idx_t scaled(double value, double sum)
{
    return sum > 0 ? (idx_t)lround(value / sum * WEIGHTS_SUM) : 1;
}

// Edges between the same two operators are one with the sum of their bytes.
static void fill_edges(struct lists *l, const struct operator_graph *g)
{
    double sum = 0;
    idx_t *seen = memory_zeroed((size_t)g->n + 1, sizeof *seen), n = 0; // place of an operator
    struct operator_ends ends = operator_ends(g, true, true);
    for (uint32_t e = 0; e < g->n_edges; e++)
        sum += g->edges[e].bytes;
    for (uint32_t v = 0; v < g->n; v++)
        seen[v] = -1;
    for (uint32_t v = 0; v < g->n; v++) {
        l->first[v] = n;
        for (uint32_t j = ends.first[v]; j < ends.first[v + 1]; j++) {
            const struct operator_edge *e = &g->edges[ends.edges[j]];
            uint32_t other = operator_other(e, v);
            idx_t weight = scaled(e->bytes, sum);
            if (seen[other] < l->first[v]) { // not among those of v yet
                seen[other] = n;
                l->other[n++] = (idx_t)other;
            }
            l->bytes[seen[other]] += weight > 0 ? weight : 1;
        }
    }
    l->first[g->n] = n;
    operator_ends_free(&ends);
    free(seen);
}

static void fill_weights(struct lists *l, const struct operator_graph *g)
{
    double time = 0, memory = 0;
    for (uint32_t v = 0; v < g->n; v++) {
        time += g->nodes[v].time_ps;
        memory += g->nodes[v].memory_bytes;
    }
    l->constraints = g->capacity_bytes > 0 && memory > 0 ? 2 : 1;
    l->weights = memory_zeroed((size_t)g->n * (size_t)l->constraints, sizeof *l->weights);
    for (uint32_t v = 0; v < g->n; v++) {
        idx_t *own = &l->weights[(idx_t)v * l->constraints];
        own[0] = scaled(g->nodes[v].time_ps, time);
        if (l->constraints > 1)
            own[1] = scaled(g->nodes[v].memory_bytes, memory);
    }
}

bool divide_by_metis(const struct operator_graph *g, uint32_t parts, bool bisect, int imbalance,
                     uint32_t *part)
{
    size_t ends = 2 * (size_t)g->n_edges + 1;
    struct lists l = {.first = memory_zeroed((size_t)g->n + 1, sizeof *l.first),
                      .other = memory_zeroed(ends, sizeof *l.other),
                      .bytes = memory_zeroed(ends, sizeof *l.bytes)};
    idx_t options[METIS_NOPTIONS], n = (idx_t)g->n, k = (idx_t)parts, cut = 0;
    idx_t *made = memory_zeroed(g->n, sizeof *made);
    fill_edges(&l, g);
    fill_weights(&l, g);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    options[METIS_OPTION_NCUTS] = CUTS;
    options[METIS_OPTION_UFACTOR] = imbalance;
    int status = (bisect ? METIS_PartGraphRecursive
                         : METIS_PartGraphKway)(&n, &l.constraints, l.first, l.other, l.weights,
                                                NULL, l.bytes, &k, NULL, NULL, options, &cut, made);
    for (uint32_t v = 0; v < g->n && status == METIS_OK; v++)
        part[v] = (uint32_t)made[v];
    free(l.first);
    free(l.other);
    free(l.bytes);
    free(l.weights);
    free(made);
    return status == METIS_OK;
}
