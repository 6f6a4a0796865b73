// SPDX-License-Identifier: MIT
// The nodes of a layer's pass are made when the first of them is read, in a buffer of the rank.
#include "workload/cnn/cnn_source.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/cnn/offload_source.h"

#define NODES_MAX (4 * CNN_AXES + 6) // of a pass through a layer
#define AFTER_MAX (2 * CNN_AXES + 3)
#define NO_NODE UINT64_MAX
enum { STREAM_PARTS = NODE_COMM_STREAM, STREAM_DATA };

struct made {
    struct node node;
    uint64_t after[AFTER_MAX];
    char name[CNN_NAME + 16];
};

struct rank_state {
    uint64_t iteration, step, next_id;
    uint64_t last;                   // node of the chain of passes
    uint64_t messages[2 * CNN_AXES]; // that the next computation waits for
    uint32_t n_messages;
    uint64_t gradients; // last node on the stream of data
    struct made nodes[NODES_MAX];
    uint32_t n, at;
};

struct cursor {
    const struct cnn_program *program;
    struct rank_state *ranks;
};

struct maker {
    const struct cnn_program *p;
    const struct cnn_plan *plan;
    struct rank_state *r;
    uint32_t rank;
    const char *pass;
};

/* ---- nodes ---- */

static struct node *make(struct maker *m, enum node_kind kind, uint8_t stream, uint32_t layer,
                         const char *what)
{
    struct made *made = &m->r->nodes[m->r->n++];
    *made = (struct made){.node = {.id = m->r->next_id++,
                                   .kind = (uint8_t)kind,
                                   .stream = stream,
                                   .layer = layer < m->plan->model->n ? layer + 1 : 0,
                                   .iteration = (uint32_t)m->r->iteration + 1}};
    const char *name = layer < m->plan->model->n ? m->plan->model->layers[layer].name : "all";
    snprintf(made->name, sizeof made->name, "%s %s %s", name, what, m->pass);
    return &made->node;
}

static void after(struct maker *m, uint64_t id)
{
    struct made *made = &m->r->nodes[m->r->n - 1];
    if (id != NO_NODE)
        made->after[made->node.n_after++] = id;
}

// The last node that was made is the next one of the chain, behind the messages that were received.
static void chain(struct maker *m)
{
    after(m, m->r->last);
    for (uint32_t i = 0; i < m->r->n_messages; i++)
        after(m, m->r->messages[i]);
    m->r->n_messages = 0;
    m->r->last = m->r->nodes[m->r->n - 1].node.id;
}

static void collective(struct maker *m, enum cnn_group group, enum cnn_use use, enum coll_op op,
                       double bytes, uint32_t layer)
{
    const uint32_t *groups = m->p->group[group];
    if (groups == NULL || bytes < 1)
        return;
    bool data = use == CNN_USE_GRADIENTS;
    struct node *node = make(m, NODE_COLLECTIVE, data ? STREAM_DATA : STREAM_PARTS, layer,
                             data ? "gradients" : "exchange");
    node->group = groups[m->rank];
    node->use = m->p->use[use];
    node->op = op;
    node->bytes = (uint64_t)(bytes + 0.5);
    node->dims = 1;
    if (data) {
        after(m, m->r->last);
        m->r->gradients = node->id;
    } else {
        chain(m);
    }
}

static void message(struct maker *m, bool sends, uint32_t peer, uint32_t tag, enum cnn_use use,
                    double bytes, uint32_t layer)
{
    struct node *node = make(m, sends ? NODE_SEND : NODE_RECV, NODE_NO_STREAM, layer,
                             use == CNN_USE_BORDERS ? "border" : "boundary");
    node->peer = peer;
    node->tag = tag;
    node->bytes = (uint64_t)(bytes + 0.5) + (bytes < 0.5);
    node->use = m->p->use[use];
    if (sends)
        after(m, m->r->last);
    else
        m->r->messages[m->r->n_messages++] = node->id;
}

/* ---- shares ---- */

static double samples(const struct cnn_plan *p)
{
    double segments = p->strategy == CNN_PIPELINE ? (double)p->segments : 1;
    return (double)p->batch / p->groups / segments;
}

// The place of the rank's part along an axis, and the distance in ranks to the next part.
static uint32_t place(const struct maker *m, unsigned axis)
{
    uint32_t part = m->rank % m->plan->parts;
    for (unsigned a = 0; a < axis; a++)
        part /= m->plan->axes[a];
    return part % m->plan->axes[axis];
}

static uint32_t stride(const struct cnn_plan *p, unsigned axis)
{
    uint32_t ranks = 1;
    for (unsigned a = 0; a < axis; a++)
        ranks *= p->axes[a];
    return ranks;
}

// The rank's share of a layer: parts of a domain that does not divide differ by one element.
static double share(const struct maker *m, uint32_t layer)
{
    const struct cnn_layer *l = &m->plan->model->layers[layer];
    double part = 1;
    if (cnn_divides_channels(m->plan->strategy))
        return 1.0 / m->plan->parts;
    if (!cnn_divides_domain(m->plan->strategy) || layer >= m->plan->cut)
        return 1;
    for (unsigned a = 0; a < CNN_AXES; a++) {
        uint32_t n = m->plan->axes[a], own = l->out[a] / n + (place(m, a) < l->out[a] % n);
        part *= (double)own / l->out[a];
    }
    return part;
}

/* ---- passes ---- */

static void compute(struct maker *m, uint32_t layer, double ps)
{
    struct node *node = make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, layer, "products");
    node->takes_ps = (ps_t)(ps + 0.5);
    chain(m);
}

static void borders(struct maker *m, uint32_t layer, uint32_t channels)
{
    const struct cnn_plan *p = m->plan;
    const struct cnn_layer *l = &p->model->layers[layer];
    if (!cnn_divides_domain(p->strategy) || layer >= p->cut)
        return;
    for (unsigned a = 0; a < CNN_AXES; a++) {
        double bytes = samples(p) * (double)p->item_bytes * cnn_border(l, channels, p->axes, a);
        if (p->axes[a] < 2 || l->kernel[a] < 2)
            continue;
        for (unsigned up = 0; up < 2; up++) {
            bool end = up ? place(m, a) + 1 == p->axes[a] : place(m, a) == 0;
            uint32_t peer = up ? m->rank + stride(p, a) : m->rank - stride(p, a);
            if (end)
                continue;
            message(m, true, peer, 2 * a + up, CNN_USE_BORDERS, bytes, layer);
            message(m, false, peer, 2 * a + !up, CNN_USE_BORDERS, bytes, layer);
        }
    }
}

// What the parts exchange of a layer's outputs, or of their gradients.
static void exchange(struct maker *m, uint32_t layer, bool backward)
{
    const struct cnn_plan *p = m->plan;
    const struct cnn_layer *l = &p->model->layers[layer];
    bool reduces = (p->strategy == CNN_CHANNEL) != backward;
    if (cnn_divides_channels(p->strategy) && l->kind != CNN_POOL && layer != m->p->last)
        collective(m, CNN_GROUP_PARTS, CNN_USE_CHANNELS,
                   reduces ? COLL_ALL_REDUCE : COLL_ALL_GATHER,
                   samples(p) * (double)p->item_bytes * cnn_outputs(l), layer);
    if (cnn_divides_domain(p->strategy) && !backward && layer + 1 == p->cut && p->cut < p->model->n)
        collective(m, CNN_GROUP_PARTS, CNN_USE_CHANNELS, COLL_ALL_GATHER,
                   samples(p) * (double)p->item_bytes * cnn_outputs(l), layer);
}

static void reduce(struct maker *m, double parameters, bool cut, uint32_t layer)
{
    double bytes = parameters * (double)m->plan->item_bytes;
    if (cnn_divides_channels(m->plan->strategy))
        bytes /= m->plan->parts;
    collective(m, cnn_divides_domain(m->plan->strategy) && cut ? CNN_GROUP_ALL : CNN_GROUP_DATA,
               CNN_USE_GRADIENTS, COLL_ALL_REDUCE, bytes, layer);
}

static void forward(struct maker *m, uint32_t layer)
{
    borders(m, layer, m->plan->model->layers[layer].channels);
    compute(m, layer, samples(m->plan) * m->plan->times[layer].forward_ps * share(m, layer));
    exchange(m, layer, false);
}

static void backward(struct maker *m, uint32_t layer)
{
    const struct cnn_layer *l = &m->plan->model->layers[layer];
    exchange(m, layer, true);
    borders(m, layer, l->filters);
    compute(m, layer, samples(m->plan) * m->plan->times[layer].backward_ps * share(m, layer));
    if (m->p->overlap && m->plan->strategy != CNN_PIPELINE)
        reduce(m, cnn_parameters(l), layer < m->plan->cut, layer);
}

// The end of an iteration: without `overlap` all gradients are reduced here; then the optimizer
// updates the parameters.
static void update(struct maker *m, uint32_t first, uint32_t end)
{
    double parameters[2] = {0, 0}, ps = 0; // of layers that are cut, and others
    m->pass = "update";
    for (uint32_t l = first; l < end; l++) {
        parameters[l >= m->plan->cut] += cnn_parameters(&m->plan->model->layers[l]);
        ps += m->plan->times[l].update_ps;
    }
    if (!m->p->overlap && m->plan->strategy != CNN_PIPELINE) {
        reduce(m,
               cnn_divides_domain(m->plan->strategy) ? parameters[0]
                                                     : parameters[0] + parameters[1],
               true, UINT32_MAX);
        reduce(m, cnn_divides_domain(m->plan->strategy) ? parameters[1] : 0, false, UINT32_MAX);
    }
    struct node *node = make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, UINT32_MAX, "optimizer");
    node->takes_ps =
        (ps_t)(ps * (cnn_divides_channels(m->plan->strategy) ? 1.0 / m->plan->parts : 1) + 0.5);
    after(m, m->r->gradients);
    chain(m);
    m->r->gradients = NO_NODE;
}

// Step `at` of a pipeline's pass: a layer of a segment, with the messages at the stage's ends.
static void staged(struct maker *m, uint32_t first, uint32_t end, uint64_t at, bool back)
{
    const struct cnn_plan *p = m->plan;
    uint32_t n = end - first, i = (uint32_t)(at % n), layer = back ? end - 1 - i : first + i,
             entry = back ? end - 1 : first, exit = back ? first : end - 1;
    bool first_stage = first == 0, last_stage = end == p->model->n;
    double item = samples(p) * (double)p->item_bytes;
    if (layer == entry && !(back ? last_stage : first_stage))
        message(m, false, back ? m->rank + 1 : m->rank - 1, back, CNN_USE_PIPELINE,
                item * cnn_outputs(&p->model->layers[back ? end - 1 : first - 1]), layer);
    if (back)
        backward(m, layer);
    else
        forward(m, layer);
    if (layer == exit && !(back ? first_stage : last_stage))
        message(m, true, back ? m->rank - 1 : m->rank + 1, back, CNN_USE_PIPELINE,
                item * cnn_outputs(&p->model->layers[back ? first - 1 : end - 1]), layer);
}

/* ---- the source ---- */

static void make_next(const struct cnn_program *p, uint32_t rank, struct rank_state *r)
{
    struct maker m = {.p = p, .plan = &p->plan, .r = r, .rank = rank, .pass = "forward"};
    bool pipeline = p->plan.strategy == CNN_PIPELINE;
    uint32_t first = pipeline ? p->plan.stage[rank] : 0,
             end = pipeline ? p->plan.stage[rank + 1] : p->plan.model->n;
    uint64_t passes = (uint64_t)(end - first) * (pipeline ? p->plan.segments : 1);
    bool back = r->step >= passes;
    r->n = r->at = 0;
    if (back)
        m.pass = "backward";
    if (r->step >= 2 * passes) {
        update(&m, first, end);
        r->step = 0;
        r->iteration++;
        return;
    }
    uint64_t at = r->step++ - (back ? passes : 0);
    if (pipeline)
        staged(&m, first, end, at, back);
    else if (back)
        backward(&m, end - 1 - (uint32_t)at);
    else
        forward(&m, (uint32_t)at);
}

static void *source_open(const void *self)
{
    struct cursor *c = memory_zeroed(1, sizeof *c);
    c->program = self;
    c->ranks = memory_zeroed(c->program->n_ranks, sizeof *c->ranks);
    for (uint32_t i = 0; i < c->program->n_ranks; i++)
        c->ranks[i].last = c->ranks[i].gradients = NO_NODE;
    return c;
}

static int source_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct cursor *c = cursor;
    struct rank_state *r = &c->ranks[rank];
    (void)err;
    while (r->at == r->n) {
        if (r->iteration == c->program->iterations)
            return 0;
        make_next(c->program, rank, r);
    }
    const struct made *made = &r->nodes[r->at++];
    *node = made->node;
    node->after = made->after;
    node->name = made->name;
    return 1;
}

static void source_close(void *cursor)
{
    struct cursor *c = cursor;
    free(c->ranks);
    free(c);
}

void cnn_program_free(void *self)
{
    struct cnn_program *p = self;
    for (unsigned g = 0; g < CNN_GROUPS; g++)
        free(p->group[g]);
    free(p->twin);
}

static const struct node_source_ops cnn_source = {
    .open = source_open, .next = source_next, .close = source_close, .free = cnn_program_free};

/* ---- groups ---- */

static void add_groups(struct cnn_program *p, struct node_program *nodes, enum cnn_group kind,
                       const struct group_choice *choice)
{
    static const char *const names[] = {"parts", "data", "all"};
    uint32_t parts = p->plan.parts, n = p->n_ranks,
             size = kind == CNN_GROUP_ALL     ? n
                    : kind == CNN_GROUP_PARTS ? parts
                                              : p->plan.groups;
    if (size < 2)
        return;
    p->group[kind] = memory_zeroed(n, sizeof *p->group[kind]);
    for (uint32_t g = 0; g < n / size; g++) {
        nodes->groups = memory_resize(nodes->groups, nodes->n_groups + 1, sizeof *nodes->groups);
        struct node_group *group = &nodes->groups[nodes->n_groups];
        *group = (struct node_group){.name = text_format("%s%u", names[kind], g),
                                     .ranks = memory_zeroed(size, sizeof *group->ranks),
                                     .schedule = group_schedule(choice, size),
                                     .inner = 1};
        for (uint32_t i = 0; i < size; i++) {
            uint32_t rank = kind == CNN_GROUP_DATA ? i * parts + g : g * size + i;
            group->ranks[i] = rank;
            p->group[kind][rank] = nodes->n_groups;
        }
        nodes->n_groups++;
    }
}

static void add_use(struct cnn_program *p, struct node_program *nodes, enum cnn_use use, bool used)
{
    static const char *const names[] = {"gradients", "channels", "borders", "pipeline", "swap"};
    p->use[use] = (uint16_t)nodes->n_uses;
    if (used)
        nodes->uses[nodes->n_uses++] = memory_text(names[use]);
}

void cnn_program_init(struct cnn_program *p, struct node_program *nodes,
                      const struct group_choice *choice)
{
    const struct cnn_plan *plan = &p->plan;
    const struct cnn_model *model = plan->model;
    bool gradients = plan->groups > 1 || cnn_divides_domain(plan->strategy);
    for (uint32_t l = 0; l < model->n; l++)
        p->last = model->layers[l].kind != CNN_POOL ? l : p->last;
    *nodes = (struct node_program){.source = p->offload != NULL ? &offload_source : &cnn_source,
                                   .self = p,
                                   .n_ranks = p->n_ranks,
                                   .in_order = true,
                                   .n_layers = model->n,
                                   .idle_use = UINT32_MAX};
    if (cnn_divides_channels(plan->strategy) || cnn_divides_domain(plan->strategy))
        add_groups(p, nodes, CNN_GROUP_PARTS, choice);
    add_groups(p, nodes, CNN_GROUP_DATA, choice);
    if (cnn_divides_domain(plan->strategy) && plan->cut > 0)
        add_groups(p, nodes, CNN_GROUP_ALL, choice);
    nodes->uses = memory_zeroed(CNN_USES, sizeof(char *));
    add_use(p, nodes, CNN_USE_GRADIENTS, gradients);
    add_use(p, nodes, CNN_USE_CHANNELS,
            cnn_divides_channels(plan->strategy) || cnn_divides_domain(plan->strategy));
    add_use(p, nodes, CNN_USE_BORDERS, cnn_divides_domain(plan->strategy));
    if (plan->strategy == CNN_PIPELINE)
        nodes->idle_use = nodes->n_uses;
    add_use(p, nodes, CNN_USE_PIPELINE, plan->strategy == CNN_PIPELINE);
    if (p->offload != NULL)
        nodes->stream_name = offload_stream_name;
    add_use(p, nodes, CNN_USE_SWAP, p->offload != NULL);
    nodes->layers = memory_zeroed(model->n, sizeof(char *));
    for (uint32_t l = 0; l < model->n; l++)
        nodes->layers[l] = memory_text(model->layers[l].name);
    p->twin = memory_zeroed(1, sizeof *p->twin);
    *p->twin = *p;
    p->twin->iterations = 1;
    nodes->twins[0].self = p->twin;
    nodes->twins[0].weight = (double)p->iterations;
}
