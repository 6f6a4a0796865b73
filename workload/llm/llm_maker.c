// SPDX-License-Identifier: MIT
// Nodes, and the chain of a rank's passes.
#include "workload/llm/llm_maker.h"

#include <stdio.h>

#include "engine/base/memory.h"
#include "workload/llm/llm_time.h"

struct node *llm_make(struct llm_maker *m, enum node_kind kind, uint8_t stream, const char *what)
{
    struct llm_rank *r = m->r;
    if (r->n == r->cap)
        r->nodes = memory_grow(r->nodes, &r->cap, sizeof *r->nodes);
    struct made_node *made = &r->nodes[r->n++];
    *made = (struct made_node){.node = {.id = r->next_id++,
                                        .kind = (uint8_t)kind,
                                        .stream = stream,
                                        .iteration = (uint32_t)r->iteration + 1,
                                        .pass = m->number}};
    if (m->layer != UINT32_MAX) {
        made->node.layer = m->layer + 1;
        snprintf(made->name, sizeof made->name, "layer%u %s %s", m->layer, what, m->pass);
    } else {
        snprintf(made->name, sizeof made->name, "%s %s", what, m->pass);
    }
    return &made->node;
}

void llm_after(struct llm_maker *m, uint64_t id)
{
    struct made_node *made = &m->r->nodes[m->r->n - 1];
    if (id != LLM_NO_NODE)
        made->after[made->node.n_after++] = id;
}

void llm_chain(struct llm_maker *m)
{
    llm_after(m, m->r->last);
    llm_after(m, m->r->message);
    llm_after(m, m->r->gathered);
    m->r->message = m->r->gathered = LLM_NO_NODE;
    m->r->last = m->r->nodes[m->r->n - 1].node.id;
}

ps_t llm_takes(const struct llm_maker *m, ps_t takes_ps)
{
    return m->factor == 1 ? takes_ps : (ps_t)((double)takes_ps * m->factor + 0.5);
}

void llm_compute(struct llm_maker *m, const char *what, ps_t takes_ps, double contention)
{
    uint64_t before = m->r->last;
    struct node *node = llm_make(m, NODE_COMPUTE, NODE_COMPUTE_STREAM, what);
    node->takes_ps = llm_takes(m, takes_ps);
    node->own_contention = true;
    node->contention = contention;
    m->r->earlier = before;
    llm_chain(m);
}

void llm_compute_part(struct llm_maker *m, const char *what, enum llm_part part)
{
    llm_compute(m, what, llm_part_ps(m->gpu, part, m->layer, m->backward),
                llm_part_contention(m->gpu, part, m->layer, m->backward));
}

struct node *llm_collective(struct llm_maker *m, enum llm_group group, enum llm_degree use,
                            uint8_t stream, enum coll_op op, uint64_t bytes, const char *what)
{
    struct node *node = llm_make(m, NODE_COLLECTIVE, stream, what);
    node->group = m->p->layout.group[group][m->rank];
    node->use = m->p->use[use];
    node->op = op;
    node->bytes = bytes;
    node->dims = 1;
    return node;
}
