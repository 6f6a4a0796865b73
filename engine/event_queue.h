// SPDX-License-Identifier: MIT
// Pending events in the order of the model, 16 bytes each: a timing wheel, and a heap for events
// beyond it.
//
// The key orders simultaneous events by (node, kind, port), never by the order of their creation,
// and carries what the handler needs: node 22 bits | kind 2 | port 12 | payload 28 (timers: node 22
// | kind 2 | number of the node's timer 40).
//
// A slot of the wheel is 2^shift ps wide and holds unsorted events. When time reaches a slot, its
// events are sorted into `current` and popped from there. With lookahead enabled, a few more slots
// are sorted in advance. Events beyond the wheel wait in a heap. The slot width adapts to the run:
// narrower when sorting dominates the cost, wider when the heap does. With shift 0 there is no
// wheel, and the heap alone is the reference that tests compare with.
#pragma once

#include <stdbool.h>

#include "engine/base/units.h"

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

// One 128-bit comparison: the outcome is unpredictable, so comparing time and key separately would
// cost two mispredicted branches. Times are never negative.
__extension__ typedef unsigned __int128 event_order;
static inline event_order event_order_of(struct event e)
{
    return (event_order)(uint64_t)e.at_ps << 64 | e.key;
}
static inline bool event_before(struct event a, struct event b)
{
    return event_order_of(a) < event_order_of(b);
}

#define EVENT_AHEAD 4 // events visible before they are popped

#define WHEEL_SLOTS (1u << 14) // unless a queue wants fewer, a power of two from 64 on
#define WHEEL_NIL UINT32_MAX

struct wheel_node {
    struct event event;
    uint32_t next; // the next node of its slot or of the free list
};

// Cost of sorting and of the heap since the last review of the slot width.
struct wheel_tuning {
    uint32_t events, from_heap; // events added to `current`, and how many of them came from the
                                // heap
    uint64_t moves;             // moves of events within `current` by sorting
    uint64_t beyond;            // events pushed to the heap, and the sum of their distances in time
    double beyond_ps;
    double cost;       // cost per event before the last change of the width
    int tried;         // last change of the shift; 0 = none
    uint32_t patience; // reviews to skip
};

struct event_queue {
    size_t n;
    unsigned shift; // log2 of a slot's width in ps; 0 = no wheel
    uint32_t reach; // slots that the wheel holds after the cursor's, 2^n - 1; 0 = no wheel
    int64_t cursor; // number of the last slot loaded into `current`
    struct event
        *current; // events loaded from the wheel: [head, tail) ascending, then EVENT_AHEAD zeros
    size_t head, tail, cap_current;
    struct event *scratch; // for sorting many simultaneous events; NULL until then
    size_t cap_scratch;
    uint32_t ahead; // EVENT_AHEAD, or 0 without lookahead
    struct wheel_node *nodes;
    uint32_t free_node;
    uint32_t scout; // node to prefetch next, in the slot to be loaded next; WHEEL_NIL = none
    size_t n_nodes;
    uint32_t *slots;       // [reach + 1] first node of each slot
    uint32_t slots_wanted; // set before event_queue_shape(); 0 = WHEEL_SLOTS
    ps_t limit_ps;         // no slot behind that of this time is loaded; 0 = no limit
    uint64_t *occupied;    // one bit per slot
    struct event *heap;    // 4-ary heap of the events beyond the wheel
    size_t n_heap, cap_heap;
    struct wheel_tuning tuning;
};

// Set the slot width to 2^shift ps; 0 = heap only, as in a zeroed queue. Pending events are kept.
void event_queue_shape(struct event_queue *q, unsigned shift);
void event_queue_free(struct event_queue *q);
// Copy all pending events to an array of q->n, in no particular order.
void event_queue_copy(const struct event_queue *q, struct event *out);
// Drop all pending events. Events that are added afterwards must not be earlier than `from_ps`.
void event_queue_clear(struct event_queue *q, ps_t from_ps);
// Handles an event for which the wheel has no slot or no free node.
void event_queue_push_slow(struct event_queue *q, struct event e);

static inline void event_queue_push(struct event_queue *q, struct event e)
{
    int64_t slot = e.at_ps >> q->shift;
    uint32_t node = q->free_node;
    if ((uint64_t)(slot - q->cursor - 1) >= q->reach || node == WHEEL_NIL) {
        event_queue_push_slow(q, e);
        return;
    }
    uint32_t at = (uint32_t)slot & q->reach;
    struct wheel_node *n = &q->nodes[node];
    q->free_node = n->next;
    *n = (struct wheel_node){e, q->slots[at]};
    q->slots[at] = node;
    q->occupied[at / 64] |= UINT64_C(1) << at % 64;
    q->n++;
}

// Load more events into `current`. Returns false if none is pending, or none up to the limit.
bool event_queue_refill(struct event_queue *q);

// Returns a time before which there is no event, without loading any.
ps_t event_queue_bound(const struct event_queue *q);
// The clock has reached `now` without events: move the start of the wheel there if it is empty.
void event_queue_skip_to(struct event_queue *q, ps_t now);

// Pop the first event. Returns false if there is none.
static inline bool event_queue_pop(struct event_queue *q, struct event *out)
{
    if (q->tail - q->head <= q->ahead && !event_queue_refill(q))
        return false;
    *out = q->current[q->head++];
    q->n--;
    return true;
}

// Returns the first event without removing it, or one at PS_NEVER if there is none up to the limit.
static inline struct event event_queue_first(struct event_queue *q)
{
    if (q->n == 0)
        return (struct event){PS_NEVER, UINT64_MAX};
    if (q->reach == 0 && q->tail == q->head)
        return q->heap[0];
    if (q->tail - q->head <= q->ahead && !event_queue_refill(q))
        return (struct event){PS_NEVER, UINT64_MAX};
    return q->current[q->head];
}

// The EVENT_AHEAD events that follow the one just popped. Valid only if `ahead` is set; zeros are
// not known yet.
static inline const struct event *event_queue_ahead(const struct event_queue *q)
{
    return q->current + q->head;
}

// Prefetch one more node of the slot to be loaded next. One node per event follows the linked list
// without stalls.
static inline void event_queue_scout(struct event_queue *q)
{
    if (q->scout == WHEEL_NIL)
        return;
    q->scout = q->nodes[q->scout].next;
    __builtin_prefetch(&q->nodes[q->scout]);
}
