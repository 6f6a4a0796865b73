// SPDX-License-Identifier: MIT
#include "cli/plan/iteration.h"

#include <math.h>

#include "workload/llm/llm_time.h"

/* ---- collectives ---- */

struct group {
    double n;                  // ranks
    double inside;             // of them in one server
    double bytes_ps, delay_ps; // of a step of a ring
    const struct plan_network *network;
};

// A group of n ranks, `stride` apart.
static struct group group_of(const struct plan_network *w, uint64_t n, uint64_t stride)
{
    bool inner = n * stride <= w->server;
    double inside = stride >= w->server ? 1 : fmin((double)n, (double)w->server / (double)stride);
    return (struct group){.n = (double)n,
                          .inside = inside,
                          .bytes_ps = inner ? w->inner_bytes_ps : w->outer_bytes_ps,
                          .delay_ps = inner ? w->inner_delay_ps : w->outer_delay_ps,
                          .network = w};
}

// An all-gather or a reduce-scatter of `bytes` in all.
static double gather_ps(const struct group *g, double bytes)
{
    bool any = g->n > 1 && bytes > 0;
    return any ? (g->n - 1) * (g->delay_ps + bytes / g->n / g->bytes_ps) : 0;
}

// Also what sequence parallelism has in its place: gathered before a block, scattered after it.
static double all_reduce_ps(const struct group *g, double bytes) { return 2 * gather_ps(g, bytes); }

// `bytes`: of a rank for all. What leaves the server and what stays go at the same time.
static double all_to_all_ps(const struct group *g, double bytes)
{
    if (g->n < 2)
        return 0;
    double stays = bytes * (g->inside - 1) / g->n, leaves = bytes * (g->n - g->inside) / g->n;
    double inner = g->network->inner_delay_ps + stays / g->network->inner_bytes_ps,
           outer = g->network->outer_delay_ps + leaves / g->network->outer_bytes_ps;
    return fmax(stays > 0 ? inner : 0, leaves > 0 ? outer : 0);
}

/* ---- a layer ---- */

struct parts { // of a micro-batch on a stage, or on a layer
    double compute, tensor, context, expert;
};

static double total(const struct parts *p)
{
    return p->compute + p->tensor + p->context + p->expert;
}

static void add(struct parts *sum, const struct parts *more, double times)
{
    sum->compute += times * more->compute;
    sum->tensor += times * more->tensor;
    sum->context += times * more->context;
    sum->expert += times * more->expert;
}

struct groups {
    struct group tensor, context, expert, data, expert_data;
    uint64_t stage_stride;
};

static struct groups groups_of(const struct llm_spec *s, const struct plan_network *w)
{
    const uint64_t *d = s->p.degrees;
    uint64_t t = d[LLM_TENSOR], c = d[LLM_CONTEXT], e = d[LLM_EXPERT], n = d[LLM_DATA];
    return (struct groups){.tensor = group_of(w, t, 1),
                           .context = group_of(w, c, t),
                           .expert = group_of(w, e, t * c),
                           .data = group_of(w, c * e * n, t),
                           .expert_data = group_of(w, c * n, e > 1 ? t * c * e : t),
                           .stage_stride = t * c * e * n};
}

// Attention and the dense feed-forward part, as llm_layer.c makes them.
static struct parts dense_part(const struct llm_spec *s, const struct groups *g, uint32_t layer,
                               bool backward)
{
    bool moe = llm_is_moe(s, layer);
    struct parts p = {0};
    if (s->p.degrees[LLM_TENSOR] < 2 && !moe) {
        p.compute = (double)llm_part_ps(s, LLM_PART_LAYER, layer, backward);
        return p;
    }
    p.compute = (double)llm_part_ps(s, LLM_PART_ATTENTION, layer, backward);
    p.tensor = all_reduce_ps(&g->tensor, (double)llm_tensor_bytes(s));
    if (!moe) {
        p.compute += (double)llm_part_ps(s, LLM_PART_FFN, layer, backward);
        p.tensor *= 2;
    }
    return p;
}

static struct parts expert_part(const struct llm_spec *s, const struct groups *g, uint32_t layer,
                                bool backward)
{
    struct parts p = {0};
    if (!llm_is_moe(s, layer))
        return p;
    double rows = (double)llm_tokens(s) * (double)s->p.top_k;
    p.expert = 2 * all_to_all_ps(&g->expert, (double)llm_dispatch_bytes(s));
    p.compute = (double)llm_experts_ps(s, layer, rows, backward);
    p.tensor =
        all_reduce_ps(&g->tensor, rows * (double)s->p.hidden * (double)s->p.activation_bytes);
    return p;
}

static struct parts forward(const struct llm_spec *s, const struct groups *g, uint32_t layer)
{
    struct parts p = dense_part(s, g, layer, false), experts = expert_part(s, g, layer, false);
    p.context = gather_ps(&g->context, (double)llm_context_bytes(s));
    add(&p, &experts, 1);
    return p;
}

static struct parts backward(const struct llm_spec *s, const struct groups *g, uint32_t layer)
{
    struct parts p = dense_part(s, g, layer, true), experts = expert_part(s, g, layer, true);
    p.context = gather_ps(&g->context, (double)llm_context_bytes(s));
    add(&p, &experts, 1);
    if (s->p.recompute == RECOMPUTE_FULL) {
        struct parts again = forward(s, g, layer);
        add(&p, &again, 1);
    }
    return p;
}

/* ---- stages ---- */

// The layers of a stage: those with experts and those without are alike.
struct stage {
    struct parts forward, backward;
    double dense_parameters, expert_parameters; // of its layers
    double layers;
};

static struct stage stage_of(const struct llm_spec *s, const struct groups *g)
{
    struct stage out = {0};
    // Of the middle stages, which have most; two stages have as many each.
    double tables = s->p.tables_as_layers && s->p.degrees[LLM_PIPELINE] > 2 ? 2 : 0,
           layers = (double)s->p.layers,
           stages = (double)s->p.degrees[LLM_PIPELINE] * layers / (layers + tables);
    uint32_t last = (uint32_t)s->p.layers - 1;
    uint64_t periods = s->p.experts > 0 ? s->p.layers / s->p.moe_every : 0;
    double with = (double)periods, without = (double)s->p.layers - with;
    // One layer with experts and one without stand for all. Of every `moe_every` layers the last
    // one has experts.
    uint32_t moe = s->p.moe_every > 0 ? (uint32_t)s->p.moe_every - 1 : 0, plain = 0;
    if (with > 0 && moe == 0)
        plain = last; // all have experts
    if (without > 0) {
        struct parts f = forward(s, g, plain), b = backward(s, g, plain);
        add(&out.forward, &f, without / stages);
        add(&out.backward, &b, without / stages);
        out.dense_parameters += without / stages * (double)llm_dense_parameters(s, plain);
    }
    if (with > 0) {
        struct parts f = forward(s, g, moe), b = backward(s, g, moe);
        add(&out.forward, &f, with / stages);
        add(&out.backward, &b, with / stages);
        out.dense_parameters += with / stages * (double)llm_dense_parameters(s, moe);
        out.expert_parameters += with / stages * (double)llm_expert_parameters(s, moe);
    }
    out.layers = (double)s->p.layers / stages;
    return out;
}

/* ---- data parallelism ---- */

// Bytes of `dense` and `expert` parameters, reduced or gathered once.
static double exchange_ps(const struct groups *g, double dense, double experts, double size,
                          bool both)
{
    double once = gather_ps(&g->data, dense * size) + gather_ps(&g->expert_data, experts * size);
    return both ? 2 * once : once;
}

// Of the embedding and the logits, on the stage that has most: one of them, or both.
static double table_parameters(const struct llm_spec *s)
{
    return (double)llm_embedding_parameters(s) * (s->p.degrees[LLM_PIPELINE] > 1 ? 1 : 2);
}

// ZeRO 3, as workload/llm/llm_source.c orders it: forward, a layer's parameters are gathered while
// the last products of the layer before compute; backward, they follow the reduction of the layer
// before on the same stream, and nothing hides either.
static double sharded_ps(const struct llm_spec *s, const struct groups *g,
                         const struct stage *stage, double m)
{
    double n = stage->layers, embedding = table_parameters(s),
           gradient = (double)s->p.gradient_bytes, parameter = (double)s->p.parameter_bytes,
           dense = stage->dense_parameters / n, experts = stage->expert_parameters / n,
           gather = exchange_ps(g, dense, experts, parameter, false),
           reduce = exchange_ps(g, dense, experts, gradient, false),
           tables = 2 * exchange_ps(g, embedding, 0, parameter, false) +
                    exchange_ps(g, embedding, 0, gradient, false);
    bool blocks = s->p.degrees[LLM_TENSOR] > 1;
    double hides = (blocks ? total(&stage->forward) / 2 : stage->forward.compute) / n;
    return m * (n * (fmax(0, gather - hides) + gather + reduce) + tables);
}

// What computations do not hide, of the busiest stage, which has the embedding or the logits too.
static double data_ps(const struct llm_spec *s, const struct groups *g, const struct stage *stage,
                      double backward_ps, double m)
{
    double embedding = table_parameters(s), dense = stage->dense_parameters,
           experts = stage->expert_parameters, gradient = (double)s->p.gradient_bytes;
    bool all = s->p.zero == 0;
    double reduces = exchange_ps(g, dense + embedding, experts, gradient, all),
           one = 1 / stage->layers; // the last layer's exchange has nothing left behind it
    double ps = 0;
    if (s->p.zero == 3)
        return sharded_ps(s, g, stage, m);
    if (s->p.zero == 2)
        ps = m * fmax(0, reduces - backward_ps) + one * reduces;
    else if (s->p.overlap)
        ps = fmax(one * exchange_ps(g, dense, experts, gradient, all) +
                      exchange_ps(g, embedding, 0, gradient, all),
                  reduces - (1 - one) * backward_ps);
    else
        ps = reduces;
    if (s->p.zero > 0) // parameters, when the optimizer has updated them
        ps += exchange_ps(g, dense + embedding, experts, (double)s->p.parameter_bytes, false);
    return ps;
}

/* ---- an iteration ---- */

// All boundaries that the first micro-batch passes forward and the last one backward: between
// neighbouring stages, and for more chunks from the last stage to the first. Some lie inside a
// server.
static double boundaries_ps(const struct llm_spec *s, const struct plan_network *w,
                            const struct groups *g)
{
    double p = (double)s->p.degrees[LLM_PIPELINE], v = (double)s->p.virtual_stages,
           bytes = (double)llm_boundary_bytes(s),
           servers = fmin(p, ceil(p * (double)g->stage_stride / (double)w->server)), wraps = v - 1,
           between = v * (servers - 1) + (servers > 1 ? wraps : 0),
           inside = v * (p - 1) + wraps - between;
    if (p < 2)
        return 0;
    return 2 * (inside * (w->inner_delay_ps + bytes / w->inner_bytes_ps) +
                between * (w->outer_delay_ps + bytes / w->outer_bytes_ps));
}

static double optimizer_ps(const struct llm_spec *s, const struct groups *g,
                           const struct stage *stage)
{
    bool shards = s->p.zero > 0;
    double dense = stage->dense_parameters + table_parameters(s);
    return (double)llm_optimizer_ps(s,
                                    dense / (shards ? g->data.n : 1) +
                                        stage->expert_parameters / (shards ? g->expert_data.n : 1));
}

struct iteration_time iteration_time(const struct llm_spec *s, const struct plan_network *w)
{
    struct groups g = groups_of(s, w);
    struct stage stage = stage_of(s, &g);
    double m = (double)s->training.layout.pipeline.micro_batches,
           p = (double)s->p.degrees[LLM_PIPELINE], v = (double)s->p.virtual_stages;
    double logits_forward = (double)llm_part_ps(s, LLM_PART_LOGITS, 0, false),
           logits_backward = (double)llm_part_ps(s, LLM_PART_LOGITS, 0, true);
    // A last stage with one layer less computes the logits in the time of that layer, or longer.
    if (s->p.tables_as_layers && p > 2) {
        logits_forward = fmax(0, logits_forward - total(&stage.forward) / stage.layers);
        logits_backward = fmax(0, logits_backward - total(&stage.backward) / stage.layers);
    }
    double forward_ps = total(&stage.forward), backward_ps = total(&stage.backward);
    struct iteration_time t = {.compute = m * (stage.forward.compute + stage.backward.compute +
                                               logits_forward + logits_backward),
                               .tensor = m * (stage.forward.tensor + stage.backward.tensor),
                               .context = m * (stage.forward.context + stage.backward.context),
                               .expert = m * (stage.forward.expert + stage.backward.expert),
                               .bubble = (p - 1) / v * (forward_ps + backward_ps),
                               .boundary = boundaries_ps(s, w, &g),
                               .data = data_ps(s, &g, &stage, backward_ps + logits_backward, m),
                               .optimizer = optimizer_ps(s, &g, &stage)};
    t.total =
        t.compute + t.tensor + t.context + t.expert + t.bubble + t.boundary + t.data + t.optimizer;
    return t;
}
