// SPDX-License-Identifier: MIT
// A pass is expanded into a buffer of the rank when its first node is read.
#include "workload/llm_source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "engine/text.h"

#define AFTER_MAX 4
#define NAME_MAX_BYTES 40
#define NONE UINT64_MAX

enum { STREAM_TENSOR = NODE_COMM_STREAM, STREAM_CONTEXT, STREAM_EXPERT, STREAM_DATA };

struct made_node {
    struct node node;
    uint64_t after[AFTER_MAX];
    char name[NAME_MAX_BYTES];
};

struct llm_rank {
    uint32_t stage;
    uint64_t iteration;
    uint32_t pass;
    bool ended;
    uint64_t next_id;
    uint64_t last;     // last node of the chain of passes
    uint64_t message;  // a message that the next node of the chain waits for, or NONE
    uint64_t gathered; // parameters that it waits for, or NONE
    uint64_t exchange; // last node on the data stream, or NONE
    uint64_t earlier;  // the computation before the last one: limits the prefetch of parameters
    struct made_node *nodes;
    size_t n, at, cap;
};

struct llm_cursor {
    const struct llm_program *program;
    struct llm_rank *ranks;
};

struct maker { // what the functions below need
    const struct llm_program *p;
    const struct llm_spec *s;
    struct llm_rank *r;
    uint32_t rank, layer; // layer: of the model, UINT32_MAX = none
    const char *pass;     // "forward"
    bool backward;
};

/* ---- nodes ---- */

static struct node *make(struct maker *m, enum node_kind kind, uint8_t stream, const char *what)
{
    struct llm_rank *r = m->r;
    if (r->n == r->cap)
        r->nodes = memory_grow(r->nodes, &r->cap, sizeof *r->nodes);
    struct made_node *made = &r->nodes[r->n++];
    *made =
        (struct made_node){.node = {.id = r->next_id++, .kind = (uint8_t)kind, .stream = stream}};
    if (m->layer != UINT32_MAX) {
        made->node.layer = m->layer + 1;
        snprintf(made->name, sizeof made->name, "layer%u %s %s", m->layer, what, m->pass);
    } else {
        snprintf(made->name, sizeof made->name, "%s %s", what, m->pass);
    }
    return &made->node;
}

static void after(struct maker *m, uint64_t id)
{
    struct made_node *made = &m->r->nodes[m->r->n - 1];
    if (id != NONE)
        made->after[made->node.n_after++] = id;
}

// Append the node to the chain of passes.
static void chain(struct maker *m)
{
    after(m, m->r->last);
    after(m, m->r->message);
    after(m, m->r->gathered);
    m->r->message = m->r->gathered = NONE;
    m->r->last = m->r->nodes[m->r->n - 1].node.id;
}

static void compute(struct maker *m, const char *what, double flops, double parameters,
                    double tokens)
{
    uint64_t before = m->r->last;
    struct node *node = make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, what);
    double passes = m->backward ? 2 : 1;
    node->takes_ps = llm_compute_ps(m->s, passes * flops, passes * parameters, passes * tokens);
    m->r->earlier = before;
    chain(m);
}

static struct node *collective(struct maker *m, enum llm_group group, enum llm_degree use,
                               uint8_t stream, enum coll_op op, uint64_t bytes, const char *what)
{
    struct node *node = make(m, NODE_COLLECTIVE, stream, what);
    node->group = m->p->layout.group[group][m->rank];
    node->use = m->p->use[use];
    node->op = op;
    node->bytes = bytes;
    node->dims = 1;
    return node;
}

/* ---- tensor, context and expert parallelism ---- */

// The exchange before and after a block of a layer's products: sequence parallelism gathers the
// activations and scatters the sums; else the sums are all-reduced after it.
static void tensor_before(struct maker *m)
{
    if (m->p->layout.size[LLM_TENSOR] < 2 || !m->s->p.sequence_parallel)
        return;
    collective(m, LLM_GROUP_TENSOR, LLM_TENSOR, STREAM_TENSOR, COLL_ALL_GATHER,
               llm_tensor_bytes(m->s), "tensor");
    chain(m);
}

static void tensor_after(struct maker *m)
{
    if (m->p->layout.size[LLM_TENSOR] < 2)
        return;
    collective(m, LLM_GROUP_TENSOR, LLM_TENSOR, STREAM_TENSOR,
               m->s->p.sequence_parallel ? COLL_REDUCE_SCATTER : COLL_ALL_REDUCE,
               llm_tensor_bytes(m->s), "tensor");
    chain(m);
}

static void context_exchange(struct maker *m, enum coll_op op)
{
    if (m->p->layout.size[LLM_CONTEXT] < 2)
        return;
    collective(m, LLM_GROUP_CONTEXT, LLM_CONTEXT, STREAM_CONTEXT, op, llm_context_bytes(m->s),
               "context");
    chain(m);
}

static void expert_exchange(struct maker *m, bool to)
{
    if (m->p->layout.size[LLM_EXPERT] < 2)
        return;
    const struct llm_load *load = &m->p->loads[m->layer];
    bool even = !(m->s->p.skew > 0) && !(m->s->p.capacity > 0);
    struct node *node = collective(m, LLM_GROUP_EXPERT, LLM_EXPERT, STREAM_EXPERT, COLL_ALL_TO_ALL,
                                   llm_dispatch_bytes(m->s), to ? "dispatch" : "combine");
    node->uneven = even ? NULL : to ? &load->to : &load->from;
    chain(m);
}

/* ---- layers ---- */

static void experts(struct maker *m)
{
    uint32_t place = llm_coordinate(&m->p->layout, m->rank, LLM_EXPERT);
    double tokens = m->p->loads[m->layer].tokens[place];
    // A gradient goes the ways of its token in the opposite direction, with the same bytes.
    expert_exchange(m, true);
    compute(m, "experts", tokens * llm_expert_token_flops(m->s),
            (double)llm_expert_parameters(m->s, m->layer), tokens);
    expert_exchange(m, false);
}

static void attention(struct maker *m, double flops)
{
    double tokens = (double)llm_tokens(m->s),
           parameters = (double)llm_dense_parameters(m->s, m->layer);
    bool moe = llm_is_moe(m->s, m->layer), whole = m->p->layout.size[LLM_TENSOR] < 2 && !moe;
    if (whole) { // nothing is exchanged between attention and feed-forward: one computation
        compute(m, "products", flops + llm_ffn_flops(m->s), parameters, tokens);
        return;
    }
    double ffn_share =
        moe ? 0 : llm_ffn_flops(m->s) / (llm_ffn_flops(m->s) + llm_attention_flops(m->s));
    if (m->backward && !moe) { // the feed-forward part comes first
        tensor_before(m);
        compute(m, "feed-forward", llm_ffn_flops(m->s), ffn_share * parameters, tokens / 2);
        tensor_after(m);
    }
    tensor_before(m);
    compute(m, "attention", flops, (1 - ffn_share) * parameters, tokens / 2);
    tensor_after(m);
    if (!m->backward && !moe) {
        tensor_before(m);
        compute(m, "feed-forward", llm_ffn_flops(m->s), ffn_share * parameters, tokens / 2);
        tensor_after(m);
    }
}

static void moe_part(struct maker *m)
{
    if (!llm_is_moe(m->s, m->layer))
        return;
    tensor_before(m);
    experts(m);
    tensor_after(m);
}

static void layer_forward(struct maker *m)
{
    context_exchange(m, COLL_ALL_GATHER);
    attention(m, llm_attention_flops(m->s));
    moe_part(m);
}

static void layer_backward(struct maker *m)
{
    if (m->s->p.recompute == LLM_RECOMPUTE_FULL) {
        m->backward = false;
        m->pass = "recomputed";
        layer_forward(m);
        m->backward = true;
        m->pass = "backward";
    }
    double again =
        m->s->p.recompute == LLM_RECOMPUTE_SELECTIVE ? llm_attention_core_flops(m->s) / 2 : 0;
    moe_part(m);
    attention(m, llm_attention_flops(m->s) + again);
    context_exchange(m, COLL_REDUCE_SCATTER);
}

/* ---- data parallelism ---- */

static void data_collective(struct maker *m, enum llm_group group, enum coll_op op, uint64_t bytes,
                            const char *what, uint64_t since)
{
    if (m->p->layout.group[group] == NULL || bytes == 0)
        return;
    struct node *node = collective(m, group, LLM_DATA, STREAM_DATA, op, bytes, what);
    m->r->exchange = node->id;
    after(m, since);
}

static uint64_t dense_of(const struct maker *m)
{
    return m->layer == UINT32_MAX ? llm_embedding_parameters(m->s)
                                  : llm_dense_parameters(m->s, m->layer);
}

static uint64_t experts_of(const struct maker *m)
{
    return m->layer == UINT32_MAX ? 0 : llm_expert_parameters(m->s, m->layer);
}

static void reduce_gradients(struct maker *m, uint64_t since)
{
    enum coll_op op = m->s->p.zero == 0 ? COLL_ALL_REDUCE : COLL_REDUCE_SCATTER;
    data_collective(m, LLM_GROUP_DATA, op, dense_of(m) * m->s->p.gradient_bytes, "gradients",
                    since);
    data_collective(m, LLM_GROUP_EXPERT_DATA, op, experts_of(m) * m->s->p.gradient_bytes,
                    "expert gradients", since);
}

// The next computation waits for the parameters.
static void gather_parameters(struct maker *m, uint64_t since)
{
    uint64_t before = m->r->exchange;
    data_collective(m, LLM_GROUP_DATA, COLL_ALL_GATHER, dense_of(m) * m->s->p.parameter_bytes,
                    "parameters", since);
    data_collective(m, LLM_GROUP_EXPERT_DATA, COLL_ALL_GATHER,
                    experts_of(m) * m->s->p.parameter_bytes, "expert parameters", since);
    if (m->r->exchange != before)
        m->r->gathered = m->r->exchange;
}

/* ---- passes ---- */

static uint32_t stage_of_pass(const struct maker *m, uint32_t chunk)
{
    return chunk * m->p->layout.size[LLM_PIPELINE] + m->r->stage;
}

static uint32_t last_stage(const struct maker *m)
{
    return m->p->layout.size[LLM_PIPELINE] * (uint32_t)m->s->p.virtual_stages - 1;
}

// The message from virtual stage `from` to `to`: this rank is one of them.
static void boundary(struct maker *m, uint32_t from, uint32_t to, bool sends)
{
    uint32_t n = m->p->layout.size[LLM_PIPELINE], other = sends ? to : from;
    struct node *node = make(m, sends ? NODE_SEND : NODE_RECV, NODE_NO_STREAM,
                             from < to ? "activations" : "gradients");
    node->peer = llm_neighbour(&m->p->layout, m->rank, LLM_PIPELINE, other % n);
    node->tag = 2 * (to / n) + (from > to);
    node->bytes = llm_boundary_bytes(m->s);
    node->use = m->p->use[LLM_PIPELINE];
    if (sends)
        after(m, m->r->last);
    else
        m->r->message = node->id;
}

// With ZeRO 3 the parameters of a layer are gathered while the layer before it computes.
static void prefetch(struct maker *m)
{
    if (m->s->p.zero == 3)
        gather_parameters(m, m->r->earlier);
}

static bool reduces_now(const struct maker *m, uint32_t micro_batch)
{
    return m->s->p.overlap && (m->s->p.zero >= 2 || micro_batch + 1 == m->s->micro_batches);
}

static void logits(struct maker *m)
{
    m->layer = UINT32_MAX;
    compute(m, "logits", llm_logit_flops(m->s), (double)llm_embedding_parameters(m->s), 0);
}

static void forward(struct maker *m, struct llm_pass pass)
{
    uint32_t stage = stage_of_pass(m, pass.chunk), first = stage * m->s->stage_layers;
    m->pass = "forward";
    m->layer = UINT32_MAX;
    if (stage > 0)
        boundary(m, stage - 1, stage, false);
    for (m->layer = first; m->layer < first + m->s->stage_layers; m->layer++) {
        prefetch(m);
        layer_forward(m);
    }
    if (stage == last_stage(m))
        logits(m);
    m->layer = UINT32_MAX;
    if (stage < last_stage(m))
        boundary(m, stage, stage + 1, true);
}

static void backward(struct maker *m, struct llm_pass pass)
{
    uint32_t stage = stage_of_pass(m, pass.chunk), first = stage * m->s->stage_layers;
    bool reduces = reduces_now(m, pass.micro_batch);
    m->pass = "backward";
    m->backward = true;
    m->layer = UINT32_MAX;
    if (stage < last_stage(m)) {
        boundary(m, stage + 1, stage, false);
    } else {
        logits(m);
        if (reduces)
            reduce_gradients(m, m->r->last);
    }
    for (m->layer = first + m->s->stage_layers; m->layer-- > first;) {
        prefetch(m);
        layer_backward(m);
        if (reduces)
            reduce_gradients(m, m->r->last);
    }
    m->layer = UINT32_MAX;
    if (stage > 0)
        boundary(m, stage, stage - 1, true);
    else if (reduces)
        reduce_gradients(m, m->r->last); // of the embedding
}

/* ---- the end of an iteration ---- */

// Parameters of the layer (or embedding) that the rank's optimizer updates.
static double updated(const struct maker *m)
{
    bool sharded = m->s->p.zero > 0;
    uint32_t dense = sharded ? llm_group_size(&m->p->layout, LLM_GROUP_DATA) : 1;
    uint32_t expert = sharded ? llm_group_size(&m->p->layout, LLM_GROUP_EXPERT_DATA) : 1;
    return (double)dense_of(m) / dense + (double)experts_of(m) / expert;
}

// Call `each`, which may be NULL, for all layers and embeddings of the rank. Returns the parameters that
// its optimizer updates.
static double for_all(struct maker *m, void (*each)(struct maker *m, uint64_t since),
                      uint64_t since)
{
    double parameters = 0;
    for (uint32_t chunk = 0; chunk < m->s->p.virtual_stages; chunk++) {
        uint32_t stage = stage_of_pass(m, chunk), first = stage * m->s->stage_layers;
        uint32_t tables = (stage == 0 ? 1U : 0U) + (stage == last_stage(m) ? 1U : 0U);
        for (uint32_t i = 0; i < m->s->stage_layers + tables; i++) {
            m->layer = i < m->s->stage_layers ? first + i : UINT32_MAX;
            parameters += updated(m);
            if (each != NULL)
                each(m, since);
        }
    }
    m->layer = UINT32_MAX;
    return parameters;
}

static void finish_iteration(struct maker *m)
{
    m->pass = "update";
    m->backward = false;
    double parameters = for_all(m, m->s->p.overlap ? NULL : reduce_gradients, m->r->last);
    m->r->gathered = m->r->exchange;
    struct node *node = make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, "optimizer");
    node->takes_ps = llm_optimizer_ps(m->s, parameters);
    chain(m);
    if (m->s->p.zero == 1 || m->s->p.zero == 2)
        for_all(m, gather_parameters, m->r->last);
}

/* ---- the source ---- */

static void *llm_open(const void *self)
{
    const struct llm_program *p = self;
    struct llm_cursor *c = memory_zeroed(1, sizeof *c);
    c->program = p;
    c->ranks = memory_zeroed(p->layout.n_ranks, sizeof *c->ranks);
    for (uint32_t i = 0; i < p->layout.n_ranks; i++) {
        struct llm_rank *r = &c->ranks[i];
        r->stage = llm_coordinate(&p->layout, i, LLM_PIPELINE);
        r->last = r->message = r->gathered = r->exchange = r->earlier = NONE;
    }
    return c;
}

static void make_next(const struct llm_program *p, uint32_t rank, struct llm_rank *r)
{
    struct maker m = {.p = p, .s = &p->spec, .r = r, .rank = rank, .layer = UINT32_MAX};
    r->n = r->at = 0;
    if (r->pass < llm_passes(&p->spec)) {
        struct llm_pass pass = llm_pass_at(&p->spec, r->stage, r->pass++);
        if (pass.backward)
            backward(&m, pass);
        else
            forward(&m, pass);
        return;
    }
    finish_iteration(&m);
    r->pass = 0;
    r->ended = ++r->iteration == p->spec.p.iterations;
}

static int llm_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct llm_cursor *c = cursor;
    struct llm_rank *r = &c->ranks[rank];
    (void)err;
    while (r->at == r->n) {
        if (r->ended)
            return 0;
        make_next(c->program, rank, r);
    }
    const struct made_node *made = &r->nodes[r->at++];
    *node = made->node;
    node->after = made->after;
    node->name = made->name;
    return 1;
}

static void llm_close(void *cursor)
{
    struct llm_cursor *c = cursor;
    for (uint32_t i = 0; i < c->program->layout.n_ranks; i++)
        free(c->ranks[i].nodes);
    free(c->ranks);
    free(c);
}

static void llm_free(void *self)
{
    struct llm_program *p = self;
    for (uint32_t l = 0; p->loads != NULL && l < p->spec.p.layers; l++)
        llm_load_free(&p->loads[l]);
    free(p->loads);
    llm_layout_free(&p->layout);
}

const struct node_source_ops llm_source = {
    .open = llm_open,
    .next = llm_next,
    .close = llm_close,
    .free = llm_free,
};

void llm_program_init(struct llm_program *program, struct node_program *nodes,
                      const struct llm_params *params, const enum llm_degree order[LLM_DEGREES],
                      const struct group_choice *choice, uint64_t seed)
{
    program->spec = llm_spec_of(params);
    llm_layout_init(&program->layout, params, order);
    uint32_t layers = (uint32_t)params->layers;
    *nodes = (struct node_program){.source = &llm_source,
                                   .self = program,
                                   .n_ranks = program->layout.n_ranks,
                                   .in_order = true,
                                   .n_layers = layers,
                                   .idle_use = UINT32_MAX};
    llm_groups_add(&program->layout, choice, nodes);
    nodes->uses = memory_zeroed(LLM_DEGREES, sizeof(char *));
    for (unsigned d = 0; d < LLM_DEGREES; d++) {
        bool used = program->layout.size[d] > 1 ||
                    (d == LLM_DATA && program->layout.group[LLM_GROUP_DATA] != NULL);
        if (d == LLM_PIPELINE && used)
            nodes->idle_use = nodes->n_uses;
        program->use[d] = (uint16_t)nodes->n_uses;
        if (used)
            nodes->uses[nodes->n_uses++] = memory_text(llm_degree_names[d]);
    }
    nodes->layers = memory_zeroed(layers, sizeof(char *));
    for (uint32_t l = 0; l < layers; l++)
        nodes->layers[l] = text_format("layer%u", l);
    if (params->experts == 0)
        return;
    program->loads = memory_zeroed(layers, sizeof *program->loads);
    for (uint32_t l = 0; l < layers; l++)
        if (llm_is_moe(&program->spec, l))
            llm_load_init(&program->loads[l], &program->spec, l,
                          (uint32_t)params->degrees[LLM_EXPERT], seed);
}
