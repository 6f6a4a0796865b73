// SPDX-License-Identifier: MIT
// The nodes of a layer: computations, and the exchanges between them.
#include "workload/llm/llm_maker.h"
#include "workload/llm/llm_time.h"

/* ---- tensor, context and expert parallelism ---- */

// The exchange before and after a block of a layer's products: sequence parallelism gathers the
// activations and scatters the sums; else the sums are all-reduced after it.
static void tensor_before(struct llm_maker *m, uint64_t bytes)
{
    if (m->p->layout.size[LLM_TENSOR] < 2 || !m->s->p.sequence_parallel)
        return;
    llm_collective(m, LLM_GROUP_TENSOR, LLM_TENSOR, LLM_STREAM_TENSOR, COLL_ALL_GATHER, bytes,
                   "tensor");
    llm_chain(m);
}

static void tensor_after(struct llm_maker *m, uint64_t bytes)
{
    if (m->p->layout.size[LLM_TENSOR] < 2)
        return;
    llm_collective(m, LLM_GROUP_TENSOR, LLM_TENSOR, LLM_STREAM_TENSOR,
                   m->s->p.sequence_parallel ? COLL_REDUCE_SCATTER : COLL_ALL_REDUCE, bytes,
                   "tensor");
    llm_chain(m);
}

static void context_exchange(struct llm_maker *m, enum coll_op op)
{
    if (m->p->layout.size[LLM_CONTEXT] < 2)
        return;
    llm_collective(m, LLM_GROUP_CONTEXT, LLM_CONTEXT, LLM_STREAM_CONTEXT, op,
                   llm_context_bytes(m->s), "context");
    llm_chain(m);
}

static void expert_exchange(struct llm_maker *m, bool to)
{
    if (m->p->layout.size[LLM_EXPERT] < 2)
        return;
    const struct llm_load *load = &m->p->loads[m->layer];
    bool even = !(m->s->p.skew > 0) && !(m->s->p.capacity > 0);
    struct node *node =
        llm_collective(m, LLM_GROUP_EXPERT, LLM_EXPERT, LLM_STREAM_EXPERT, COLL_ALL_TO_ALL,
                       llm_dispatch_bytes(m->s), to ? "dispatch" : "combine");
    node->uneven = even ? NULL : to ? &load->to : &load->from;
    llm_chain(m);
}

/* ---- layers ---- */

static void experts(struct llm_maker *m)
{
    uint32_t place = llm_coordinate(&m->p->layout, m->rank, LLM_EXPERT);
    double tokens = m->p->loads[m->layer].tokens[place];
    uint64_t rows = (uint64_t)(tokens + 0.5) * m->s->p.hidden * m->s->p.activation_bytes;
    // A gradient goes the ways of its token in the opposite direction, with the same bytes.
    // Each tensor rank receives its part of the rows, as the weights need all of them.
    expert_exchange(m, true);
    tensor_before(m, rows);
    llm_compute(m, "experts", llm_experts_ps(m->s, m->layer, tokens, m->backward),
                llm_experts_contention(m->s, tokens, m->backward));
    tensor_after(m, rows);
    expert_exchange(m, false);
}

static void part(struct llm_maker *m, const char *what, enum llm_part which)
{
    tensor_before(m, llm_tensor_bytes(m->s));
    llm_compute_part(m, what, which);
    tensor_after(m, llm_tensor_bytes(m->s));
}

static void dense(struct llm_maker *m)
{
    bool moe = llm_is_moe(m->s, m->layer), whole = m->p->layout.size[LLM_TENSOR] < 2 && !moe;
    if (whole) { // nothing is exchanged between attention and feed-forward: one computation
        part(m, "products", LLM_PART_LAYER);
        return;
    }
    if (m->backward && !moe) // the feed-forward part comes first
        part(m, "feed-forward", LLM_PART_FFN);
    part(m, "attention", LLM_PART_ATTENTION);
    if (!m->backward && !moe)
        part(m, "feed-forward", LLM_PART_FFN);
}

static void moe_part(struct llm_maker *m)
{
    if (llm_is_moe(m->s, m->layer))
        experts(m);
}

void llm_layer_forward(struct llm_maker *m)
{
    context_exchange(m, COLL_ALL_GATHER);
    dense(m);
    moe_part(m);
}

void llm_layer_backward(struct llm_maker *m)
{
    if (m->s->p.recompute == RECOMPUTE_FULL) {
        m->backward = false;
        m->pass = "recomputed";
        llm_layer_forward(m);
        m->backward = true;
        m->pass = "backward";
    }
    moe_part(m);
    dense(m);
    context_exchange(m, COLL_REDUCE_SCATTER);
}
