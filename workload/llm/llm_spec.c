// SPDX-License-Identifier: MIT
// Presets and formulas.
#include "workload/llm/llm_spec.h"

#include <math.h>

#include "engine/units.h"

const char *const llm_degree_names[] = {"tensor", "context", "expert", "data", "pipeline", NULL};

/* ---- presets ---- */

struct model {
    uint64_t layers, hidden, heads, kv_heads, ffn, sequence, vocabulary, experts, top_k;
    bool gated;
};

const char *const llm_models[] = {"custom",      "gpt_13b",      "gpt3_175b", "llama3_70b",
                                  "llama3_405b", "mixtral_8x7b", NULL};

// Brown et al., 2020, table 2.1 (vocabulary padded to a multiple of 1024; 13B with 40 heads of
// 128); Grattafiori et al., 2024, table 3; Jiang et al., 2024, table 1 (with sequences of 4096 in
// place of its context of 32768).
static const struct model models[] = {
    {0},
    {40, 5120, 40, 40, 20480, 2048, 51200, 0, 0, false},
    {96, 12288, 96, 96, 49152, 2048, 51200, 0, 0, false},
    {80, 8192, 64, 8, 28672, 8192, 128256, 0, 0, true},
    {126, 16384, 128, 8, 53248, 8192, 128256, 0, 0, true},
    {32, 4096, 32, 8, 14336, 4096, 32000, 8, 2, true},
};

struct gpu {
    double peak_tflops, memory_gbps;
};

const char *const llm_gpus[] = {"v100", "a100", "h100", "h200", "b200", "mi300x", NULL};

// Dense 16-bit matrix operations and memory bandwidth, from the makers' data sheets: V100 SXM2,
// A100 SXM 80 GB, H100 SXM, H200 SXM, B200 (HGX), MI300X.
static const struct gpu gpus[] = {{125, 900},    {312, 2039},  {989.4, 3350},
                                  {989.4, 4800}, {2250, 8000}, {1307.4, 5300}};

static void fill(uint64_t *value, uint64_t preset)
{
    if (*value == PARAM_AUTO && preset > 0)
        *value = preset;
}

size_t llm_resolve(struct llm_params *p, const char **missing, size_t max)
{
    const struct model *m = &models[p->model];
    const struct gpu *gpu = &gpus[p->gpu];
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
    p->peak_tflops = p->peak_tflops > 0 ? p->peak_tflops : gpu->peak_tflops;
    p->memory_gbps = p->memory_gbps > 0 ? p->memory_gbps : gpu->memory_gbps;
    return n;
}

struct llm_spec llm_spec_of(const struct llm_params *p)
{
    uint64_t replicas = p->degrees[LLM_DATA] * p->degrees[LLM_EXPERT];
    return (struct llm_spec){
        .p = *p,
        .micro_batches = (uint32_t)(p->global_batch / (replicas * p->micro_batch)),
        .stage_layers = (uint32_t)(p->layers / (p->degrees[LLM_PIPELINE] * p->virtual_stages)),
        .flops_per_ps = p->peak_tflops * p->efficiency, // 1e12 / 1e12
        .bytes_per_ps = p->memory_gbps * 1e-3};
}

/* ---- shapes ---- */

bool llm_is_moe(const struct llm_spec *s, uint32_t layer)
{
    return s->p.experts > 0 && (layer + 1) % s->p.moe_every == 0;
}

static double tensor(const struct llm_spec *s) { return (double)s->p.degrees[LLM_TENSOR]; }
static double matrices(const struct llm_spec *s) { return s->p.gated != 0 ? 3 : 2; }

static double kv_hidden(const struct llm_spec *s)
{
    uint64_t kv = s->p.kv_heads, t = s->p.degrees[LLM_TENSOR]; // a rank has at least one head
    return (double)s->p.hidden / (double)s->p.heads * (double)(kv > t ? kv : t);
}

uint64_t llm_tokens(const struct llm_spec *s)
{
    return s->p.micro_batch * s->p.sequence / s->p.degrees[LLM_CONTEXT];
}

/* ---- parameters ---- */

uint64_t llm_dense_parameters(const struct llm_spec *s, uint32_t layer)
{
    double h = (double)s->p.hidden, attention = h * (h + 2 * kv_hidden(s)) + h * h;
    double ffn = llm_is_moe(s, layer) ? 0 : matrices(s) * h * (double)s->p.ffn;
    double router = llm_is_moe(s, layer) ? h * (double)s->p.experts : 0;
    return (uint64_t)((attention + ffn) / tensor(s) + router + 2 * h);
}

uint64_t llm_expert_parameters(const struct llm_spec *s, uint32_t layer)
{
    double own = (double)s->p.experts / (double)s->p.degrees[LLM_EXPERT];
    return llm_is_moe(s, layer) ? (uint64_t)(own * matrices(s) * (double)s->p.hidden *
                                             (double)s->p.expert_ffn / tensor(s))
                                : 0;
}

uint64_t llm_embedding_parameters(const struct llm_spec *s)
{
    return (uint64_t)((double)s->p.vocabulary * (double)s->p.hidden / tensor(s));
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

ps_t llm_compute_ps(const struct llm_spec *s, double flops, double parameters, double tokens)
{
    double activations = 34 * tokens * (double)s->p.hidden / tensor(s);
    double bytes = parameters * (double)s->p.parameter_bytes + activations;
    return (ps_t)(fmax(flops / s->flops_per_ps, bytes / s->bytes_per_ps) + 0.5);
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
