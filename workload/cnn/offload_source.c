// SPDX-License-Identifier: MIT
// An iteration has a node for each operation, a node for the all-reduce of each layer and one for
// all layers together; ids count in this order, from iteration to iteration.
#include "workload/cnn/offload_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"

#define AFTER_MAX (OFFLOAD_AFTER + OFFLOAD_STREAMS)

// The streams of the schedule and that of all-reduces, as streams of a program.
enum { STREAM_DATA = NODE_COMM_STREAM, STREAM_IN };
static const uint8_t streams[OFFLOAD_STREAMS] = {[OFFLOAD_GPU] = NODE_COMPUTE_STREAM,
                                                 [OFFLOAD_HOST] = NODE_CPU_STREAM,
                                                 [OFFLOAD_OUT] = NODE_COPY_STREAM,
                                                 [OFFLOAD_IN] = STREAM_IN};

const char *offload_stream_name(uint8_t stream)
{
    switch (stream) {
    case NODE_CPU_STREAM:
        return "host";
    case NODE_COPY_STREAM:
        return "to the host";
    case STREAM_DATA:
        return "gradients";
    case STREAM_IN:
        return "from the host";
    default:
        return node_stream_name(stream);
    }
}

struct rank_state {
    uint64_t iteration;
    uint32_t op;    // the next operation
    bool reduces;   // the next node is the all-reduce before the next operation
    uint32_t layer; // of it; the number of layers = all
    uint64_t after[AFTER_MAX];
    char name[CNN_NAME + 32];
};

struct cursor {
    const struct cnn_program *program;
    const struct cnn_model *model;
    const struct offload_schedule *schedule;
    struct rank_state *ranks;
    double parameters;
    uint32_t reduced_last; // layer of the last all-reduce; the number of layers = all
};

/* ---- ids ---- */

static uint64_t iteration_id(const struct cursor *c, uint64_t iteration)
{
    return iteration * (c->schedule->n + c->model->n + UINT64_C(1));
}

static uint64_t op_id(const struct cursor *c, const struct rank_state *r, uint32_t op)
{
    return iteration_id(c, r->iteration) + op;
}

static uint64_t reduce_id(const struct cursor *c, const struct rank_state *r, uint32_t layer)
{
    return iteration_id(c, r->iteration) + c->schedule->n + layer;
}

/* ---- all-reduces ---- */

static bool is_divided(const struct cursor *c) { return c->program->group[CNN_GROUP_DATA] != NULL; }

static bool has_parameters(const struct cursor *c, uint32_t layer)
{
    return cnn_parameters(&c->model->layers[layer]) > 0;
}

// Whether gradients are reduced layer by layer.
static bool is_by_layer(const struct cursor *c)
{
    return c->program->overlap || c->program->offload->chain.swaps_weights;
}

// The operation behind which a layer's gradient is reduced.
static enum offload_what reduced_behind(const struct cursor *c)
{
    return c->program->offload->chain.swaps_weights ? OFFLOAD_GRADIENT_OUT : OFFLOAD_BACKWARD;
}

static void make_reduce(const struct cursor *c, struct rank_state *r, uint32_t rank,
                        struct node *node)
{
    bool all = r->layer == c->model->n;
    double parameters = all ? c->parameters : cnn_parameters(&c->model->layers[r->layer]);
    snprintf(r->name, sizeof r->name, "%s gradients",
             all ? "all" : c->model->layers[r->layer].name);
    r->after[0] = op_id(c, r, r->op - 1);
    *node =
        (struct node){.id = reduce_id(c, r, r->layer),
                      .kind = NODE_COLLECTIVE,
                      .stream = STREAM_DATA,
                      .n_after = 1,
                      .layer = all ? 0 : r->layer + 1,
                      .group = c->program->group[CNN_GROUP_DATA][rank],
                      .use = c->program->use[CNN_USE_GRADIENTS],
                      .op = COLL_ALL_REDUCE,
                      .bytes = (uint64_t)(parameters * (double)c->program->plan.item_bytes + 0.5),
                      .dims = 1};
    r->reduces = false;
}

/* ---- operations ---- */

static const char *op_text(const struct offload_op *op)
{
    static const char *const texts[] = {[OFFLOAD_FORWARD] = "products forward",
                                        [OFFLOAD_AGAIN] = "products recomputed",
                                        [OFFLOAD_BACKWARD] = "products backward",
                                        [OFFLOAD_OUTPUT_OUT] = "output to the host",
                                        [OFFLOAD_OUTPUT_IN] = "output from the host",
                                        [OFFLOAD_WEIGHTS_IN] = "weights from the host",
                                        [OFFLOAD_GRADIENT_OUT] = "gradient to the host",
                                        [OFFLOAD_UPDATE] = "optimizer update"};
    return texts[op->what];
}

// What the operation comes after: of its own iteration, or else all of the one before.
static uint32_t make_after(const struct cursor *c, struct rank_state *r,
                           const struct offload_op *op)
{
    uint32_t n = 0;
    for (; n < op->n_after; n++)
        r->after[n] = op_id(c, r, op->after[n]);
    if (op->what == OFFLOAD_UPDATE && is_divided(c) && c->parameters > 0)
        r->after[n++] = reduce_id(c, r, op->layer < c->model->n ? op->layer : c->reduced_last);
    for (unsigned s = 0; op->n_after == 0 && r->iteration > 0 && s < OFFLOAD_STREAMS; s++)
        if (c->schedule->last[s] != OFFLOAD_NONE)
            r->after[n++] = iteration_id(c, r->iteration - 1) + c->schedule->last[s];
    return n;
}

static void make_op(const struct cursor *c, struct rank_state *r, struct node *node)
{
    const struct offload_op *op = &c->schedule->ops[r->op];
    bool computes = op->stream == OFFLOAD_GPU, all = op->layer == c->model->n;
    snprintf(r->name, sizeof r->name, "%s %s", all ? "all" : c->model->layers[op->layer].name,
             op_text(op));
    *node = (struct node){.id = op_id(c, r, r->op),
                          .kind = computes ? NODE_COMPUTE : NODE_WAIT,
                          .stream = streams[op->stream],
                          .layer = all ? 0 : op->layer + 1,
                          .takes_ps = op->takes_ps,
                          .bytes = op->bytes};
    if (!computes) {
        node->use = c->program->use[CNN_USE_SWAP];
        node->counts_as_use = true;
    }
    node->n_after = make_after(c, r, op);
    if (is_divided(c) && is_by_layer(c) && op->what == reduced_behind(c) &&
        has_parameters(c, op->layer)) {
        r->reduces = true;
        r->layer = op->layer;
    }
    r->op++;
    bool last = r->op < c->schedule->n && c->schedule->ops[r->op].layer == c->model->n;
    if (last && is_divided(c) && !is_by_layer(c) && c->parameters > 0) {
        r->reduces = true;
        r->layer = c->model->n;
    }
}

/* ---- the source ---- */

static void *source_open(const void *self)
{
    struct cursor *c = memory_zeroed(1, sizeof *c);
    c->program = self;
    c->model = c->program->plan.model;
    c->schedule = &c->program->offload->schedule;
    c->ranks = memory_zeroed(c->program->n_ranks, sizeof *c->ranks);
    c->reduced_last = c->model->n;
    for (uint32_t l = c->model->n; l-- > 0;) {
        c->parameters += cnn_parameters(&c->model->layers[l]);
        if (is_by_layer(c) && has_parameters(c, l))
            c->reduced_last = l;
    }
    return c;
}

static int source_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct cursor *c = cursor;
    struct rank_state *r = &c->ranks[rank];
    (void)err;
    if (r->op == c->schedule->n && !r->reduces) {
        r->op = 0;
        r->iteration++;
    }
    if (r->iteration == c->program->iterations)
        return 0;
    if (r->reduces)
        make_reduce(c, r, rank, node);
    else
        make_op(c, r, node);
    node->iteration = (uint32_t)r->iteration + 1;
    node->after = r->after;
    node->name = r->name;
    return 1;
}

static void source_close(void *cursor)
{
    struct cursor *c = cursor;
    free(c->ranks);
    free(c);
}

const struct node_source_ops offload_source = {
    .open = source_open, .next = source_next, .close = source_close, .free = cnn_program_free};
