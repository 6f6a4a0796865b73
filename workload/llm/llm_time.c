// SPDX-License-Identifier: MIT
#include "workload/llm/llm_time.h"

#include <math.h>

#include "workload/kernels/attention.h"
#include "workload/kernels/product.h"

/* ---- by shape ---- */

struct shapes {
    double tokens, hidden, tensor, sequence_parts; // parts: that sequence parallelism divides
    double bytes;                                  // of an activation
};

static struct shapes shapes_of(const struct llm_spec *s)
{
    double tensor = (double)s->p.degrees[LLM_TENSOR];
    return (struct shapes){(double)llm_tokens(s), (double)s->p.hidden, tensor,
                           s->p.sequence_parallel ? tensor : 1, (double)s->p.activation_bytes};
}

// Activations times weights, from `inputs` features to `outputs`.
static double weights_ps(const struct llm_spec *s, double tokens, double outputs, double inputs,
                         double count, bool backward)
{
    struct product p = {.m = tokens,
                        .n = outputs,
                        .k = inputs,
                        .count = count,
                        .type = (enum number_type)s->p.precision,
                        .sparsity = (enum sparsity)s->p.sparsity};
    if (!backward)
        return product_ps(&s->gpu, &p);
    struct product weights = p; // their gradient is dense
    p.n = inputs;
    p.k = outputs;
    weights.m = outputs;
    weights.n = inputs;
    weights.k = tokens;
    weights.sparsity = SPARSITY_NONE;
    return product_ps(&s->gpu, &p) + product_ps(&s->gpu, &weights);
}

static struct kernel_times sum(struct kernel_times a, struct kernel_times b)
{
    return (struct kernel_times){a.products + b.products, a.attention + b.attention,
                                 a.memory + b.memory};
}

static double total(struct kernel_times t) { return t.products + t.attention + t.memory; }

// A normalisation (read, write) and an addition (read twice, write), each a kernel.
static struct kernel_times residual(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double elements = h.tokens * h.hidden / h.sequence_parts,
           mask = s->p.dropout != 0 ? elements : 0,
           ps = traffic_ps(&s->gpu, 2 * h.bytes * elements) +
                traffic_ps(&s->gpu, 3 * h.bytes * elements + mask);
    return (struct kernel_times){.memory = backward ? 2 * ps : ps};
}

// Scores and weighted values, all heads at once; backward the gradients of both factors of each.
static struct kernel_times unfused(const struct llm_spec *s, const struct attention *a,
                                   bool backward)
{
    struct product scores = {.m = a->rows, .n = a->columns, .k = a->head, .count = a->heads},
                   values = {.m = a->rows, .n = a->head, .k = a->columns, .count = a->heads};
    double elements = a->heads * a->rows * a->columns, bytes = (double)s->p.activation_bytes,
           softmax = (backward ? 3 : 2) * bytes * elements,
           dropout = s->p.dropout != 0 ? (2 * bytes + 1) * elements : 0,
           products = product_ps(&s->gpu, &scores) + product_ps(&s->gpu, &values);
    return (struct kernel_times){.products = backward ? 2 * products : products,
                                 .memory =
                                     traffic_ps(&s->gpu, softmax) + traffic_ps(&s->gpu, dropout)};
}

static struct kernel_times core(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double heads = fmax((double)s->p.heads / h.tensor, 1);
    struct attention a = {.heads = heads * (double)s->p.micro_batch,
                          .rows = h.tokens / (double)s->p.micro_batch,
                          .columns = (double)s->p.sequence,
                          .head = h.hidden / (double)s->p.heads,
                          .causal = true};
    if (s->p.attention == LLM_ATTENTION_FUSED)
        return (struct kernel_times){.attention = attention_ps(&s->gpu, &a, backward)};
    bool again = backward && s->p.recompute == RECOMPUTE_SELECTIVE;
    struct kernel_times t = unfused(s, &a, backward);
    return again ? sum(t, unfused(s, &a, false)) : t;
}

static struct kernel_times attention_part(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double kv = transformer_kv_hidden(&s->training);
    struct kernel_times products = {
        .products = weights_ps(s, h.tokens, (h.hidden + 2 * kv) / h.tensor, h.hidden, 1, backward) +
                    weights_ps(s, h.tokens, h.hidden, h.hidden / h.tensor, 1, backward)};
    return sum(sum(products, core(s, backward)), residual(s, backward));
}

// Two products, or three with a gate, around the activation function.
static struct kernel_times ffn(const struct llm_spec *s, double tokens, double size, double count,
                               bool backward)
{
    struct shapes h = shapes_of(s);
    bool gated = s->p.gated != 0;
    double wide = size / h.tensor,
           function = traffic_ps(&s->gpu, (gated ? 3 : 2) * h.bytes * count * tokens * wide);
    return (struct kernel_times){
        .products = weights_ps(s, tokens, gated ? 2 * wide : wide, h.hidden, count, backward) +
                    weights_ps(s, tokens, h.hidden, wide, count, backward),
        .memory = backward ? 2 * function : function};
}

static struct kernel_times dense_ffn(const struct llm_spec *s, bool backward)
{
    struct kernel_times products = ffn(s, (double)llm_tokens(s), (double)s->p.ffn, 1, backward);
    return sum(products, residual(s, backward));
}

// The loss reads and writes each logit in 4 bytes.
static struct kernel_times logits(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double words = (double)s->p.vocabulary / h.tensor;
    return (struct kernel_times){.products = weights_ps(s, h.tokens, words, h.hidden, 1, backward),
                                 .memory = traffic_ps(&s->gpu, 2 * 4 * h.tokens * words)};
}

void llm_time_parts(struct llm_spec *s)
{
    for (int backward = 0; backward < 2; backward++) {
        struct kernel_times *parts = s->parts[backward];
        parts[LLM_PART_ATTENTION] = attention_part(s, backward != 0);
        parts[LLM_PART_FFN] = dense_ffn(s, backward != 0);
        parts[LLM_PART_LAYER] = sum(parts[LLM_PART_ATTENTION], parts[LLM_PART_FFN]);
        parts[LLM_PART_LOGITS] = logits(s, backward != 0);
    }
}

static struct kernel_times part_of(const struct llm_spec *s, enum llm_part part, uint32_t layer,
                                   bool backward)
{
    struct kernel_times t = s->parts[backward][part];
    bool experts = part == LLM_PART_ATTENTION && llm_is_moe(s, layer); // whose residual is here
    return experts ? sum(t, residual(s, backward)) : t;
}

static struct kernel_times experts_of(const struct llm_spec *s, double tokens, bool backward)
{
    double experts = (double)s->p.experts / (double)s->p.degrees[LLM_EXPERT];
    if (!(tokens > 0))
        return (struct kernel_times){0};
    return ffn(s, tokens / experts, (double)s->p.expert_ffn, experts, backward);
}

/* ---- by one efficiency ---- */

static ps_t roofline_ps(const struct llm_spec *s, double flops, double parameters, double tokens,
                        bool backward)
{
    double activations = 34 * tokens * (double)s->p.hidden / (double)s->p.degrees[LLM_TENSOR],
           bytes = parameters * (double)s->p.parameter_bytes + activations,
           passes = backward ? 2 : 1;
    return (ps_t)(passes * fmax(flops / s->flops_per_ps, bytes / s->bytes_per_ps) + 0.5);
}

static ps_t flat_ps(const struct llm_spec *s, enum llm_part part, uint32_t layer, bool backward)
{
    bool again = backward && s->p.recompute == RECOMPUTE_SELECTIVE;
    double tokens = (double)llm_tokens(s), ffn = llm_ffn_flops(s),
           attention = llm_attention_flops(s),
           with = attention + (again ? llm_attention_core_flops(s) / 2 : 0);
    if (part == LLM_PART_LOGITS)
        return roofline_ps(s, llm_logit_flops(s), (double)llm_embedding_parameters(s), 0, backward);
    double parameters = (double)llm_dense_parameters(s, layer),
           share = llm_is_moe(s, layer) ? 0 : ffn / (ffn + attention);
    switch (part) {
    case LLM_PART_ATTENTION:
        return roofline_ps(s, with, (1 - share) * parameters, tokens / 2, backward);
    case LLM_PART_FFN:
        return roofline_ps(s, ffn, share * parameters, tokens / 2, backward);
    default:
        return roofline_ps(s, with + ffn, parameters, tokens, backward);
    }
}

/* ---- both ---- */

ps_t llm_part_ps(const struct llm_spec *s, enum llm_part part, uint32_t layer, bool backward)
{
    return s->by_shape ? (ps_t)(total(part_of(s, part, layer, backward)) + 0.5)
                       : flat_ps(s, part, layer, backward);
}

ps_t llm_experts_ps(const struct llm_spec *s, uint32_t layer, double tokens, bool backward)
{
    return s->by_shape ? (ps_t)(total(experts_of(s, tokens, backward)) + 0.5)
                       : roofline_ps(s, tokens * llm_expert_token_flops(s),
                                     (double)llm_expert_parameters(s, layer), tokens / 2, backward);
}

/* ---- beside collectives ---- */

// The share of its speed that a computation of several kernels loses. The kernels run one after the
// other, and one that loses a share c of its speed takes 1 / (1 - c) times as long.
static double mixed_share(const struct llm_spec *s, struct kernel_times t)
{
    double products = s->p.contention;
    double attention = s->p.attention_contention, memory = s->p.memory_contention, all = total(t);
    attention = attention == PARAM_AUTO_RATIO ? products : attention;
    memory = memory == PARAM_AUTO_RATIO ? products : memory;
    if (!(all > 0))
        return products;
    return 1 - all / (t.products / (1 - products) + t.attention / (1 - attention) +
                      t.memory / (1 - memory));
}

double llm_part_contention(const struct llm_spec *s, enum llm_part part, uint32_t layer,
                           bool backward)
{
    return s->by_shape ? mixed_share(s, part_of(s, part, layer, backward)) : s->p.contention;
}

double llm_experts_contention(const struct llm_spec *s, double tokens, bool backward)
{
    return s->by_shape ? mixed_share(s, experts_of(s, tokens, backward)) : s->p.contention;
}
