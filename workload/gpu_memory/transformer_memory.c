// SPDX-License-Identifier: MIT
// The memory of a rank: model states, buffers, and activations of the passes in flight.
#include "workload/gpu_memory/transformer.h"

#include <math.h>
#include <stddef.h>

/* ---- model states ---- */

// Dense parameters have replicas on data, context and expert ranks, those of experts on data and
// context ranks (workload/llm/llm_layout.h).
static double dense_replicas(const struct transformer_layout *l)
{
    return (double)(l->data * l->context * l->expert);
}

static double expert_replicas(const struct transformer_layout *l)
{
    return (double)(l->data * l->context);
}

// Parts of the model whose parameters and gradients are exchanged one by one.
struct part {
    double dense, experts;
};

static double part_share(const struct transformer_layout *l, const struct part *p, bool sharded)
{
    return sharded
               ? p->dense * (1 - 1 / dense_replicas(l)) + p->experts * (1 - 1 / expert_replicas(l))
               : 0;
}

// Sums over the parts of a stage, and the largest of two parts that follow each other.
struct stage_parts {
    struct part sum;
    double single, pair; // parameters beyond the rank's own shards
    double last;
};

static void add_part(const struct transformer_layout *l, struct stage_parts *s, struct part part)
{
    double more = part_share(l, &part, true);
    s->sum.dense += part.dense;
    s->sum.experts += part.experts;
    s->single = fmax(s->single, more);
    s->pair = fmax(s->pair, s->last + more);
    s->last = more;
}

static struct stage_parts parts_of(const struct transformer_training *t, uint32_t stage)
{
    const struct pipeline *p = &t->layout.pipeline;
    struct stage_parts s = {0};
    struct part table = {(double)transformer_embedding_parameters(t), 0};
    for (uint32_t chunk = 0; chunk < p->chunks; chunk++) {
        uint32_t place = chunk * p->stages + stage;
        struct layer_span span = transformer_chunk_layers(t, place);
        s.last = 0;
        if (place == 0)
            add_part(&t->layout, &s, table);
        for (uint32_t i = span.first; i < span.first + span.n; i++)
            add_part(&t->layout, &s,
                     (struct part){(double)transformer_dense_parameters(t, i),
                                   (double)transformer_expert_parameters(t, i)});
        if (place + 1 == p->stages * p->chunks)
            add_part(&t->layout, &s, table);
    }
    return s;
}

/* ---- buffers ---- */

// ZeRO 3 gathers the parameters of a part while the part before it computes; ZeRO 2 and 3 scatter
// the gradients of a part, with `overlap` while the next one computes: what is beyond the rank's
// own shards is in memory besides (workload/llm/llm_source.c).
static double gathered_bytes(const struct transformer_layout *l, const struct stage_parts *s)
{
    double parameters = l->zero >= 3 ? s->pair : 0;
    double gradients = l->zero < 2 ? 0 : l->overlap ? s->pair : s->single;
    return parameters * (double)l->bytes.parameter + gradients * (double)l->bytes.gradient;
}

static double largest_rows(const struct transformer_training *t, uint32_t stage, const double *rows)
{
    const struct pipeline *p = &t->layout.pipeline;
    double most = 0, even = transformer_even_rows(t);
    for (uint32_t chunk = 0; chunk < p->chunks && t->model.experts > 0; chunk++) {
        struct layer_span span = transformer_chunk_layers(t, chunk * p->stages + stage);
        for (uint32_t layer = span.first; layer < span.first + span.n; layer++)
            if (transformer_is_moe(&t->model, layer))
                most = fmax(most, rows != NULL ? rows[layer] : even);
    }
    return most;
}

// Exchanges that are not in place: gathered activations and unreduced sums of sequence parallelism;
// a message on its way to, and one from, each neighbour in the pipeline; tokens sent to experts and
// received; gradients of the gathered keys and values.
static double buffer_bytes(const struct transformer_training *t, uint32_t stage, const double *rows)
{
    const struct transformer_layout *l = &t->layout;
    const struct pipeline *p = &l->pipeline;
    double n = (double)l->micro_batch * (double)t->model.sequence / (double)l->context;
    double row = (double)t->model.hidden * (double)l->activation_bytes, most, bytes = 0;
    double share = l->sequence_parallel ? (double)l->tensor : 1;
    bool ring = p->stages > 1 && p->chunks > 1; // the last stage sends to the first
    unsigned neighbours = (ring || stage > 0 ? 1U : 0U) + (ring || stage + 1 < p->stages ? 1U : 0U);
    most = largest_rows(t, stage, rows);
    if (l->tensor > 1 && l->sequence_parallel)
        bytes += 2 * fmax(n, most) * row;
    bytes += 2 * neighbours * n * row / share;
    if (l->expert > 1 && most > 0)
        bytes += (n * (double)t->model.top_k + most) * row / share;
    if (l->context > 1)
        bytes += 2 * n * (double)l->context * transformer_kv_hidden(t) / (double)l->tensor *
                 (double)l->activation_bytes;
    return bytes;
}

struct footprint transformer_static(const struct transformer_training *t, uint32_t stage,
                                    const double *rows)
{
    const struct transformer_layout *l = &t->layout;
    struct stage_parts parts = parts_of(t, stage);
    struct footprint sum = footprint_states(parts.sum.dense, dense_replicas(l), l->zero, &l->bytes);
    struct footprint experts =
        footprint_states(parts.sum.experts, expert_replicas(l), l->zero, &l->bytes);
    footprint_add(&sum, &experts);
    sum.bytes[FOOTPRINT_TEMPORARY] = footprint_bytes(gathered_bytes(l, &parts));
    sum.bytes[FOOTPRINT_COMMUNICATION] = footprint_bytes(buffer_bytes(t, stage, rows));
    return sum;
}

/* ---- passes ---- */

struct transformer_walk transformer_walk_begin(const struct transformer_training *t, uint32_t stage,
                                               const double *rows)
{
    return (struct transformer_walk){
        .training = t, .stage = stage, .rows = rows, .fixed = transformer_static(t, stage, rows)};
}

bool transformer_walk_next(struct transformer_walk *w, struct pipeline_pass *pass,
                           struct footprint *within)
{
    const struct pipeline *p = &w->training->layout.pipeline;
    if (w->pass == pipeline_passes(p))
        return false;
    *pass = pipeline_pass_at(p, w->stage, w->pass++);
    struct kept_activations chunk =
        transformer_chunk_activations(w->training, w->stage, pass->chunk, w->rows);
    if (!pass->backward) {
        w->kept_bytes += chunk.kept_bytes;
        w->kept_passes++;
    }
    *within = w->fixed;
    within->bytes[FOOTPRINT_ACTIVATIONS] = footprint_bytes(w->kept_bytes);
    if (pass->backward) {
        double fixed = (double)w->fixed.bytes[FOOTPRINT_TEMPORARY];
        within->bytes[FOOTPRINT_TEMPORARY] = footprint_bytes(fixed + chunk.recomputed_bytes);
        w->kept_bytes -= chunk.kept_bytes;
        w->kept_passes--;
    }
    return true;
}

// Without chunks the largest pass is the first backward one, with the most passes in flight.
static struct transformer_peak peak_at_once(const struct transformer_training *t, uint32_t stage,
                                            const double *rows)
{
    struct kept_activations chunk = transformer_chunk_activations(t, stage, 0, rows);
    uint64_t kept = pipeline_in_flight(&t->layout.pipeline, stage);
    struct transformer_peak peak = {
        .footprint = transformer_static(t, stage, rows), .pass = kept, .kept_passes = kept};
    double fixed = (double)peak.footprint.bytes[FOOTPRINT_TEMPORARY];
    peak.footprint.bytes[FOOTPRINT_TEMPORARY] = footprint_bytes(fixed + chunk.recomputed_bytes);
    peak.footprint.bytes[FOOTPRINT_ACTIVATIONS] = footprint_bytes((double)kept * chunk.kept_bytes);
    return peak;
}

struct transformer_peak transformer_peak(const struct transformer_training *t, uint32_t stage,
                                         const double *rows)
{
    const struct pipeline *p = &t->layout.pipeline;
    struct transformer_walk walk;
    struct transformer_peak peak = {0};
    struct pipeline_pass pass;
    struct footprint within;
    if (p->chunks == 1)
        return peak_at_once(t, stage, rows);
    // After the warm-up a round of forward and backward passes of all chunks repeats until the
    // forward passes end, and then memory only shrinks: two rounds show the largest.
    uint64_t most = pipeline_in_flight(p, stage) + 4 * (uint64_t)p->stages * p->chunks;
    walk = transformer_walk_begin(t, stage, rows);
    for (uint64_t k = 0; k < most && transformer_walk_next(&walk, &pass, &within); k++)
        if (footprint_total(&within) > footprint_total(&peak.footprint))
            peak = (struct transformer_peak){
                .footprint = within, .pass = k, .kept_passes = walk.kept_passes + pass.backward};
    return peak;
}
