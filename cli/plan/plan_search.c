// SPDX-License-Identifier: MIT
#include "cli/plan/plan_search.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define CONTEXT_MOST 16
#define MICRO_BATCH_MOST 16
#define VIRTUAL_MOST 8

struct searching {
    const struct plan_question *q;
    struct plan_found *found;
    struct plan_layout best; // of the present degrees
    bool any;
};

/* ---- a layout ---- */

static uint64_t most_bytes(const struct transformer_training *t)
{
    // The first stage keeps most activations, the last has the logits, the second has neither of
    // the tables.
    uint32_t stages = t->layout.pipeline.stages, places[] = {0, stages > 2 ? 1 : 0, stages - 1};
    uint64_t most = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct transformer_peak peak = transformer_peak(t, places[i], NULL);
        uint64_t bytes = footprint_total(&peak.footprint);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static void look(struct searching *s, const struct llm_params *p)
{
    struct llm_spec spec = llm_spec_of(p);
    uint64_t bytes = most_bytes(&spec.training);
    s->found->legal++;
    if (bytes < s->found->least_bytes)
        s->found->least_bytes = bytes;
    if (s->q->capacity_bytes > 0 && bytes > s->q->capacity_bytes)
        return;
    s->found->fit++;
    struct iteration_time time = iteration_time(&spec, &s->q->network);
    if (s->any && time.total >= s->best.time.total)
        return;
    s->any = true;
    s->best = (struct plan_layout){*p, time, bytes};
}

/* ---- settings of given degrees ---- */

// Whole layers a stage, or with the embedding and the logits as layers; sets which.
static bool divides_layers(struct llm_params *p, uint64_t places)
{
    p->tables_as_layers = p->layers % places != 0;
    return !p->tables_as_layers || (p->layers + 2 >= 2 * places && (p->layers + 2) % places == 0);
}

static void look_at_settings(struct searching *s, struct llm_params *p)
{
    uint64_t copies = p->degrees[LLM_DATA] * p->degrees[LLM_CONTEXT] * p->degrees[LLM_EXPERT];
    for (p->zero = 0; p->zero <= (copies > 1 ? 3u : 0u); p->zero++)
        for (p->recompute = RECOMPUTE_NONE; p->recompute <= RECOMPUTE_FULL; p->recompute++)
            look(s, p);
}

static void look_at_schedules(struct searching *s, struct llm_params *p)
{
    uint64_t stages = p->degrees[LLM_PIPELINE],
             m = p->global_batch / (p->degrees[LLM_DATA] * p->degrees[LLM_EXPERT] * p->micro_batch);
    for (uint64_t v = 1; v <= (stages > 1 ? VIRTUAL_MOST : 1); v++) {
        if (!divides_layers(p, stages * v) || (v > 1 && m % stages != 0))
            continue;
        p->virtual_stages = v;
        p->schedule = v > 1 ? PIPELINE_INTERLEAVED : PIPELINE_1F1B;
        look_at_settings(s, p);
    }
}

static int by_time(const void *a, const void *b)
{
    const struct plan_layout *x = a, *y = b;
    if (x->time.total < y->time.total || x->time.total > y->time.total)
        return x->time.total < y->time.total ? -1 : 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        if (x->params.degrees[d] != y->params.degrees[d])
            return x->params.degrees[d] < y->params.degrees[d] ? -1 : 1;
    return 0;
}

static void look_at_batches(struct searching *s, struct llm_params *p)
{
    uint64_t replicas = p->degrees[LLM_DATA] * p->degrees[LLM_EXPERT];
    struct plan_found *f = s->found;
    s->any = false;
    for (p->micro_batch = 1; p->micro_batch <= MICRO_BATCH_MOST; p->micro_batch *= 2)
        if (p->global_batch % (replicas * p->micro_batch) == 0)
            look_at_schedules(s, p);
    if (!s->any)
        return;
    if (f->n == f->cap)
        f->layouts = memory_grow(f->layouts, &f->cap, sizeof *f->layouts);
    f->layouts[f->n++] = s->best;
}

/* ---- degrees ---- */

static bool divides_shapes(const struct llm_params *p)
{
    uint64_t t = p->degrees[LLM_TENSOR], c = p->degrees[LLM_CONTEXT];
    return p->heads % t == 0 && p->hidden % t == 0 &&
           p->sequence % (c * (p->sequence_parallel ? t : 1)) == 0 &&
           (p->layers % p->degrees[LLM_PIPELINE] == 0 ||
            (p->layers + 2) % p->degrees[LLM_PIPELINE] == 0);
}

static void look_at_data(struct searching *s, struct llm_params *p)
{
    uint64_t others = p->degrees[LLM_TENSOR] * p->degrees[LLM_CONTEXT] * p->degrees[LLM_EXPERT] *
                      p->degrees[LLM_PIPELINE];
    if (others > s->q->gpus || s->q->gpus % others != 0)
        return;
    p->degrees[LLM_DATA] = s->q->gpus / others;
    if (divides_shapes(p))
        look_at_batches(s, p);
}

static void look_at_experts(struct searching *s, struct llm_params *p)
{
    uint64_t most = p->experts > 0 ? p->experts : 1;
    for (uint64_t e = 1; e <= most; e++) {
        p->degrees[LLM_EXPERT] = e;
        if (most % e == 0)
            look_at_data(s, p);
    }
}

void plan_search(const struct plan_question *q, struct plan_found *found)
{
    struct searching s = {.q = q, .found = found};
    struct llm_params p = q->job;
    *found = (struct plan_found){.least_bytes = UINT64_MAX};
    for (uint64_t t = 1; t <= q->network.server && t <= p.heads; t++)
        for (uint64_t stages = 1; p.heads % t == 0 && stages <= p.layers; stages++)
            for (uint64_t c = 1; c <= CONTEXT_MOST; c *= 2) {
                p.degrees[LLM_TENSOR] = t;
                p.degrees[LLM_PIPELINE] = stages;
                p.degrees[LLM_CONTEXT] = c;
                look_at_experts(&s, &p);
            }
    if (found->n > 0)
        qsort(found->layouts, found->n, sizeof *found->layouts, by_time);
}
