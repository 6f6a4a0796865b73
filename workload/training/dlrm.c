// SPDX-License-Identifier: MIT
// The model of Naumov et al., "Deep Learning Recommendation Model", 2019: bottom layers over dense
// features, a pooled vector from each embedding table, dot products of all pairs of these vectors,
// top layers. The batch is distributed over the ranks (B samples on each of N ranks). Sharding
// determines where the tables are:
//
//   table    complete tables on ranks, as `placement` says, or the heaviest first on the least
//            loaded rank. Forward, every rank sends every other rank the vectors of its tables for
//            that rank's samples: B * sum of dims * element; backward, the gradients return the
//            same way. With fewer tables than ranks, or with unequal tables, the ranks send
//            different amounts.
//   column   each table cut into pieces of dim / shards columns, placed likewise: the same volume,
//            more evenly distributed.
//   row      each rank has some rows of every table, so it has partial sums for all samples: every
//            rank sends every other rank B * (all dims) * element. This is a reduce-scatter by
//            direct messages; backward it is a direct all-gather. N times the volume, equal on all
//            ranks.
//   data     every rank has all tables; their gradients are all-reduced: sum of rows * dim *
//            element.
//
// Lookups are limited by memory bandwidth: samples * pooling * dim * element / bandwidth, on the
// rank with the most lookups (backward twice that: read and write), and by where the rows are
// (embedding_tiers.h). Dense layers: see gemm.h,
// weights all-reduced. Left out: the optimizer, the exchange of indices, the compute time of the
// interaction.
// Sharding as in Mudigere et al., ISCA 2022, section 4.2.
#include "workload/training/dlrm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "workload/gpu_memory/footprint.h"

#define DP(f) offsetof(struct dlrm_params, f)

static const char *const shardings[] = {"table", "row", "column", "data", NULL};

const struct param dlrm_params[] = {
    PARAM_ROW("batch", COUNT, DP(batch), .def = "2048", .min = "1", .max = "10000000",
              .help = "samples of each rank"),
    PARAM_ROW(
        "sharding", ENUM, DP(sharding), .def = "table", .choices = shardings,
        .help =
            "where the embedding tables are: whole ones on ranks, rows of all on each, columns, "
            "or copies of all",
        .source = "Mudigere et al., ISCA 2022"),
    PARAM_ROW("column_shards", COUNT, DP(column_shards), .def = "4", .min = "1", .max = "4096",
              .help = "column: pieces of a table"),
    PARAM_ROW("dense_features", COUNT, DP(dense_features), .def = "13", .min = "1",
              .max = "1000000", .help = "inputs of the bottom layers", .source = "Criteo data set"),
    PARAM_ROW("n_tables", COUNT, DP(n_tables), .def = "26", .min = "1", .max = "100000",
              .help = "tables that are alike, where `tables` lists none",
              .source = "Criteo data set"),
    PARAM_ROW("rows", COUNT, DP(rows), .def = "1000000", .min = "1", .max = "100000000000",
              .help = "of a table"),
    PARAM_ROW("dim", COUNT, DP(dim), .def = "64", .min = "1", .max = "65536",
              .help = "columns of a table"),
    PARAM_ROW("pooling", COUNT, DP(pooling), .def = "1", .min = "1", .max = "1000000",
              .help = "rows of a table that a sample looks up"),
    EMBEDDING_TIER_ROWS(struct dlrm_params, tiers),
};
const size_t n_dlrm_params = sizeof dlrm_params / sizeof *dlrm_params;

void dlrm_free(struct dlrm_spec *d)
{
    free(d->tables);
    free(d->placement);
    free(d->bottom);
    free(d->top);
    *d = (struct dlrm_spec){0};
}

/* ---- placing ---- */

struct piece {
    // dim: columns; lookups: columns times rows looked up; rows: of the table
    uint64_t dim, lookups, rows;
};

static int heaviest_first(const void *a, const void *b)
{
    const struct piece *x = a, *y = b;
    if (x->lookups != y->lookups)
        return x->lookups > y->lookups ? -1 : 1;
    return (x->dim < y->dim) - (x->dim > y->dim);
}

struct placed { // sums on one rank; weights: columns times rows
    uint64_t dim, lookups;
    double weights, rows; // as many as there may be exceed integers
};

static size_t cut(const struct dlrm_spec *d, struct piece *pieces)
{
    uint64_t shards = d->params.sharding == DLRM_COLUMN ? d->params.column_shards : 1;
    size_t n = 0;
    for (size_t t = 0; t < d->n_tables; t++)
        for (uint64_t s = 0; s < shards; s++) {
            uint64_t dim = d->tables[t].dim * (s + 1) / shards - d->tables[t].dim * s / shards;
            pieces[n++] = (struct piece){dim, dim * d->tables[t].pooling, d->tables[t].rows};
        }
    qsort(pieces, n, sizeof *pieces, heaviest_first);
    return n;
}

static void put(struct placed *on, const struct piece *piece)
{
    on->dim += piece->dim;
    on->lookups += piece->lookups;
    on->weights += (double)piece->dim * (double)piece->rows;
    on->rows += (double)piece->rows;
}

static void place_as_given(const struct dlrm_spec *d, struct placed *on)
{
    for (size_t t = 0; t < d->n_tables; t++) {
        const struct dlrm_table *table = &d->tables[t];
        struct piece whole = {table->dim, table->dim * table->pooling, table->rows};
        put(&on[d->placement[t]], &whole);
    }
}

// Put the heaviest remaining piece on the rank with the fewest lookups; the first rank among
// equals.
static struct placed *place(const struct dlrm_spec *d, uint32_t ranks)
{
    uint64_t shards = d->params.sharding == DLRM_COLUMN ? d->params.column_shards : 1;
    struct placed *on = memory_zeroed(ranks, sizeof *on);
    if (d->placement != NULL) {
        place_as_given(d, on);
        return on;
    }
    struct piece *pieces = memory_zeroed(d->n_tables * shards, sizeof *pieces);
    size_t n = cut(d, pieces);
    for (size_t i = 0; i < n; i++) {
        uint32_t best = 0;
        for (uint32_t r = 1; r < ranks; r++)
            if (on[r].lookups < on[best].lookups)
                best = r;
        put(&on[best], &pieces[i]);
    }
    free(pieces);
    return on;
}

uint64_t *dlrm_rank_bytes(const struct dlrm_spec *d, uint32_t ranks)
{
    uint64_t *bytes = memory_zeroed(ranks, sizeof *bytes);
    struct placed *on = place(d, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        bytes[r] = d->params.batch * ranks * on[r].dim * d->params.machine.element_bytes;
    free(on);
    return bytes;
}

/* ---- layers ---- */

static struct dlrm_table sums(const struct dlrm_spec *d) // rows: sum of rows times dim
{
    struct dlrm_table sum = {0};
    for (size_t t = 0; t < d->n_tables; t++) {
        sum.rows += d->tables[t].rows * d->tables[t].dim;
        sum.dim += d->tables[t].dim;
        sum.pooling += d->tables[t].dim * d->tables[t].pooling;
    }
    return sum;
}

// Number of columns that the busiest rank looks up in a pass.
static uint64_t busiest_lookups(const struct dlrm_spec *d, uint32_t ranks)
{
    const struct dlrm_params *p = &d->params;
    uint64_t all = sums(d).pooling * p->batch, most = 0;
    if (p->sharding == DLRM_ROW || p->sharding == DLRM_DATA)
        return all; // either its own samples in all tables, or a share of the rows for all samples
    struct placed *on = place(d, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        most = on[r].lookups > most ? on[r].lookups : most;
    free(on);
    return most * p->batch * ranks;
}

// Weights and rows of the rank with the largest tables.
static struct placed largest_tables(const struct dlrm_spec *d, uint32_t ranks)
{
    int sharding = d->params.sharding;
    struct placed most = {0};
    if (sharding == DLRM_TABLE || sharding == DLRM_COLUMN) {
        struct placed *on = place(d, ranks);
        for (uint32_t r = 0; r < ranks; r++)
            most = on[r].weights > most.weights ? on[r] : most;
        free(on);
        return most;
    }
    for (size_t t = 0; t < d->n_tables; t++) {
        most.weights += (double)d->tables[t].rows * (double)d->tables[t].dim;
        most.rows += (double)d->tables[t].rows;
    }
    most.weights /= sharding == DLRM_ROW ? ranks : 1;
    most.rows /= sharding == DLRM_ROW ? ranks : 1;
    return most;
}

// Gradients are those of the rows that a batch looks up, and row-wise AdaGrad keeps 4 bytes a row
// (Mudigere et al., ISCA 2022); between the passes a rank keeps the pooled vectors of its own
// samples.
static struct training_held held_tables(const struct dlrm_spec *d, uint32_t ranks)
{
    const struct dlrm_params *p = &d->params;
    double element = (double)p->machine.element_bytes;
    struct placed most = largest_tables(d, ranks);
    double lookups = (double)busiest_lookups(d, ranks), vectors = (double)p->batch,
           tables = most.weights * element,
           here = p->tiers.hbm == PARAM_AUTO ? tables : fmin(tables, (double)p->tiers.hbm);
    return (struct training_held){
        .weights_known = true,
        .activations_known = true,
        .weight_bytes = footprint_bytes(here),
        .activation_bytes = footprint_bytes(vectors * (double)sums(d).dim * element),
        .table = true,
        .gradient_bytes = footprint_bytes(lookups * element),
        .state_bytes = footprint_bytes(4 * most.rows * here / fmax(tables, 1))};
}

// Time to fetch the rows of a pass that are not in the GPU's memory: each table's, as often as its
// share of the lookups of the busiest rank.
static double fetch_ns(const struct dlrm_spec *d, uint32_t ranks)
{
    const struct dlrm_params *p = &d->params;
    if (p->tiers.hbm == PARAM_AUTO)
        return 0;
    double columns = (double)busiest_lookups(d, ranks), all = (double)sums(d).pooling,
           bytes = largest_tables(d, ranks).weights * (double)p->machine.element_bytes, ns = 0;
    struct tier_shares shares = {0};
    for (size_t t = 0; t < d->n_tables; t++) {
        const struct dlrm_table *table = &d->tables[t];
        if (t == 0 || table->rows != table[-1].rows) // tables that are alike share the sums of Zipf
            shares = embedding_tier_shares(&p->tiers, bytes, (double)table->rows);
        double pieces = p->sharding == DLRM_COLUMN ? (double)p->column_shards : 1,
               rows = columns * (double)table->pooling / all * pieces,
               row = (double)table->dim / pieces * (double)p->machine.element_bytes;
        ns += rows * embedding_fetch_ns(&p->tiers, &shares, row);
    }
    return ns;
}

static struct training_layer embedding(const struct dlrm_spec *d, uint32_t ranks)
{
    const struct dlrm_params *p = &d->params;
    double bytes = (double)busiest_lookups(d, ranks) * (double)p->machine.element_bytes;
    uint64_t ns = (uint64_t)(bytes / p->machine.memory_gbs + 0.5),
             fetch = (uint64_t)(fetch_ns(d, ranks) + 0.5);
    struct training_layer layer = {.name = memory_text("embedding"),
                                   .keyword = TRAINING_HYBRID_DLRM,
                                   .held = held_tables(d, ranks)};
    layer.parts[TRAINING_FWD] =
        (struct training_step){.compute_ns = fetch + ns, .op = TRAINING_NO_OP};
    layer.parts[TRAINING_IG] = (struct training_step){.op = TRAINING_NO_OP};
    layer.parts[TRAINING_WG] =
        (struct training_step){.compute_ns = 2 * ns + fetch, .op = TRAINING_NO_OP};
    for (int part = TRAINING_FWD; part <= TRAINING_IG && p->sharding != DLRM_DATA; part++) {
        struct training_step *step = &layer.parts[part];
        step->op = COLL_ALL_TO_ALL;
        step->bytes = p->batch * ranks * sums(d).dim * p->machine.element_bytes;
        if (p->sharding == DLRM_ROW)
            continue;
        step->rank_bytes = dlrm_rank_bytes(d, ranks);
        step->n_rank_bytes = ranks;
        step->of_receiver = part == TRAINING_IG;
        step->bytes = 0;
        for (uint32_t r = 0; r < ranks; r++)
            step->bytes = step->rank_bytes[r] > step->bytes ? step->rank_bytes[r] : step->bytes;
    }
    if (p->sharding == DLRM_DATA) {
        layer.parts[TRAINING_WG].op = COLL_ALL_REDUCE;
        layer.parts[TRAINING_WG].bytes = sums(d).rows * p->machine.element_bytes;
    }
    return layer;
}

// Append dense layers of these widths after `inputs`; returns the end of the layers.
static struct training_layer *dense(struct training_layer *out, const struct dlrm_spec *d,
                                    const char *name, uint64_t inputs, const uint64_t *widths,
                                    size_t n)
{
    const struct dlrm_params *p = &d->params;
    for (size_t i = 0; i < n; i++) {
        char text[64];
        snprintf(text, sizeof text, "%s_%zu", name, i);
        struct gemm product = {text, p->batch, widths[i], inputs};
        struct training_spec one = gemm_training(&product, 1, GEMM_DATA, &p->machine);
        *out = one.layers[0];
        out->keyword = TRAINING_HYBRID_DLRM;
        out->held.activations_known = true; // the inputs of the product
        out->held.activation_bytes = p->batch * inputs * p->machine.element_bytes;
        free(one.layers);
        inputs = widths[i];
        out++;
    }
    return out;
}

struct training_spec dlrm_training(const struct dlrm_spec *d, uint32_t ranks)
{
    struct training_spec spec = {.keyword = TRAINING_HYBRID_DLRM,
                                 .last_bottom_layer = (uint32_t)d->n_bottom,
                                 .n_layers = 1 + d->n_bottom + d->n_top,
                                 .element_bytes = d->params.machine.element_bytes};
    uint64_t vectors =
        d->n_tables + 1; // dot products of all pairs, plus the output of the bottom layers
    uint64_t interaction = vectors * (vectors - 1) / 2 + d->bottom[d->n_bottom - 1];
    spec.layers = memory_zeroed(spec.n_layers, sizeof *spec.layers);
    spec.layers[0] = embedding(d, ranks);
    struct training_layer *next =
        dense(&spec.layers[1], d, "bottom", d->params.dense_features, d->bottom, d->n_bottom);
    dense(next, d, "top", interaction, d->top, d->n_top);
    return spec;
}
