// SPDX-License-Identifier: MIT
// The timing wheel and the heap behind it.
#include "engine/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

/* ---- heap: 4-ary, the four children share one cache line ---- */

static void heap_push(struct event_queue *q, struct event e)
{
    if (q->n_heap == q->cap_heap)
        q->heap = memory_grow(q->heap, &q->cap_heap, sizeof *q->heap);
    size_t i = q->n_heap++;
    while (i > 0) {
        size_t parent = (i - 1) / 4;
        if (!event_before(e, q->heap[parent]))
            break;
        q->heap[i] = q->heap[parent];
        i = parent;
    }
    q->heap[i] = e;
}

static size_t first_child(const struct event *heap, size_t n, size_t first)
{
    size_t best = first, end = first + 4 < n ? first + 4 : n;
    for (size_t c = first + 1; c < end; c++)
        if (event_before(heap[c], heap[best]))
            best = c;
    return best;
}

static struct event heap_pop(struct event_queue *q)
{
    struct event *heap = q->heap, first = heap[0];
    struct event last = heap[--q->n_heap];
    size_t i = 0, n = q->n_heap;
    while (4 * i + 1 < n) {
        size_t child = first_child(heap, n, 4 * i + 1);
        if (!event_before(heap[child], last))
            break;
        heap[i] = heap[child];
        i = child;
    }
    if (n > 0)
        heap[i] = last;
    return first;
}

/* ---- the current slot: descending ---- */

// Room for all that is pending and one more.
static void current_reserve(struct event_queue *q)
{
    if (q->n < q->cap_current)
        return;
    q->cap_current = 2 * (q->n + EVENT_PAD);
    struct event *start = q->current ? q->current - EVENT_PAD : NULL;
    start = memory_resize(start, EVENT_PAD + q->cap_current, sizeof *start);
    memset(start, 0, EVENT_PAD * sizeof *start);
    q->current = start + EVENT_PAD;
}

// The events before `end` are in order: put one more among them. Returns how many it moves.
static inline size_t current_place(struct event *current, size_t end, struct event e)
{
    size_t i = end;
    for (; i > 0 && event_before(current[i - 1], e); i--)
        current[i] = current[i - 1];
    current[i] = e;
    return end - i;
}

static void current_insert(struct event_queue *q, struct event e)
{
    current_reserve(q);
    q->tuning.moves += current_place(q->current, q->n_current++, e);
    q->tuning.events++;
}

static int descending(const void *a, const void *b)
{
    return event_before(*(const struct event *)a, *(const struct event *)b) ? 1 : -1;
}

// Ranks that move in step push in the order that the slot gives back, so insertion is cheap even for
// many events; where it is not, the rest is sorted as a whole.
#define INSERTION_MOVES 4096
#define SORT_MOVES 16 // what an event costs then

// Empty a slot of the wheel into `current`, which holds nothing.
static void current_load(struct event_queue *q, uint32_t slot)
{
    current_reserve(q);
    struct event *current = q->current;
    uint32_t node = q->slots[slot], free_node = q->free_node;
    size_t n = 0, moves = 0;
    while (node != WHEEL_NIL) {
        struct wheel_node *at = &q->nodes[node];
        uint32_t next = at->next;
        if (moves < INSERTION_MOVES)
            moves += current_place(current, n++, at->event);
        else
            current[n++] = at->event;
        at->next = free_node;
        free_node = node;
        node = next;
    }
    if (moves >= INSERTION_MOVES) {
        qsort(current, n, sizeof *current, descending);
        moves = n * SORT_MOVES;
    }
    q->free_node = free_node;
    q->n_current = n;
    q->tuning.moves += moves;
    q->tuning.events += (uint32_t)n;
    q->slots[slot] = WHEEL_NIL;
    q->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* ---- wheel ---- */

void event_queue_free(struct event_queue *q)
{
    if (q->current)
        free(q->current - EVENT_PAD);
    free(q->nodes);
    free(q->slots);
    free(q->occupied);
    free(q->heap);
    *q = (struct event_queue){0};
}

void event_queue_shape(struct event_queue *q, unsigned shift)
{
    struct event_queue old = *q;
    struct event e;
    *q = (struct event_queue){.shift = shift, .free_node = WHEEL_NIL};
    if (shift > 0) {
        q->slots = memory_zeroed(WHEEL_SLOTS, sizeof *q->slots);
        q->reach = WHEEL_SLOTS - 1;
        memset(q->slots, 0xff, WHEEL_SLOTS * sizeof *q->slots);
        q->occupied = memory_zeroed(WHEEL_SLOTS / 64, sizeof *q->occupied);
    }
    while (event_queue_pop(&old, &e))
        event_queue_push(q, e);
    event_queue_free(&old);
}

// More nodes, all of them free.
static void wheel_grow(struct event_queue *q)
{
    size_t first = q->n_nodes;
    q->nodes = memory_grow(q->nodes, &q->n_nodes, sizeof *q->nodes);
    for (size_t i = q->n_nodes; i-- > first;) {
        q->nodes[i].next = q->free_node;
        q->free_node = (uint32_t)i;
    }
}

void event_queue_push_slow(struct event_queue *q, struct event e)
{
    int64_t ahead = (e.at_ps >> q->shift) - q->cursor;
    if (q->reach == 0) {
        heap_push(q, e);
    } else if (ahead <= 0) {
        current_insert(q, e);
    } else if (ahead < WHEEL_SLOTS) {
        wheel_grow(q);
        event_queue_push(q, e);
        return;
    } else {
        q->tuning.beyond++;
        q->tuning.beyond_ps += (double)(ahead << q->shift);
        heap_push(q, e);
    }
    q->n++;
}

// Slots from the cursor to the next one with events, or WHEEL_SLOTS when there is none.
static uint32_t wheel_distance(const struct event_queue *q)
{
    uint32_t from = (uint32_t)((q->cursor + 1) % WHEEL_SLOTS);
    uint32_t word = from / 64;
    uint64_t bits = q->occupied[word] & ~UINT64_C(0) << from % 64;
    if (bits)
        return word * 64 + (uint32_t)__builtin_ctzll(bits) - from + 1;
    for (uint32_t i = 0; i <= WHEEL_SLOTS / 64; i++) {
        if (bits) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return (slot - from + WHEEL_SLOTS) % WHEEL_SLOTS + 1;
        }
        word = (word + 1) % (WHEEL_SLOTS / 64);
        bits = q->occupied[word];
    }
    return WHEEL_SLOTS;
}

#define LOOK_EVENTS 32768 // the width is looked at once in so many
#define CHEAP 7.0         // moves per event that are well spent
#define HEAP_MOVES 12.0   // what an event costs in the heap
#define PATIENCE 64       // looks without a change after one that did not help

static void reshape(struct event_queue *q, int change, struct wheel_tuning tuning)
{
    unsigned shift = (unsigned)((int)q->shift + change);
    tuning.tried = change;
    event_queue_shape(q, shift);
    q->tuning = tuning;
}

// The shift at which the wheel reaches twice as far as `ps`; wider than now.
static int reaching(const struct event_queue *q, double ps)
{
    int shift = (int)q->shift + 1;
    while (shift < 39 && (double)((int64_t)WHEEL_SLOTS << shift) < 2 * ps)
        shift++;
    return shift;
}

// Half the width, or an eighth where much is moved, or as wide as to reach further; a step that saves less than a tenth is
// taken back.
static void tune(struct event_queue *q)
{
    struct wheel_tuning t = q->tuning;
    double sorting = (double)t.moves / t.events, heap = HEAP_MOVES * t.from_heap / t.events;
    struct wheel_tuning fresh = {.cost = sorting + heap, .patience = t.patience};
    q->tuning = fresh;
    if (t.tried != 0 && fresh.cost > 0.9 * t.cost) {
        fresh.patience = PATIENCE;
        reshape(q, -t.tried, fresh);
        q->tuning.tried = 0;
    } else if (t.patience > 0) {
        q->tuning.patience--;
    } else if (fresh.cost > CHEAP && sorting > heap && q->shift > 3) {
        reshape(q, sorting > 8 * CHEAP ? -3 : -1, fresh);
    } else if (fresh.cost > CHEAP && sorting <= heap) {
        reshape(q, reaching(q, t.beyond_ps / (double)t.beyond) - (int)q->shift, fresh);
    }
}

bool event_queue_pop_slow(struct event_queue *q, struct event *out)
{
    if (q->n == 0)
        return false;
    if (q->tuning.events >= LOOK_EVENTS) {
        tune(q);
        if (q->n_current > 0)
            return event_queue_pop(q, out);
    }
    q->n--;
    if (q->reach == 0) {
        *out = heap_pop(q);
        return true;
    }
    uint32_t distance = q->n + 1 > q->n_heap ? wheel_distance(q) : WHEEL_SLOTS;
    int64_t next = q->cursor + distance;
    int64_t heap_slot = q->n_heap > 0 ? q->heap[0].at_ps >> q->shift : INT64_MAX;
    bool in_wheel = distance < WHEEL_SLOTS && next <= heap_slot;
    q->cursor = in_wheel ? next : heap_slot;
    if (in_wheel)
        current_load(q, (uint32_t)(next % WHEEL_SLOTS));
    while (q->n_heap > 0 && q->heap[0].at_ps >> q->shift == q->cursor) {
        current_insert(q, heap_pop(q));
        q->tuning.from_heap++;
    }
    *out = q->current[--q->n_current];
    return true;
}
