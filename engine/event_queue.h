// SPDX-License-Identifier: MIT
// Pending events in the model's order, 16 bytes each: a timing wheel before a heap.
//
// The key orders simultaneous events by (node, kind, port), never by history, and carries what the
// handler needs: node 22 bits | kind 2 | port 12 | payload 28 (timers: node 22 | kind 2 | number of the node's timer 40).
//
// The wheel's slots are 2^shift ps wide and hold events in no order; the slot that time has reached is
// sorted into `current`, from where events go, and so are those after it where somebody wants to know
// what comes. What lies beyond the wheel waits in the heap. The width follows what happens: narrower
// while sorting costs much, wider while the heap does. Without a wheel (shift 0) the heap alone is the
// reference that tests compare against.
#pragma once

#include <stdbool.h>

#include "engine/units.h"

enum event_kind {
    EVENT_DEPARTURE, // a port may start its next packet
    EVENT_PAUSE,     // a received pause or resume takes effect
    EVENT_ARRIVAL,   // the last byte of a packet is at the far end
    EVENT_TIMER,
};

#define EVENT_MAX_NODES (1u << 22)
#define EVENT_MAX_NODE_PORTS (1u << 12)
#define EVENT_MAX_PORTS (1u << 28)

struct event {
    ps_t at_ps;
    uint64_t key;
};
_Static_assert(sizeof(struct event) == 16, "struct event is 16 bytes");

static inline uint64_t event_key(uint32_t node, enum event_kind kind, uint32_t port,
                                 uint32_t payload)
{
    return (uint64_t)node << 42 | (uint64_t)kind << 40 | (uint64_t)port << 28 | payload;
}
static inline uint64_t event_timer_key(uint32_t node, uint64_t id)
{
    return (uint64_t)node << 42 | (uint64_t)EVENT_TIMER << 40 | id;
}
static inline uint32_t event_node(uint64_t key) { return (uint32_t)(key >> 42); }
static inline enum event_kind event_kind(uint64_t key) { return (enum event_kind)(key >> 40 & 3); }
static inline uint32_t event_port(uint64_t key) { return (uint32_t)(key >> 28 & 0xfff); }
static inline uint32_t event_payload(uint64_t key) { return (uint32_t)(key & 0xfffffff); }
static inline uint64_t event_timer_id(uint64_t key) { return key & 0xffffffffff; }

// One comparison of 128 bits: which of two is first is a coin's toss, and a branch on each part would be
// guessed wrong twice. Times are not negative.
__extension__ typedef unsigned __int128 event_order;
static inline event_order event_order_of(struct event e)
{
    return (event_order)(uint64_t)e.at_ps << 64 | e.key;
}
static inline bool event_before(struct event a, struct event b)
{
    return event_order_of(a) < event_order_of(b);
}

#define EVENT_AHEAD 4 // events that may be asked for before they are taken

#define WHEEL_SLOTS (1u << 14)
#define WHEEL_NIL UINT32_MAX

struct wheel_node {
    struct event event;
    uint32_t next; // in its slot, or in the free list
};

// What sorting and the heap have cost since the width was last looked at.
struct wheel_tuning {
    uint32_t events, from_heap; // that went into `current`; of them through the heap
    uint64_t moves;             // of events in `current`
    uint64_t beyond;            // events that went into the heap, and the sum of how far ahead
    double beyond_ps;
    double cost;       // per event, before the width was changed last
    int tried;         // how the shift was changed
    uint32_t patience; // looks to let pass
};

struct event_queue {
    size_t n;
    unsigned shift; // log2 of a slot's width in ps; 0 = no wheel
    uint32_t reach; // slots after the cursor's that the wheel holds; 0 = no wheel
    int64_t cursor; // number of the last slot that is in `current`
    struct event
        *current; // [head, tail) ascending, then EVENT_AHEAD zeros: what has left the wheel
    size_t head, tail, cap_current;
    uint32_t ahead; // EVENT_AHEAD, or 0 where nobody looks ahead
    struct wheel_node *nodes;
    uint32_t free_node;
    uint32_t scout; // of the slot to be loaded next: the node to be fetched next, WHEEL_NIL = none
    size_t n_nodes;
    uint32_t *slots;    // [WHEEL_SLOTS] first node
    uint64_t *occupied; // a bit per slot
    struct event *heap; // 4-ary, what lies beyond the wheel
    size_t n_heap, cap_heap;
    struct wheel_tuning tuning;
};

// Width of a slot as a power of two of ps; 0 = the heap alone (as a zeroed queue is). Keeps what is
// pending.
void event_queue_shape(struct event_queue *q, unsigned shift);
void event_queue_free(struct event_queue *q);
// What the wheel has no node or no slot for.
void event_queue_push_slow(struct event_queue *q, struct event e);

static inline void event_queue_push(struct event_queue *q, struct event e)
{
    int64_t slot = e.at_ps >> q->shift;
    uint32_t node = q->free_node;
    if ((uint64_t)(slot - q->cursor - 1) >= q->reach || node == WHEEL_NIL) {
        event_queue_push_slow(q, e);
        return;
    }
    uint32_t at = (uint32_t)slot % WHEEL_SLOTS;
    struct wheel_node *n = &q->nodes[node];
    q->free_node = n->next;
    *n = (struct wheel_node){e, q->slots[at]};
    q->slots[at] = node;
    q->occupied[at / 64] |= UINT64_C(1) << at % 64;
    q->n++;
}

// More events into `current`; false when none is pending.
bool event_queue_refill(struct event_queue *q);

// Takes the first event off; false when there is none.
static inline bool event_queue_pop(struct event_queue *q, struct event *out)
{
    if (q->tail - q->head <= q->ahead && !event_queue_refill(q))
        return false;
    *out = q->current[q->head++];
    q->n--;
    return true;
}

// The next events, EVENT_AHEAD of them, with `ahead` set and after a pop; zeros are not known yet.
static inline const struct event *event_queue_ahead(const struct event_queue *q)
{
    return q->current + q->head;
}

// Fetch one more node of the slot that will be loaded next: its chain is followed at an event's pace.
static inline void event_queue_scout(struct event_queue *q)
{
    if (q->scout == WHEEL_NIL)
        return;
    q->scout = q->nodes[q->scout].next;
    __builtin_prefetch(&q->nodes[q->scout]);
}
