// SPDX-License-Identifier: MIT
// Streams that run the graph of a collective: a node runs as soon as all nodes that it depends on
// have ended, without endpoint delays. A send ends when its message has arrived at the receiver. A
// rank's part of the collective ends when all of its nodes have.
#include <stdlib.h>

#include "collective/algorithm/graph_collective.h"
#include "collective/stream_internal.h"
#include "engine/base/memory.h"

// A pair, tag and size: the number of messages that have arrived without a receive, or else the
// list of receives that have begun without a message.
struct graph_key {
    uint32_t arrived, first, last; // first, last: node + 1
};

struct graph_walk {
    const struct coll_graph_node *nodes; // of the member
    uint32_t left;                       // nodes that have not ended
    struct {
        uint32_t before; // nodes that it is after and that have not ended
        uint32_t behind; // the receive that has begun next with the same key; node + 1
    } at[];
};

static void walk_free(struct stream *s)
{
    free(s->walk);
    s->walk = NULL;
}

static struct graph_key *key_at(struct inbox *box, const struct coll_graph *g, uint32_t member,
                                uint32_t key)
{
    if (box->keys == NULL)
        box->keys = memory_zeroed((size_t)g->first_key[member + 1] - g->first_key[member] + 1,
                                  sizeof *box->keys);
    return &box->keys[key];
}

static void receive(struct stream *s, uint32_t node, ps_t now)
{
    struct graph_walk *walk = s->walk;
    const struct coll_graph_node *n = &walk->nodes[node];
    struct inbox *box = inbox_of(s->set->comm, s->set->member, s->number);
    struct graph_key *key = key_at(box, stream_phase(s)->graph, s->set->member, n->key);
    // The message may have arrived before its receive began; the receive then ends at once, but as
    // an event of its own.
    if (key->arrived > 0) {
        key->arrived--;
        stream_wait_node(s, node, 0);
    } else {
        // Receives with one key take messages in the order in which they have begun.
        *(key->first == 0 ? &key->first : &walk->at[key->last - 1].behind) = node + 1;
        key->last = node + 1;
    }
    stream_ready(s, n->peer, n->tag, now);
}

static void begin(struct stream *s, uint32_t node, ps_t now)
{
    const struct coll_graph_node *n = &((const struct graph_walk *)s->walk)->nodes[node];
    switch ((enum coll_graph_kind)n->kind) {
    case COLL_GRAPH_SEND:
        stream_post(s, node, n, now);
        break;
    case COLL_GRAPH_RECEIVE:
        receive(s, node, now);
        break;
    case COLL_GRAPH_COMPUTE:
        stream_wait_node(s, node, n->takes_ps);
        break;
    }
}

bool stream_graph_begin(struct stream *s, ps_t now)
{
    const struct coll_graph *g = stream_phase(s)->graph;
    uint32_t first = g->first[s->set->member], n = g->first[s->set->member + 1] - first;
    struct graph_walk *walk = memory_zeroed(1, sizeof *walk + (size_t)n * sizeof walk->at[0]);
    s->walk = walk;
    walk->nodes = g->nodes + first;
    walk->left = n;
    for (uint32_t i = 0; i < n; i++)
        walk->at[i].before = walk->nodes[i].before;
    for (uint32_t i = 0; i < n; i++)
        if (walk->nodes[i].before == 0)
            begin(s, i, now);
    // A rank without nodes has no event that would end its part.
    if (n == 0)
        walk_free(s);
    return n == 0;
}

bool stream_graph_ended(struct stream *s, uint32_t node, ps_t now)
{
    const struct coll_graph *g = stream_phase(s)->graph;
    struct graph_walk *walk = s->walk;
    const struct coll_graph_node *n = &walk->nodes[node];
    walk->left--;
    for (uint32_t i = 0; i < n->n_next; i++) {
        uint32_t next = g->next[n->first_next + i];
        if (--walk->at[next].before == 0)
            begin(s, next, now);
    }
    if (walk->left > 0)
        return false;
    walk_free(s);
    return true;
}

uint32_t stream_graph_arrived(struct inbox *box, const struct coll_graph *g, uint32_t member,
                              uint32_t number)
{
    struct graph_key *key = key_at(box, g, member, number);
    if (key->first == 0) {
        key->arrived++;
        return STREAM_NO_NODE;
    }
    const struct graph_walk *walk = box->stream->walk;
    uint32_t node = key->first - 1;
    key->first = walk->at[node].behind;
    return node;
}
