// SPDX-License-Identifier: MIT
// Reads a node program before its run: the bytes of all its messages, and a sample of them.
#include "workload/nodes/node_volume.h"

#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "workload/nodes/node_run.h"
#include "workload/workload.h"

#define VOLUMES 4096

struct group_volume {
    uint32_t group, op, root, dims;
    uint64_t bytes, total;
    bool known;
};

static uint64_t collective_bytes(const struct node_run *p, struct group_volume *kept,
                                 const struct node *node)
{
    struct group_volume *slot = &kept[(node->bytes * 31 + node->group * 7 + node->op) % VOLUMES];
    if (slot->known && slot->group == node->group && slot->op == node->op &&
        slot->root == node->root && slot->dims == node->dims && slot->bytes == node->bytes &&
        node->uneven == NULL)
        return slot->total;
    struct comm_request request = {.op = node->op,
                                   .bytes = node->bytes,
                                   .dims = node->dims,
                                   .root = node->root,
                                   .inner = p->program->groups[node->group].inner,
                                   .uneven = node->uneven};
    *slot = (struct group_volume){.group = node->group,
                                  .op = node->op,
                                  .root = node->root,
                                  .dims = node->dims,
                                  .bytes = node->bytes,
                                  .known = node->uneven == NULL};
    slot->total = comm_bytes(job_group_comm(p->job, node->group), &request);
    return slot->total;
}

// Count a program of the source. A collective counts with the first member of its group.
static double source_bytes(const struct node_run *p, struct group_volume *kept, const void *self)
{
    const struct node_program *program = p->program;
    void *cursor = program->source->open(self);
    struct err err = {0};
    double bytes = 0;
    for (uint32_t r = 0; r < p->job->n_ranks; r++) {
        struct node node = {0};
        while (program->source->next(cursor, r, &node, &err) > 0) {
            if (node.kind == NODE_SEND)
                bytes += (double)node.bytes;
            if (node.kind == NODE_COPY)
                bytes += (double)tier_message_bytes(&program->tiers->items[node.from],
                                                    &program->tiers->items[node.to], node.bytes);
            if (node.kind != NODE_COLLECTIVE)
                continue;
            const uint32_t *ranks = program->groups[node.group].ranks;
            if (r == (ranks != NULL ? ranks[0] : 0))
                bytes += (double)collective_bytes(p, kept, &node);
        }
    }
    program->source->close(cursor);
    err_free(&err);
    return bytes;
}

uint64_t node_run_bytes(const void *self)
{
    const struct node_run *p = self;
    const struct node_program *program = p->program;
    struct group_volume *kept = memory_zeroed(VOLUMES, sizeof *kept);
    double sum = 0;
    for (unsigned i = 0; i < 2 && program->twins[i].self != NULL; i++)
        sum += program->twins[i].weight * source_bytes(p, kept, program->twins[i].self);
    if (program->twins[0].self == NULL)
        sum = source_bytes(p, kept, program->self);
    free(kept);
    return sum < 9e18 ? (uint64_t)(sum + 0.5) : UINT64_C(9000000000000000000);
}

/* ---- a sample of messages, before the run ---- */

enum { RANKS_SAMPLED = 16, PEERS_SAMPLED = COMM_SAMPLE / RANKS_SAMPLED, NODES_SAMPLED = 2048 };

// Add a message to those of its sender, which begin at `first`.
static void sample_add(struct comm_traffic *t, uint32_t first, const struct comm_message *m)
{
    for (uint32_t i = first; i < t->n; i++)
        if (t->sample[i].src == m->src && t->sample[i].dst == m->dst) {
            t->sample[i].weight += m->weight;
            return;
        }
    if (t->n < COMM_SAMPLE && t->n < first + PEERS_SAMPLED)
        t->sample[t->n++] = *m;
}

// The next members of groups after a rank, by group; found once, as groups may have all ranks.
enum { GROUPS_KEPT = 16 };
struct next_member {
    uint32_t group, rank; // rank: 1 + the rank after this one; 0 = not known
};

static uint32_t next_member(const struct node_program *program, struct next_member *known,
                            uint32_t group, uint32_t r)
{
    const struct node_group *g = &program->groups[group];
    struct next_member *slot = &known[group % GROUPS_KEPT];
    uint32_t n = coll_ranks(&g->schedule), member = 0;
    if (g->ranks == NULL)
        return (r + 1) % n;
    if (slot->rank > 0 && slot->group == group)
        return slot->rank - 1;
    while (member < n && g->ranks[member] != r)
        member++;
    *slot = (struct next_member){group, g->ranks[(member + 1) % n] + 1};
    return slot->rank - 1;
}

// A message that stands for what rank `r` sends in the node: in a collective, to the next member of
// the group; its dst is the rank itself if it sends nothing.
static struct comm_message message_of(const struct node_run *p, struct group_volume *kept,
                                      struct next_member *known, const struct node *node,
                                      uint32_t r)
{
    if (node->kind == NODE_SEND)
        return (struct comm_message){r, node->peer, (double)node->bytes};
    if (node->kind != NODE_COLLECTIVE)
        return (struct comm_message){r, r, 0};
    uint32_t n = coll_ranks(&p->program->groups[node->group].schedule);
    return (struct comm_message){r, next_member(p->program, known, node->group, r),
                                 (double)collective_bytes(p, kept, node) / n};
}

void node_run_sample(const void *self, struct comm_traffic *t)
{
    const struct node_run *p = self;
    const struct node_program *program = p->program;
    const void *nodes = program->twins[0].self ? program->twins[0].self : program->self;
    struct group_volume *kept = memory_zeroed(VOLUMES, sizeof *kept);
    void *cursor = program->source->open(nodes);
    struct err err = {0};
    uint32_t ranks = p->job->n_ranks < RANKS_SAMPLED ? p->job->n_ranks : RANKS_SAMPLED;
    for (uint32_t k = 0; k < ranks; k++) {
        uint32_t r = (uint32_t)((uint64_t)k * p->job->n_ranks / ranks), first = t->n;
        struct node node = {0};
        struct next_member known[GROUPS_KEPT] = {{0, 0}};
        for (int i = 0; i < NODES_SAMPLED; i++) {
            if (program->source->next(cursor, r, &node, &err) <= 0)
                break;
            struct comm_message m = message_of(p, kept, known, &node, r);
            if (m.src != m.dst)
                sample_add(t, first, &m);
        }
    }
    program->source->close(cursor);
    err_free(&err);
    free(kept);
}
