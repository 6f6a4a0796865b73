// SPDX-License-Identifier: MIT
// Parameters of a layer: query, key, value and projection, the matrices of the feed-forward part or
// of the experts and their router, and two norms (Vaswani et al., 2017; Shazeer, 2020, for gated
// parts). Norms and router are replicated over tensor-parallel ranks.
#include "workload/gpu_memory/transformer.h"

#include <stddef.h>

const char *const recompute_names[] = {"none", "selective", "full", NULL};

bool transformer_is_moe(const struct transformer *m, uint32_t layer)
{
    return m->experts > 0 && (layer + 1) % m->moe_every == 0;
}

static double tensor(const struct transformer_training *t) { return (double)t->layout.tensor; }

static double matrices(const struct transformer *m) { return m->gated ? 3 : 2; }

double transformer_kv_hidden(const struct transformer_training *t)
{
    const struct transformer *m = &t->model;
    uint64_t kv = m->kv_heads, ranks = t->layout.tensor;
    return (double)m->hidden / (double)m->heads * (double)(kv > ranks ? kv : ranks);
}

uint64_t transformer_dense_parameters(const struct transformer_training *t, uint32_t layer)
{
    const struct transformer *m = &t->model;
    bool moe = transformer_is_moe(m, layer);
    double h = (double)m->hidden, attention = h * (h + 2 * transformer_kv_hidden(t)) + h * h;
    double ffn = moe ? 0 : matrices(m) * h * (double)m->ffn;
    double router = moe ? h * (double)m->experts : 0;
    return (uint64_t)((attention + ffn) / tensor(t) + router + 2 * h);
}

uint64_t transformer_expert_parameters(const struct transformer_training *t, uint32_t layer)
{
    const struct transformer *m = &t->model;
    double own = (double)m->experts / (double)t->layout.expert;
    return transformer_is_moe(m, layer) ? (uint64_t)(own * matrices(m) * (double)m->hidden *
                                                     (double)m->expert_ffn / tensor(t))
                                        : 0;
}

uint64_t transformer_embedding_parameters(const struct transformer_training *t)
{
    return (uint64_t)((double)t->model.vocabulary * (double)t->model.hidden / tensor(t));
}

struct layer_span transformer_chunk_layers(const struct transformer_training *t, uint32_t place)
{
    const struct pipeline *p = &t->layout.pipeline;
    uint32_t places = p->stages * p->chunks, tables = t->layout.tables_as_layers ? 1 : 0,
             each = ((uint32_t)t->model.layers + 2 * tables) / places,
             first = place > 0 ? tables : 0; // the embedding is before it
    return (struct layer_span){place * each - first, each - (place == 0 ? tables : 0) -
                                                         (place + 1 == places ? tables : 0)};
}
