// SPDX-License-Identifier: MIT
// The nodes of batches come before the first node of the iteration that lets them begin.
#include "workload/nodes/input.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define NO_NODE UINT64_MAX
#define FIRST_ID (UINT64_C(1) << 62) // above those of programs
#define AFTER_MAX 3

struct input_rank {
    uint64_t iteration; // that has begun, from 1; 0 = none
    uint64_t made, due; // nodes of batches that were given out, and that may be
    uint64_t last;      // computation; NO_NODE = none
    bool gate;          // the next computation of the iteration is its first
    bool held;          // `node` is the program's next one
    struct node node;
    uint64_t own_after[AFTER_MAX]; // of a batch's node
    uint64_t *after;               // [cap] of a node that waits for a batch
    size_t cap;
};

struct input_cursor {
    const struct input_view *view;
    void *cursor; // of the program's source
    struct input_rank *ranks;
};

/* ---- the nodes of batches ---- */

static uint64_t nodes_of_batch(const struct node_input *in) { return in->exchanges ? 2 : 1; }

// The node of batch `k`, from 0, that reads it, and the one whose end means that it is there.
static uint64_t read_id(const struct node_input *in, uint64_t k)
{
    return FIRST_ID + k * nodes_of_batch(in);
}

static uint64_t there_id(const struct node_input *in, uint64_t k)
{
    return read_id(in, k) + nodes_of_batch(in) - 1;
}

static void read_make(const struct node_input *in, struct input_rank *r, uint64_t k,
                      struct node *node)
{
    uint64_t first = r->iteration - 1; // the batch of the iteration that begins
    *node = (struct node){.id = read_id(in, k),
                          .after = r->own_after,
                          .kind = NODE_COPY,
                          .stream = NODE_NO_STREAM,
                          .use = in->use,
                          .from = in->spec.tier,
                          .name = "input"};
    if (k > 0)
        r->own_after[node->n_after++] = read_id(in, k - 1);
    if (k < in->spec.p.prefetch)
        return;
    if (in->spec.p.prefetch > 0)
        r->own_after[node->n_after++] = there_id(in, first);
    if (r->last != NO_NODE)
        r->own_after[node->n_after++] = r->last;
}

static void exchange_make(const struct node_input *in, struct input_rank *r, uint64_t k,
                          struct node *node)
{
    r->own_after[0] = read_id(in, k);
    *node = (struct node){.id = there_id(in, k),
                          .after = r->own_after,
                          .n_after = 1,
                          .kind = NODE_COLLECTIVE,
                          .stream = NODE_NO_STREAM,
                          .use = in->use,
                          .group = in->group,
                          .op = COLL_ALL_TO_ALL,
                          .dims = 1,
                          .name = "input"};
}

static void batch_node(const struct node_input *in, uint32_t rank, struct input_rank *r,
                       struct node *node)
{
    uint64_t k = r->made / nodes_of_batch(in);
    if (r->made++ % nodes_of_batch(in) == 0)
        read_make(in, r, k, node);
    else
        exchange_make(in, r, k, node);
    node->bytes = in->bytes[rank];
}

/* ---- the program's nodes ---- */

// A node that needs the batch of its iteration.
static void wait_for_batch(const struct node_input *in, struct input_rank *r)
{
    struct node *node = &r->node;
    while (node->n_after + 1 > r->cap)
        r->after = memory_grow(r->after, &r->cap, sizeof *r->after);
    if (node->n_after > 0)
        memcpy(r->after, node->after, node->n_after * sizeof *r->after);
    r->after[node->n_after++] = there_id(in, r->iteration - 1);
    node->after = r->after;
}

static void iteration_begin(const struct input_view *v, struct input_rank *r)
{
    uint64_t batches = r->node.iteration + v->input->spec.p.prefetch;
    r->iteration = r->node.iteration;
    r->gate = true;
    r->due = nodes_of_batch(v->input) * (batches < v->iterations ? batches : v->iterations);
}

static void *input_open(const void *self)
{
    const struct input_view *v = self;
    struct input_cursor *c = memory_zeroed(1, sizeof *c);
    c->view = v;
    c->cursor = v->input->source->open(v->self);
    c->ranks = memory_zeroed(v->input->n_ranks, sizeof *c->ranks);
    for (uint32_t i = 0; i < v->input->n_ranks; i++)
        c->ranks[i].last = NO_NODE;
    return c;
}

static int input_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct input_cursor *c = cursor;
    const struct node_input *in = c->view->input;
    struct input_rank *r = &c->ranks[rank];
    if (in->bytes[rank] == 0)
        return in->source->next(c->cursor, rank, node, err);
    if (!r->held) {
        r->node = (struct node){0};
        int got = in->source->next(c->cursor, rank, &r->node, err);
        if (got <= 0)
            return got;
        r->held = true;
        if (r->node.iteration > r->iteration)
            iteration_begin(c->view, r);
    }
    if (r->made < r->due) {
        batch_node(in, rank, r, node);
        return 1;
    }
    bool computes = r->node.kind == NODE_COMPUTE && r->node.stream == NODE_COMPUTE_STREAM;
    if (r->gate && (computes || r->node.kind == NODE_SEND))
        wait_for_batch(in, r);
    r->gate = r->gate && !computes;
    r->last = computes ? r->node.id : r->last;
    r->held = false;
    *node = r->node;
    return 1;
}

static void input_close(void *cursor)
{
    struct input_cursor *c = cursor;
    c->view->input->source->close(c->cursor);
    for (uint32_t i = 0; i < c->view->input->n_ranks; i++)
        free(c->ranks[i].after);
    free(c->ranks);
    free(c);
}

static void input_free(void *self)
{
    const struct input_view *v = self;
    if (v->input->source->free != NULL)
        v->input->source->free((void *)(uintptr_t)v->self);
}

static const struct node_source_ops input_source = {
    .open = input_open, .next = input_next, .close = input_close, .free = input_free};

/* ---- the program around it ---- */

// The group of the ranks that read batches.
static void group_add(struct node_input *in, struct node_program *p,
                      const struct group_choice *choice)
{
    uint32_t n = 0, *ranks = memory_zeroed(in->n_ranks, sizeof *ranks);
    for (uint32_t i = 0; i < in->n_ranks; i++)
        if (in->bytes[i] > 0)
            ranks[n++] = i;
    in->exchanges = n > 1;
    if (n < 2) {
        free(ranks);
        return;
    }
    p->groups = memory_resize(p->groups, p->n_groups + 1, sizeof *p->groups);
    in->group = p->n_groups++;
    p->groups[in->group] = (struct node_group){.name = memory_text("input"),
                                               .ranks = ranks,
                                               .schedule = group_schedule(choice, n),
                                               .inner = 1};
}

void node_input_add(struct node_input *in, struct node_program *p, uint64_t iterations,
                    const struct group_choice *choice)
{
    in->n_ranks = p->n_ranks;
    in->source = p->source;
    in->views[0] = (struct input_view){in, p->self, iterations};
    p->self = &in->views[0];
    for (unsigned i = 0; i < 2 && p->twins[i].self != NULL; i++) {
        in->views[1 + i] = (struct input_view){in, p->twins[i].self, 1};
        p->twins[i].self = &in->views[1 + i];
    }
    p->source = &input_source;
    p->tiers = &in->spec.tiers;
    if (in->spec.p.shuffle == INPUT_GLOBAL && in->spec.tiers.items[in->spec.tier].hosts == NULL)
        group_add(in, p, choice);
    bool moves_use = p->idle_use == p->n_uses; // none is a pipeline's
    p->uses = memory_resize(p->uses, p->n_uses + 1, sizeof *p->uses);
    in->use = (uint16_t)p->n_uses;
    p->uses[p->n_uses++] = memory_text("input");
    p->idle_use += moves_use;
}

void node_input_free(struct node_input *in)
{
    free(in->bytes);
    tier_set_free(&in->spec.tiers);
}
