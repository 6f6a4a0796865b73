// SPDX-License-Identifier: MIT
// Presets and formulas.
#include "workload/llm/llm_spec.h"

#include "engine/base/units.h"
#include "workload/gpu_memory/device.h"
#include "workload/gpu_memory/optimizer.h"
#include "workload/llm/llm_time.h"

const char *const llm_degree_names[] = {"tensor", "context", "expert", "data", "pipeline", NULL};

/* ---- presets ---- */

struct model {
    uint64_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary, experts, top_k;
    bool gated, dropout;
};

const char *const llm_models[] = {"custom",      "gpt_13b",      "gpt3_175b", "llama3_70b",
                                  "llama3_405b", "mixtral_8x7b", NULL};

// Brown et al., 2020, table 2.1 (vocabulary padded to a multiple of 1024; 13B with 40 heads of
// 128); Grattafiori et al., 2024, table 3; Jiang et al., 2024, table 1 (with sequences of 4096 in
// place of its context of 32768). The GPTs are trained with dropout, as Megatron-LM does by default
// (Korthikanti et al., 2023, section 4.1, counts its masks); the others are not.
static const struct model models[] = {
    {.dropout = true},
    {40, 5120, 40, 40, 20480, 2048, 51200, 0, 0, false, true},
    {96, 12288, 96, 96, 49152, 2048, 51200, 0, 0, false, true},
    {80, 8192, 64, 8, 28672, 8192, 128256, 0, 0, true, false},
    {126, 16384, 128, 8, 53248, 8192, 128256, 0, 0, true, false},
    {32, 4096, 32, 8, 14336, 4096, 32000, 8, 2, true, false},
};

static void fill(uint64_t *value, uint64_t preset)
{
    if (*value == PARAM_AUTO && preset > 0)
        *value = preset;
}

size_t llm_resolve(struct llm_params *p, const char **missing, size_t max)
{
    const struct model *m = &models[p->model];
    const struct device *gpu = &devices[p->gpu];
    size_t n = 0;
    fill(&p->layers, m->layers);
    fill(&p->hidden, m->hidden);
    fill(&p->heads, m->heads);
    fill(&p->sequence, m->sequence);
    fill(&p->vocabulary, m->vocabulary);
    const struct {
        const char *key;
        uint64_t value;
    } needed[] = {{"layers", p->layers},
                  {"hidden", p->hidden},
                  {"heads", p->heads},
                  {"sequence", p->sequence},
                  {"vocabulary", p->vocabulary}};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (needed[i].value == PARAM_AUTO && n < max)
            missing[n++] = needed[i].key;
    fill(&p->kv_heads, m->kv_heads > 0 ? m->kv_heads : p->heads);
    fill(&p->ffn, m->ffn > 0 ? m->ffn : 4 * p->hidden);
    if (p->experts == PARAM_AUTO)
        p->experts = m->experts;
    if (p->top_k == PARAM_AUTO)
        p->top_k = m->top_k > 0 ? m->top_k : 2;
    fill(&p->expert_ffn, p->ffn);
    if (p->gated == 2) // auto
        p->gated = m->gated;
    if (p->dropout == 2) // auto
        p->dropout = m->dropout;
    enum optimizer optimizer = (enum optimizer)p->optimizer;
    fill(&p->optimizer_bytes, optimizer_traffic_bytes(optimizer, p->parameter_bytes));
    if (p->state_bytes == PARAM_AUTO)
        p->state_bytes = optimizer_state_bytes(optimizer, p->parameter_bytes);
    p->peak_tflops = p->peak_tflops > 0 ? p->peak_tflops : gpu->peak_tflops;
    p->memory_gbps = p->memory_gbps > 0 ? p->memory_gbps : gpu->memory_gbps;
    return n;
}

static struct transformer model_of(const struct llm_params *p)
{
    return (struct transformer){.layers = p->layers,
                                .hidden = p->hidden,
                                .heads = p->heads,
                                .kv_heads = p->kv_heads,
                                .ffn = p->ffn,
                                .sequence = p->sequence,
                                .vocabulary = p->vocabulary,
                                .experts = p->experts,
                                .top_k = p->top_k,
                                .expert_ffn = p->expert_ffn,
                                .moe_every = p->moe_every,
                                .gated = p->gated != 0,
                                .dropout = p->dropout != 0};
}

static struct transformer_layout layout_of(const struct llm_params *p)
{
    uint64_t replicas = p->degrees[LLM_DATA] * p->degrees[LLM_EXPERT];
    return (struct transformer_layout){
        .tensor = p->degrees[LLM_TENSOR],
        .context = p->degrees[LLM_CONTEXT],
        .expert = p->degrees[LLM_EXPERT],
        .data = p->degrees[LLM_DATA],
        .pipeline = {.schedule = p->schedule,
                     .stages = (uint32_t)p->degrees[LLM_PIPELINE],
                     .chunks = (uint32_t)p->virtual_stages,
                     .micro_batches = (uint32_t)(p->global_batch / (replicas * p->micro_batch))},
        .tables_as_layers = p->tables_as_layers,
        .micro_batch = p->micro_batch,
        .zero = (unsigned)p->zero,
        .recompute = p->recompute,
        .sequence_parallel = p->sequence_parallel,
        .overlap = p->overlap,
        .activation_bytes = p->activation_bytes,
        .bytes = {p->parameter_bytes, p->gradient_bytes, p->state_bytes}};
}

struct llm_spec llm_spec_of(const struct llm_params *p)
{
    struct llm_spec s = {
        .p = *p,
        .training = {model_of(p), layout_of(p)},
        .bytes_per_ps = p->memory_gbps * 1e-3,
        .by_shape = p->efficiency == PARAM_AUTO_RATIO,
        .gpu = kernel_gpu_of((enum device_name)p->gpu, p->peak_tflops, p->memory_gbps)};
    s.flops_per_ps =
        s.by_shape ? s.gpu.flops_ps[NUMBER_16BIT] : p->peak_tflops * p->efficiency; // 1e12 / 1e12
    if (s.by_shape)
        llm_time_parts(&s);
    return s;
}

/* ---- shapes ---- */

bool llm_is_moe(const struct llm_spec *s, uint32_t layer)
{
    return transformer_is_moe(&s->training.model, layer);
}

static double tensor(const struct llm_spec *s) { return (double)s->p.degrees[LLM_TENSOR]; }
static double matrices(const struct llm_spec *s) { return s->p.gated != 0 ? 3 : 2; }

static double kv_hidden(const struct llm_spec *s) { return transformer_kv_hidden(&s->training); }

uint64_t llm_tokens(const struct llm_spec *s)
{
    return s->p.micro_batch * s->p.sequence / s->p.degrees[LLM_CONTEXT];
}

/* ---- parameters ---- */

uint64_t llm_dense_parameters(const struct llm_spec *s, uint32_t layer)
{
    return transformer_dense_parameters(&s->training, layer);
}

uint64_t llm_expert_parameters(const struct llm_spec *s, uint32_t layer)
{
    return transformer_expert_parameters(&s->training, layer);
}

uint64_t llm_embedding_parameters(const struct llm_spec *s)
{
    return transformer_embedding_parameters(&s->training);
}

/* ---- operations ---- */

double llm_attention_core_flops(const struct llm_spec *s)
{
    return 4 * (double)llm_tokens(s) * (double)s->p.sequence * (double)s->p.hidden / tensor(s);
}

double llm_attention_flops(const struct llm_spec *s)
{
    double h = (double)s->p.hidden;
    return 2 * (double)llm_tokens(s) * (h * (h + 2 * kv_hidden(s)) + h * h) / tensor(s) +
           llm_attention_core_flops(s);
}

double llm_ffn_flops(const struct llm_spec *s)
{
    return 2 * (double)llm_tokens(s) * matrices(s) * (double)s->p.hidden * (double)s->p.ffn /
           tensor(s);
}

double llm_logit_flops(const struct llm_spec *s)
{
    return 2 * (double)llm_tokens(s) * (double)s->p.hidden * (double)s->p.vocabulary / tensor(s);
}

double llm_expert_token_flops(const struct llm_spec *s)
{
    return 2 * matrices(s) * (double)s->p.hidden * (double)s->p.expert_ffn / tensor(s);
}

// Megatron-LM (Narayanan et al., SC 2021, section 5.1) counts the same products; the backward pass
// has twice those of the forward pass.
double llm_model_flops(const struct llm_spec *s)
{
    double layers = 0, shards = tensor(s) * (double)s->p.degrees[LLM_CONTEXT];
    double tokens = (double)llm_tokens(s) * (double)s->p.top_k;
    for (uint32_t l = 0; l < s->p.layers; l++)
        layers += llm_attention_flops(s) +
                  (llm_is_moe(s, l) ? tokens * llm_expert_token_flops(s) : llm_ffn_flops(s));
    double passes = (double)s->p.global_batch / (double)s->p.micro_batch;
    return 3 * passes * shards * (layers + llm_logit_flops(s));
}

ps_t llm_optimizer_ps(const struct llm_spec *s, double parameters)
{
    return (ps_t)(parameters * (double)s->p.optimizer_bytes / s->bytes_per_ps + 0.5);
}

/* ---- messages ---- */

uint64_t llm_tensor_bytes(const struct llm_spec *s)
{
    return llm_tokens(s) * s->p.hidden * s->p.activation_bytes;
}

static uint64_t sharded(const struct llm_spec *s, uint64_t bytes)
{
    return s->p.sequence_parallel ? bytes / s->p.degrees[LLM_TENSOR] : bytes;
}

uint64_t llm_boundary_bytes(const struct llm_spec *s) { return sharded(s, llm_tensor_bytes(s)); }

uint64_t llm_context_bytes(const struct llm_spec *s)
{
    return (uint64_t)(2 * (double)(s->p.micro_batch * s->p.sequence) * kv_hidden(s) / tensor(s)) *
           s->p.activation_bytes;
}

uint64_t llm_dispatch_bytes(const struct llm_spec *s)
{
    return sharded(s, llm_tokens(s) * s->p.top_k * s->p.hidden * s->p.activation_bytes);
}
