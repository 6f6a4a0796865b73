// SPDX-License-Identifier: MIT
#include "cli/plan/layout_scenario.h"

#include "workload/llm/llm_spec.h"

static uint64_t ranks_of(const struct llm_params *p)
{
    uint64_t ranks = 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        ranks *= p->degrees[d];
    return ranks;
}

static void set(json_t *job, const char *key, uint64_t value)
{
    json_object_set_new(job, key, json_integer((json_int_t)value));
}

static void write_job(json_t *job, const struct llm_params *p)
{
    static const char *const not_kept[] = {"placement", "ranks", "mapping", "stride"};
    for (size_t i = 0; i < sizeof not_kept / sizeof *not_kept; i++)
        json_object_del(job, not_kept[i]);
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        set(job, llm_degree_names[d], p->degrees[d]);
    set(job, "layers", p->layers);
    set(job, "global_batch", p->global_batch);
    set(job, "micro_batch", p->micro_batch);
    set(job, "virtual_stages", p->virtual_stages);
    set(job, "iterations", p->iterations);
    json_object_set_new(job, "tables_as_layers", json_boolean(p->tables_as_layers));
    set(job, "zero", p->zero);
    json_object_set_new(job, "schedule", json_string(pipeline_schedules[p->schedule]));
    json_object_set_new(job, "recompute", json_string(recompute_names[p->recompute]));
}

static struct shrunk scenario_of_params(const struct cluster *m, const struct llm_params *p,
                                        struct err *err)
{
    struct shrunk s = {.params = *p, .gpus = (uint32_t)ranks_of(p)};
    s.scenario = cluster_grown(m, s.gpus, err);
    if (s.scenario == NULL)
        return s;
    write_job(draft_job(s.scenario), p);
    return s;
}

// Replicas that fill whole servers, two of them if there are so many.
static uint64_t replicas_of(const struct cluster *m, const struct llm_params *p)
{
    uint64_t most = p->degrees[LLM_DATA], others = ranks_of(p) / most;
    for (uint64_t data = most < 2 ? most : 2; data < most; data++) {
        uint64_t ranks = others * data;
        if ((ranks % m->server == 0 || m->server == 1) && ranks > m->server)
            return data;
    }
    return most;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

struct shrunk layout_shrunk(const struct cluster *m, const struct plan_layout *layout,
                            enum shrinking shrinking, struct err *err)
{
    struct llm_params p = layout->params;
    bool most = shrinking == SHRINK_MOST, tables = p.tables_as_layers;
    uint64_t stages = p.degrees[LLM_PIPELINE], period = p.experts > 0 ? p.moe_every : 1,
             micro_batches =
                 p.global_batch / (p.degrees[LLM_DATA] * p.degrees[LLM_EXPERT] * p.micro_batch),
             least = most ? stages : 2 * stages;
    least = least < (most ? 2 : 4) ? (most ? 2 : 4) : least;
    if (shrinking >= SHRINK_REPLICAS)
        p.degrees[LLM_DATA] = replicas_of(m, &p);
    if (shrinking >= SHRINK_LAYERS)
        p.layers = lesser(p.layers, stages * p.virtual_stages * period * (most && !tables ? 1 : 4) -
                                        (tables ? 2 : 0));
    if (shrinking >= SHRINK_MICRO_BATCHES)
        micro_batches = lesser(micro_batches, least);
    p.global_batch = micro_batches * p.degrees[LLM_DATA] * p.degrees[LLM_EXPERT] * p.micro_batch;
    p.iterations = 1;
    return scenario_of_params(m, &p, err);
}
