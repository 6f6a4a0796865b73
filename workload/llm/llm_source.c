// SPDX-License-Identifier: MIT
// A pass is expanded into a buffer of the rank when its first node is read.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/llm/llm_maker.h"
#include "workload/llm/llm_time.h"

/* ---- llm layer ---- */

// The nodes of a layer: computations, and the exchanges between them.

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
    llm_compute(m, "experts", llm_experts_ps(m->gpu, m->layer, tokens, m->backward),
                llm_experts_contention(m->gpu, tokens, m->backward));
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

// The nodes of layer m->layer, with its tensor, context and expert exchanges (llm_layer.c).
static void llm_layer_forward(struct llm_maker *m)
{
    context_exchange(m, COLL_ALL_GATHER);
    dense(m);
    moe_part(m);
}

static void llm_layer_backward(struct llm_maker *m)
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

/* ---- llm source ---- */

struct llm_cursor {
    const struct llm_program *program;
    struct llm_rank *ranks;
};

/* ---- data parallelism ---- */

static void data_collective(struct llm_maker *m, enum llm_group group, enum coll_op op,
                            uint64_t bytes, const char *what, uint64_t since)
{
    if (m->p->layout.group[group] == NULL || bytes == 0)
        return;
    struct node *node = llm_collective(m, group, LLM_DATA, LLM_STREAM_DATA, op, bytes, what);
    m->r->exchange = node->id;
    llm_after(m, since);
}

static uint64_t dense_of(const struct llm_maker *m)
{
    return m->layer == UINT32_MAX ? llm_embedding_parameters(m->s)
                                  : llm_dense_parameters(m->s, m->layer);
}

static uint64_t experts_of(const struct llm_maker *m)
{
    return m->layer == UINT32_MAX ? 0 : llm_expert_parameters(m->s, m->layer);
}

static void reduce_gradients(struct llm_maker *m, uint64_t since)
{
    enum coll_op op = m->s->p.zero == 0 ? COLL_ALL_REDUCE : COLL_REDUCE_SCATTER;
    data_collective(m, LLM_GROUP_DATA, op, dense_of(m) * m->s->p.gradient_bytes, "gradients",
                    since);
    data_collective(m, LLM_GROUP_EXPERT_DATA, op, experts_of(m) * m->s->p.gradient_bytes,
                    "expert gradients", since);
}

// The next computation waits for the parameters.
static void gather_parameters(struct llm_maker *m, uint64_t since)
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

static uint32_t stage_of_pass(const struct llm_maker *m, uint32_t chunk)
{
    return chunk * m->p->layout.size[LLM_PIPELINE] + m->r->stage;
}

static uint32_t last_stage(const struct llm_maker *m)
{
    return m->p->layout.size[LLM_PIPELINE] * (uint32_t)m->s->p.virtual_stages - 1;
}

// The message from virtual stage `from` to `to`: this rank is one of them.
static void boundary(struct llm_maker *m, uint32_t from, uint32_t to, bool sends)
{
    uint32_t n = m->p->layout.size[LLM_PIPELINE], other = sends ? to : from;
    struct node *node = llm_make(m, sends ? NODE_SEND : NODE_RECV, NODE_NO_STREAM,
                                 from < to ? "activations" : "gradients");
    node->peer = llm_neighbour(&m->p->layout, m->rank, LLM_PIPELINE, other % n);
    node->tag = 2 * (to / n) + (from > to);
    node->bytes = llm_boundary_bytes(m->s);
    node->use = m->p->use[LLM_PIPELINE];
    if (sends)
        llm_after(m, m->r->last);
    else
        m->r->message = node->id;
}

// With ZeRO 3 the parameters of a layer are gathered while the layer before it computes.
static void prefetch(struct llm_maker *m)
{
    if (m->s->p.zero == 3)
        gather_parameters(m, m->r->earlier);
}

// Sharded gradients (ZeRO 2, 3) are scattered for every micro-batch, the others with the last one.
static bool reduces_now(const struct llm_maker *m, uint32_t micro_batch)
{
    return m->s->p.zero >= 2 ||
           (m->s->p.overlap && micro_batch + 1 == m->s->training.layout.pipeline.micro_batches);
}

// Without overlap the next computation waits for what has been reduced.
static void reduce_layer(struct llm_maker *m)
{
    reduce_gradients(m, m->r->last);
    if (!m->s->p.overlap)
        m->r->gathered = m->r->exchange;
}

static void logits(struct llm_maker *m)
{
    m->layer = UINT32_MAX;
    prefetch(m);
    llm_compute_part(m, "logits", LLM_PART_LOGITS);
}

static void forward(struct llm_maker *m, struct pipeline_pass pass)
{
    uint32_t stage = stage_of_pass(m, pass.chunk);
    struct layer_span span = transformer_chunk_layers(&m->s->training, stage);
    m->pass = "forward";
    m->layer = UINT32_MAX;
    if (stage > 0)
        boundary(m, stage - 1, stage, false);
    else
        prefetch(m); // of the embedding
    for (m->layer = span.first; m->layer < span.first + span.n; m->layer++) {
        prefetch(m);
        llm_layer_forward(m);
    }
    if (stage == last_stage(m))
        logits(m);
    m->layer = UINT32_MAX;
    if (stage < last_stage(m))
        boundary(m, stage, stage + 1, true);
}

static void backward(struct llm_maker *m, struct pipeline_pass pass)
{
    uint32_t stage = stage_of_pass(m, pass.chunk);
    struct layer_span span = transformer_chunk_layers(&m->s->training, stage);
    bool reduces = reduces_now(m, pass.micro_batch);
    m->pass = "backward";
    m->backward = true;
    m->layer = UINT32_MAX;
    if (stage < last_stage(m)) {
        boundary(m, stage + 1, stage, false);
    } else {
        logits(m);
        if (reduces)
            reduce_layer(m);
    }
    for (m->layer = span.first + span.n; m->layer-- > span.first;) {
        prefetch(m);
        llm_layer_backward(m);
        if (reduces)
            reduce_layer(m);
    }
    m->layer = UINT32_MAX;
    if (stage > 0)
        boundary(m, stage, stage - 1, true);
    else if (reduces)
        reduce_layer(m); // of the embedding
}

/* ---- the end of an iteration ---- */

// Parameters of the layer (or embedding) that the rank's optimizer updates.
static double updated(const struct llm_maker *m)
{
    bool sharded = m->s->p.zero > 0;
    uint32_t dense = sharded ? llm_group_size(&m->p->layout, LLM_GROUP_DATA) : 1;
    uint32_t expert = sharded ? llm_group_size(&m->p->layout, LLM_GROUP_EXPERT_DATA) : 1;
    return (double)dense_of(m) / dense + (double)experts_of(m) / expert;
}

// Call `each`, which may be NULL, for all layers and embeddings of the rank. Returns the parameters
// that its optimizer updates.
static double for_all(struct llm_maker *m, void (*each)(struct llm_maker *m, uint64_t since),
                      uint64_t since)
{
    double parameters = 0;
    for (uint32_t chunk = 0; chunk < m->s->p.virtual_stages; chunk++) {
        uint32_t stage = stage_of_pass(m, chunk);
        struct layer_span span = transformer_chunk_layers(&m->s->training, stage);
        uint32_t tables = (stage == 0 ? 1U : 0U) + (stage == last_stage(m) ? 1U : 0U);
        for (uint32_t i = 0; i < span.n + tables; i++) {
            m->layer = i < span.n ? span.first + i : UINT32_MAX;
            parameters += updated(m);
            if (each != NULL)
                each(m, since);
        }
    }
    m->layer = UINT32_MAX;
    return parameters;
}

static void finish_iteration(struct llm_maker *m)
{
    m->pass = "update";
    m->backward = false;
    double parameters =
        for_all(m, m->s->p.overlap || m->s->p.zero >= 2 ? NULL : reduce_gradients, m->r->last);
    m->r->gathered = m->r->exchange;
    struct node *node = llm_make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, "optimizer");
    node->takes_ps = llm_takes(m, llm_optimizer_ps(m->gpu, parameters));
    llm_chain(m);
    m->r->earlier = m->r->last; // parameters change: nothing is gathered before
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
        r->last = r->message = r->gathered = r->exchange = r->earlier = LLM_NO_NODE;
    }
    return c;
}

static void make_next(const struct llm_program *p, uint32_t rank, struct llm_rank *r)
{
    const struct llm_gpu *gpu = llm_gpu_of(&p->gpus, rank);
    struct llm_maker m = {.p = p,
                          .s = &p->spec,
                          .gpu = gpu != NULL ? &gpu->spec : &p->spec,
                          .factor = gpu != NULL ? gpu->factor : 1,
                          .r = r,
                          .rank = rank,
                          .layer = UINT32_MAX};
    r->n = r->at = 0;
    const struct pipeline *pipeline = &p->spec.training.layout.pipeline;
    if (r->pass < pipeline_passes(pipeline)) {
        struct pipeline_pass pass = pipeline_pass_at(pipeline, r->stage, r->pass++);
        m.number = (uint32_t)r->pass;
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
    free(p->twins);
    llm_gpus_free(&p->gpus);
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

static void init_loads(struct llm_program *program, uint64_t seed)
{
    const struct llm_params *p = &program->spec.p;
    program->loads = memory_zeroed(p->layers, sizeof *program->loads);
    for (uint32_t l = 0; l < p->layers; l++)
        if (llm_is_moe(&program->spec, l))
            llm_load_init(&program->loads[l], &program->spec, l, (uint32_t)p->degrees[LLM_EXPERT],
                          seed);
}

// The bytes of an iteration are linear in the number of micro-batches, so two short iterations
// determine the bytes of any.
static void add_twins(struct llm_program *program, struct node_program *nodes)
{
    const struct llm_params *p = &program->spec.p;
    uint32_t step = p->virtual_stages > 1 ? (uint32_t)p->degrees[LLM_PIPELINE] : 1;
    double weight = (double)program->spec.training.layout.pipeline.micro_batches / step - 1;
    program->twins = memory_zeroed(2, sizeof *program->twins);
    for (uint32_t i = 0; i < 2; i++) {
        program->twins[i] = *program;
        program->twins[i].spec.training.layout.pipeline.micro_batches = (i + 1) * step;
        program->twins[i].spec.p.iterations = 1;
        nodes->twins[i].self = &program->twins[i];
        nodes->twins[i].weight = (double)p->iterations * (i == 0 ? 1 - weight : weight);
    }
}

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
    if (params->experts > 0)
        init_loads(program, seed);
    add_twins(program, nodes);
}
