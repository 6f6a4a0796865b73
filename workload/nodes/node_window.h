// SPDX-License-Identifier: MIT
// The nodes of one rank that have been read and have not ended: which are ready, and which of them
// may start.
//
// At most `limit` nodes are read ahead, so memory is bounded whatever the length of the program. A
// node that is not yet read cannot start. Where all ranks wait, the runner raises the limits
// (program_ops.read_on).
#pragma once

#include "engine/base/names.h"
#include "workload/nodes/node.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct id_set {
    struct id_block *blocks; // open addressing; a block without bits is free
    size_t n, cap;
};

enum window_state {
    WINDOW_FREE,
    WINDOW_AWAITED, // other nodes are after it, but it has not been read
    WINDOW_WAITING, // for others to end
    WINDOW_READY,
    WINDOW_RUNNING,
};

struct window_node {
    struct node node; // node.after is not used
    uint32_t left;    // nodes that have to end before it is ready
    uint32_t after;   // first link to a node that is after this one
    uint32_t next;    // in its hash chain, or the next free one
    uint8_t state;    // enum window_state
    ps_t ready_ps, start_ps;
    uint64_t turn;  // in order: number of its stream's nodes before it
    uint64_t cause; // id of the node whose end let it start; itself = it could start at once
};

struct ready_heap {
    uint32_t *slots; // by priority, then id
    uint32_t n, cap;
};

struct node_window {
    /* config */
    const struct node_source_ops *source;
    void *cursor;
    uint32_t rank, limit;
    bool in_order;           // see node_program
    struct name_pool *names; // names of the nodes
    /* state */
    struct window_node *nodes; // [slot - 1]
    uint32_t n_nodes, cap, free_slot;
    uint32_t *buckets, n_buckets;
    struct window_link *links;
    uint32_t n_links, cap_links, free_link;
    struct id_set ended;
    struct ready_heap ready[NODE_STREAMS_MAX + 1]; // [stream]; the last is of nodes without one
    uint32_t n_streams;                            // 1 + the highest stream that had a node
    bool busy[NODE_STREAMS_MAX];
    uint64_t turns[NODE_STREAMS_MAX], turn[NODE_STREAMS_MAX]; // in order: nodes read; started
    // In order: how many collectives have been read, for each group that the rank belongs to.
    struct group_count {
        uint32_t group, n;
    } * collectives;
    size_t n_groups, cap_groups;
    uint64_t freed_by[NODE_STREAMS_MAX]; // id of the last node that ended on the stream
    ps_t freed_ps[NODE_STREAMS_MAX];     // PS_NEVER = none has
    uint32_t n_held, n_running;          // read and not ended; started and not ended
    uint32_t n_ready;
    bool source_ended;
    uint64_t last_id; // of the node that ended last
};

// Read nodes up to the limit, or until one is ready where none is. Returns -1 with an error of the
// source.
int window_fill(struct node_window *w, struct err *err);

// Take the next node that may start: of all streams that are free, the first in the order of ids.
// Returns its slot, which window_end() takes, or 0.
uint32_t window_start(struct node_window *w, ps_t now);

static inline struct window_node *window_at(const struct node_window *w, uint32_t slot)
{
    return &w->nodes[slot - 1];
}

// The node has ended.
void window_end(struct node_window *w, uint32_t slot, ps_t now);

// A node that has not ended and that the node in `slot` is after; NULL = none.
const struct node *window_awaited(const struct node_window *w, uint32_t slot);

void window_init(struct node_window *w, void *cursor, const struct node_program *p, uint32_t rank,
                 uint32_t limit, struct name_pool *names);
void window_free(struct node_window *w);
