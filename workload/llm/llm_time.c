// SPDX-License-Identifier: MIT
#include "workload/llm/llm_time.h"

#include <math.h>

#include "kernels/attention.h"
#include "kernels/product.h"

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

// A normalisation (read, write) and an addition (read twice, write), each a kernel.
static double residual_ps(const struct llm_spec *s, const struct shapes *h, bool backward)
{
    double elements = h->tokens * h->hidden / h->sequence_parts,
           mask = s->p.dropout != 0 ? elements : 0,
           ps = traffic_ps(&s->gpu, 2 * h->bytes * elements) +
                traffic_ps(&s->gpu, 3 * h->bytes * elements + mask);
    return backward ? 2 * ps : ps;
}

// Scores and weighted values, all heads at once; backward the gradients of both factors of each.
static double unfused_ps(const struct llm_spec *s, const struct attention *a, bool backward)
{
    struct product scores = {.m = a->rows, .n = a->columns, .k = a->head, .count = a->heads},
                   values = {.m = a->rows, .n = a->head, .k = a->columns, .count = a->heads};
    double elements = a->heads * a->rows * a->columns, bytes = (double)s->p.activation_bytes,
           softmax = (backward ? 3 : 2) * bytes * elements,
           dropout = s->p.dropout != 0 ? (2 * bytes + 1) * elements : 0,
           products = product_ps(&s->gpu, &scores) + product_ps(&s->gpu, &values);
    return (backward ? 2 * products : products) + traffic_ps(&s->gpu, softmax) +
           traffic_ps(&s->gpu, dropout);
}

static double core_ps(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double heads = fmax((double)s->p.heads / h.tensor, 1);
    struct attention a = {.heads = heads * (double)s->p.micro_batch,
                          .rows = h.tokens / (double)s->p.micro_batch,
                          .columns = (double)s->p.sequence,
                          .head = h.hidden / (double)s->p.heads,
                          .causal = true};
    if (s->p.attention == LLM_ATTENTION_FUSED)
        return attention_ps(&s->gpu, &a, backward);
    bool again = backward && s->p.recompute == RECOMPUTE_SELECTIVE;
    return unfused_ps(s, &a, backward) + (again ? unfused_ps(s, &a, false) : 0);
}

static double attention_part_ps(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double kv = transformer_kv_hidden(&s->training);
    return weights_ps(s, h.tokens, (h.hidden + 2 * kv) / h.tensor, h.hidden, 1, backward) +
           core_ps(s, backward) +
           weights_ps(s, h.tokens, h.hidden, h.hidden / h.tensor, 1, backward) +
           residual_ps(s, &h, backward);
}

// Two products, or three with a gate, around the activation function.
static double ffn_ps(const struct llm_spec *s, double tokens, double ffn, double count,
                     bool backward)
{
    struct shapes h = shapes_of(s);
    bool gated = s->p.gated != 0;
    double wide = ffn / h.tensor,
           function = traffic_ps(&s->gpu, (gated ? 3 : 2) * h.bytes * count * tokens * wide);
    return weights_ps(s, tokens, gated ? 2 * wide : wide, h.hidden, count, backward) +
           weights_ps(s, tokens, h.hidden, wide, count, backward) +
           (backward ? 2 * function : function);
}

static double dense_ffn_ps(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    return ffn_ps(s, h.tokens, (double)s->p.ffn, 1, backward) + residual_ps(s, &h, backward);
}

// The loss reads and writes each logit in 4 bytes.
static double logits_ps(const struct llm_spec *s, bool backward)
{
    struct shapes h = shapes_of(s);
    double words = (double)s->p.vocabulary / h.tensor;
    return weights_ps(s, h.tokens, words, h.hidden, 1, backward) +
           traffic_ps(&s->gpu, 2 * 4 * h.tokens * words);
}

void llm_time_parts(struct llm_spec *s)
{
    for (int backward = 0; backward < 2; backward++) {
        double *ps = s->part_ps[backward];
        ps[LLM_PART_ATTENTION] = attention_part_ps(s, backward != 0);
        ps[LLM_PART_FFN] = dense_ffn_ps(s, backward != 0);
        ps[LLM_PART_LAYER] = ps[LLM_PART_ATTENTION] + ps[LLM_PART_FFN];
        ps[LLM_PART_LOGITS] = logits_ps(s, backward != 0);
    }
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
    if (!s->by_shape)
        return flat_ps(s, part, layer, backward);
    double ps = s->part_ps[backward][part];
    if (part == LLM_PART_ATTENTION && llm_is_moe(s, layer)) { // the experts' own
        struct shapes h = shapes_of(s);
        ps += residual_ps(s, &h, backward);
    }
    return (ps_t)(ps + 0.5);
}

ps_t llm_experts_ps(const struct llm_spec *s, uint32_t layer, double tokens, bool backward)
{
    double parameters = (double)llm_expert_parameters(s, layer),
           experts = (double)(s->p.experts / s->p.degrees[LLM_EXPERT]);
    if (!s->by_shape)
        return roofline_ps(s, tokens * llm_expert_token_flops(s), parameters, tokens / 2, backward);
    if (!(tokens > 0))
        return 0;
    return (ps_t)(ffn_ps(s, tokens / experts, (double)s->p.expert_ffn, experts, backward) + 0.5);
}
