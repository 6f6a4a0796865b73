// SPDX-License-Identifier: MIT
// The timing wheel, and the heap for events beyond it.
#include "engine/event_queue.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* ---- event sort ---- */

// Merge sort from the bottom (Knuth, The Art of Computer Programming, volume 3, section 5.2.4), of
// runs that insertion has sorted. The merge has no branch on the keys: their order is unpredictable
// where it is needed. qsort() calls a function for each comparison and takes three times as many
// instructions.

#define RUN 8 // events that insertion sorts

static void sort_run(struct event *events, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct event e = events[i];
        size_t at = i;
        for (; at > 0 && event_before(e, events[at - 1]); at--)
            events[at] = events[at - 1];
        events[at] = e;
    }
}

// Merge from[0..middle) and from[middle..n), both ascending, to `to`.
static void merge(const struct event *from, size_t middle, size_t n, struct event *to)
{
    size_t a = 0, b = middle;
    while (a < middle && b < n) {
        bool second = event_before(from[b], from[a]);
        *to++ = from[second ? b : a];
        b += second;
        a += !second;
    }
    memcpy(to, from + a, (middle - a) * sizeof *to);
    memcpy(to + (middle - a), from + b, (n - b) * sizeof *to);
}

// Sort events[0..n) in the order of the model. `scratch` has room for n events.
static void events_sort(struct event *events, struct event *scratch, size_t n)
{
    for (size_t i = 0; i < n; i += RUN)
        sort_run(events + i, n - i < RUN ? n - i : RUN);
    struct event *from = events, *to = scratch;
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t pair = n - i < 2 * run ? n - i : 2 * run;
            merge(from + i, pair < run ? pair : run, pair, to + i);
        }
        struct event *done = to;
        to = from;
        from = done;
    }
    if (from != events)
        memcpy(events, from, n * sizeof *events);
}

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

/* ---- events that have left the wheel, ascending ---- */

#define CURRENT_KEEP 256 // compact the array once so many entries before `head` are unused

// Make room behind `tail` for all pending events plus EVENT_AHEAD zeros.
__attribute__((always_inline)) static inline void current_reserve(struct event_queue *q)
{
    size_t count = q->tail - q->head;
    if (q->head >= CURRENT_KEEP && q->head >= count) {
        memmove(q->current, q->current + q->head, count * sizeof *q->current);
        q->head = 0;
        q->tail = count;
    }
    if (q->head + q->n + EVENT_AHEAD < q->cap_current)
        return;
    q->cap_current = 2 * (q->head + q->n + CURRENT_KEEP);
    q->current = memory_resize(q->current, q->cap_current, sizeof *q->current);
}

// Write the EVENT_AHEAD zeros behind the tail, which mean "not known yet".
static inline void current_end(struct event_queue *q)
{
    memset(q->current + q->tail, 0, EVENT_AHEAD * sizeof *q->current);
}

static void current_insert(struct event_queue *q, struct event e)
{
    current_reserve(q);
    struct event *current = q->current;
    size_t i = q->tail++;
    for (; i > q->head && event_before(e, current[i - 1]); i--)
        current[i] = current[i - 1];
    current[i] = e;
    current_end(q);
    q->tuning.moves += q->tail - 1 - i;
    q->tuning.events++;
}

// Insert `e` into the descending array events[0..end). Returns the number of events moved.
static inline size_t place_descending(struct event *events, size_t end, struct event e)
{
    size_t i = end;
    for (; i > 0 && event_before(events[i - 1], e); i--)
        events[i] = events[i - 1];
    events[i] = e;
    return end - i;
}

__attribute__((always_inline)) static inline void reverse(struct event *events, size_t n)
{
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        struct event e = events[--j];
        events[j] = events[i];
        events[i] = e;
    }
}

__attribute__((noinline)) static void sort_many(struct event_queue *q, struct event *events,
                                                size_t n)
{
    if (q->cap_scratch < n) {
        q->cap_scratch = 2 * n;
        q->scratch = memory_resize(q->scratch, q->cap_scratch, sizeof *q->scratch);
    }
    events_sort(events, q->scratch, n);
}

// Ranks that move in step push their events in key order, and a slot's list yields them in reverse,
// so insertion into a descending array is cheap even for many events. Once insertion has moved
// INSERTION_MOVES events, the slot is sorted by merging instead (engine/event_queue.c).
#define INSERTION_MOVES 4096
#define SORT_MOVES 16 // cost per event counted for events_sort()

// Move the events of a wheel slot, all later than those in `current`, to the end of `current` in
// ascending order.
__attribute__((always_inline)) static inline void current_load(struct event_queue *q, uint32_t slot)
{
    current_reserve(q);
    struct event *events = q->current + q->tail;
    struct wheel_node *node = &q->nodes[q->slots[slot]];
    size_t n = 1, moves = 0;
    uint32_t at = node->next;
    events[0] = node->event;
    if (at != WHEEL_NIL) { // insert the second event without a branch on the order
        const struct event first = node->event;
        node = &q->nodes[at];
        const struct event second = node->event;
        size_t later = event_before(first, second);
        events[later] = first;
        events[1 - later] = second;
        moves = later;
        n = 2;
        at = node->next;
    }
    while (at != WHEEL_NIL) {
        node = &q->nodes[at];
        if (moves < INSERTION_MOVES)
            moves += place_descending(events, n++, node->event);
        else
            events[n++] = node->event;
        at = node->next;
    }
    node->next = q->free_node;
    q->free_node = q->slots[slot];
    if (moves < INSERTION_MOVES) {
        reverse(events, n);
    } else {
        sort_many(q, events, n);
        moves = n * SORT_MOVES;
    }
    q->tail += n;
    current_end(q);
    q->tuning.moves += moves;
    q->tuning.events += (uint32_t)n;
    q->slots[slot] = WHEEL_NIL;
    q->occupied[slot / 64] &= ~(UINT64_C(1) << slot % 64);
}

/* ---- wheel ---- */

void event_queue_free(struct event_queue *q)
{
    free(q->current);
    free(q->scratch);
    free(q->nodes);
    free(q->slots);
    free(q->occupied);
    free(q->heap);
    *q = (struct event_queue){0};
}

// Call `each` for every pending event, in no particular order.
static void each_pending(const struct event_queue *q, void (*each)(void *ctx, struct event e),
                         void *ctx)
{
    for (size_t i = q->head; i < q->tail; i++)
        each(ctx, q->current[i]);
    for (uint32_t slot = 0; q->reach > 0 && slot <= q->reach; slot++)
        for (uint32_t at = q->slots[slot]; at != WHEEL_NIL; at = q->nodes[at].next)
            each(ctx, q->nodes[at].event);
    for (size_t i = 0; i < q->n_heap; i++)
        each(ctx, q->heap[i]);
}

static void note_earliest(void *ctx, struct event e)
{
    ps_t *earliest_ps = ctx;
    if (e.at_ps < *earliest_ps)
        *earliest_ps = e.at_ps;
}

static void push_into(void *ctx, struct event e) { event_queue_push(ctx, e); }

// An empty queue whose wheel begins at `from_ps`.
static struct event_queue fresh(const struct event_queue *like, unsigned shift, ps_t from_ps)
{
    struct event_queue q = {.shift = shift,
                            .free_node = WHEEL_NIL,
                            .scout = WHEEL_NIL,
                            .ahead = like->ahead,
                            .slots_wanted = like->slots_wanted,
                            .limit_ps = like->limit_ps};
    uint32_t n = q.slots_wanted > 0 ? q.slots_wanted : WHEEL_SLOTS;
    if (shift == 0)
        return q;
    q.slots = memory_zeroed(n, sizeof *q.slots);
    q.reach = n - 1;
    memset(q.slots, 0xff, n * sizeof *q.slots);
    q.occupied = memory_zeroed(n / 64, sizeof *q.occupied);
    q.cursor = (from_ps >> shift) - 1;
    return q;
}

// Two passes over the pending events: the first finds the earliest time, the second moves them. The
// new cursor is one slot before the earliest event, so that the wheel holds as many events as it
// can reach.
void event_queue_shape(struct event_queue *q, unsigned shift)
{
    struct event_queue old = *q;
    ps_t earliest_ps = INT64_MAX;
    each_pending(&old, note_earliest, &earliest_ps);
    *q = fresh(&old, shift, old.n > 0 ? earliest_ps : (ps_t)1 << shift);
    each_pending(&old, push_into, q);
    event_queue_free(&old);
}

static void copy_to(void *ctx, struct event e) { *(*(struct event **)ctx)++ = e; }

void event_queue_copy(const struct event_queue *q, struct event *out)
{
    each_pending(q, copy_to, &out);
}

void event_queue_clear(struct event_queue *q, ps_t from_ps)
{
    struct event_queue old = *q;
    *q = fresh(&old, old.shift, from_ps);
    q->tuning = old.tuning;
    event_queue_free(&old);
}

// Double the number of wheel nodes and put the new ones on the free list.
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
    } else if (ahead <= q->reach) {
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

// Number of slots from the cursor to the next occupied slot, or WHEEL_NIL if all are empty.
static uint32_t wheel_distance(const struct event_queue *q)
{
    uint32_t from = (uint32_t)(q->cursor + 1) & q->reach;
    uint32_t word = from / 64, words = (q->reach + 1) / 64;
    uint64_t bits = q->occupied[word] & ~UINT64_C(0) << from % 64;
    if (bits)
        return word * 64 + (uint32_t)__builtin_ctzll(bits) - from + 1;
    for (uint32_t i = 0; i <= words; i++) {
        if (bits) {
            uint32_t slot = word * 64 + (uint32_t)__builtin_ctzll(bits);
            return ((slot - from) & q->reach) + 1;
        }
        word = (word + 1) & (words - 1);
        bits = q->occupied[word];
    }
    return WHEEL_NIL;
}

#define LOOK_EVENTS 32768 // the slot width is reviewed after this many events
#define CHEAP 7.0         // a lower cost per event is not worth tuning
#define HEAP_MOVES 12.0   // cost per event counted for the heap
#define PATIENCE 64       // reviews to skip after a change that did not help

static void reshape(struct event_queue *q, int change, struct wheel_tuning tuning)
{
    unsigned shift = (unsigned)((int)q->shift + change);
    tuning.tried = change;
    event_queue_shape(q, shift);
    q->tuning = tuning;
}

// Returns the smallest larger shift with which the wheel covers twice `ps`.
static int reaching(const struct event_queue *q, double ps)
{
    int shift = (int)q->shift + 1;
    while (shift < 39 && (double)(((int64_t)q->reach + 1) << shift) < 2 * ps)
        shift++;
    return shift;
}

// Halve the slot width when sorting dominates the cost (divide it by 8 when the cost is very high),
// or widen it to the reach that the heap's events need. A change that saves less than a tenth is
// reverted.
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
    } else if (fresh.cost > CHEAP && sorting <= heap && t.beyond > 0) {
        reshape(q, reaching(q, t.beyond_ps / (double)t.beyond) - (int)q->shift, fresh);
    }
}

// Point the scout at the first node of the next occupied slot.
static void scout_from(struct event_queue *q)
{
    uint32_t distance = wheel_distance(q);
    q->scout = WHEEL_NIL;
    if (distance == WHEEL_NIL)
        return;
    q->scout = q->slots[(uint32_t)(q->cursor + distance) & q->reach];
    __builtin_prefetch(&q->nodes[q->scout]);
}

// Load the next slot into `current`, from the wheel and the heap, unless its number exceeds `last`.
// Returns false if nothing was loaded.
__attribute__((always_inline)) static inline bool load_next(struct event_queue *q, int64_t last)
{
    size_t in_current = q->tail - q->head;
    uint32_t distance = q->n > q->n_heap + in_current ? wheel_distance(q) : WHEEL_NIL;
    int64_t next = q->cursor + distance;
    int64_t heap_slot = q->n_heap > 0 ? q->heap[0].at_ps >> q->shift : INT64_MAX;
    bool in_wheel = distance != WHEEL_NIL && next <= heap_slot;
    int64_t slot = in_wheel ? next : heap_slot;
    if (slot > last)
        return false;
    q->cursor = slot;
    if (in_wheel)
        current_load(q, (uint32_t)next & q->reach);
    if (q->ahead > 0)
        scout_from(q);
    while (q->n_heap > 0 && q->heap[0].at_ps >> q->shift == q->cursor) {
        current_insert(q, heap_pop(q));
        q->tuning.from_heap++;
    }
    return true;
}

// Slots loaded ahead of the first event at most. Events pushed before the cursor need a sorted
// insertion, so the cursor must not run far ahead.
#define LOOK_SLOTS 64

bool event_queue_refill(struct event_queue *q)
{
    if (q->n == 0)
        return false;
    if (q->tuning.events >= LOOK_EVENTS)
        tune(q);
    if (q->reach == 0) {
        if (q->tail == q->head)
            current_insert(q, heap_pop(q));
        return true;
    }
    int64_t limit = q->limit_ps > 0 ? q->limit_ps >> q->shift : INT64_MAX - 1;
    if (q->tail == q->head) {
        q->head = q->tail = 0;
        if (!load_next(q, limit))
            return false;
    }
    int64_t last = (q->current[q->head].at_ps >> q->shift) + LOOK_SLOTS;
    last = last < limit ? last : limit;
    while (q->tail - q->head <= q->ahead && q->tail - q->head < q->n && load_next(q, last))
        continue;
    return true;
}

ps_t event_queue_bound(const struct event_queue *q)
{
    if (q->tail > q->head)
        return q->current[q->head].at_ps;
    ps_t bound = q->n_heap > 0 ? q->heap[0].at_ps : PS_NEVER;
    if (q->n == q->n_heap)
        return bound;
    ps_t slot_ps = (q->cursor + wheel_distance(q)) << q->shift;
    return slot_ps < bound ? slot_ps : bound;
}

void event_queue_skip_to(struct event_queue *q, ps_t now)
{
    int64_t before = (now >> q->shift) - 1;
    if (q->n == q->n_heap && q->reach > 0 && q->cursor < before)
        q->cursor = before;
}
