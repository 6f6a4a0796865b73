// SPDX-License-Identifier: MIT
#include "workload/cnn/offload_schedule.h"

#include <stdlib.h>

#include "engine/base/memory.h"

struct offload_free { // memory that is free when both operations have ended
    ps_t at_ps;
    uint64_t bytes;
    bool outputs; // else weights or gradients
    uint32_t by[2];
};

struct making {
    struct offload_schedule *s;
    const struct offload_chain *c;
    const struct offload_choice *choice;
    bool fits;
};

/* ---- memory that becomes free ---- */

static bool is_earlier(const struct offload_free *a, const struct offload_free *b)
{
    return a->at_ps < b->at_ps || (a->at_ps == b->at_ps && a->by[0] < b->by[0]);
}

static void heap_push(struct offload_schedule *s, struct offload_free one)
{
    if (s->n_waiting == s->cap_waiting)
        s->waiting = memory_grow(s->waiting, &s->cap_waiting, sizeof *s->waiting);
    size_t at = s->n_waiting++;
    for (; at > 0 && is_earlier(&one, &s->waiting[(at - 1) / 2]); at = (at - 1) / 2)
        s->waiting[at] = s->waiting[(at - 1) / 2];
    s->waiting[at] = one;
}

static struct offload_free heap_pop(struct offload_schedule *s)
{
    struct offload_free first = s->waiting[0], last = s->waiting[--s->n_waiting];
    size_t at = 0;
    for (size_t child = 1; child < s->n_waiting; child = 2 * at + 1) {
        child += child + 1 < s->n_waiting && is_earlier(&s->waiting[child + 1], &s->waiting[child]);
        if (!is_earlier(&s->waiting[child], &last))
            break;
        s->waiting[at] = s->waiting[child];
        at = child;
    }
    s->waiting[at] = last;
    return first;
}

// The memory is free when operation `by` has ended, and `also`, unless that is OFFLOAD_NONE.
static void release(struct making *m, uint64_t bytes, bool outputs, uint32_t by, uint32_t also)
{
    struct offload_schedule *s = m->s;
    struct offload_free one = {s->ops[by].end_ps, bytes, outputs, {by, also}};
    if (bytes == 0 || !m->fits)
        return;
    if (also != OFFLOAD_NONE && s->ops[also].end_ps > one.at_ps)
        one.at_ps = s->ops[also].end_ps;
    heap_push(s, one);
    if (s->n_frees == s->cap_frees)
        s->frees = memory_grow(s->frees, &s->cap_frees, sizeof *s->frees);
    s->frees[s->n_frees++] = one;
}

// Count freed memory until what is held fits; false = there is no more.
static bool make_room(struct making *m)
{
    struct offload_schedule *s = m->s;
    while (s->held_bytes > m->c->capacity_bytes) {
        if (s->n_waiting == 0)
            return false;
        struct offload_free one = heap_pop(s);
        s->held_bytes -= one.bytes;
        s->counted_ps = one.at_ps > s->counted_ps ? one.at_ps : s->counted_ps;
        for (unsigned i = 0; i < 2 && one.by[i] != OFFLOAD_NONE; i++) {
            uint32_t *counted = &s->counted[s->ops[one.by[i]].stream];
            *counted = *counted == OFFLOAD_NONE || one.by[i] > *counted ? one.by[i] : *counted;
        }
    }
    return true;
}

/* ---- operations ---- */

static struct offload_op *begin(struct making *m, enum offload_what what,
                                enum offload_stream stream, uint32_t layer)
{
    struct offload_schedule *s = m->s;
    if (s->n == s->cap)
        s->ops = memory_grow(s->ops, &s->cap, sizeof *s->ops);
    struct offload_op *op = &s->ops[s->n];
    *op = (struct offload_op){.what = (uint8_t)what, .stream = (uint8_t)stream, .layer = layer};
    return op;
}

static void after(struct offload_op *op, uint32_t before)
{
    if (before != OFFLOAD_NONE)
        op->after[op->n_after++] = before;
}

static void transfers(const struct making *m, struct offload_op *op, uint64_t bytes)
{
    op->bytes = bytes;
    op->takes_ps = serialization_ps(bytes, m->c->link_bps);
}

// The operation that was begun starts when its stream, what it is after and its memory are free.
// Returns its index.
static uint32_t place(struct making *m)
{
    struct offload_schedule *s = m->s;
    struct offload_op *op = &s->ops[s->n];
    uint64_t takes = op->output_bytes + op->state_bytes;
    uint32_t before = s->last[op->stream];
    s->held_bytes += takes;
    m->fits = m->fits && make_room(m);
    op->start_ps = before != OFFLOAD_NONE ? s->ops[before].end_ps : 0;
    for (unsigned i = 0; takes > 0 && i < OFFLOAD_STREAMS; i++)
        if (i != op->stream)
            after(op, s->counted[i]);
    for (unsigned i = 0; i < op->n_after; i++)
        if (s->ops[op->after[i]].end_ps > op->start_ps)
            op->start_ps = s->ops[op->after[i]].end_ps;
    op->end_ps = op->start_ps + op->takes_ps;
    s->iteration_ps = op->end_ps > s->iteration_ps ? op->end_ps : s->iteration_ps;
    s->last[op->stream] = s->n;
    return s->n++;
}

/* ---- passes ---- */

static uint64_t output(const struct making *m, uint32_t layer)
{
    return m->c->layers[layer].output_bytes;
}

static uint64_t weights(const struct making *m, uint32_t layer)
{
    return m->c->swaps_weights ? m->c->layers[layer].weight_bytes : 0;
}

static void fetch_weights(struct making *m, uint32_t layer)
{
    m->s->weights_op[layer] = OFFLOAD_NONE;
    if (weights(m, layer) == 0)
        return;
    struct offload_op *op = begin(m, OFFLOAD_WEIGHTS_IN, OFFLOAD_IN, layer);
    transfers(m, op, weights(m, layer));
    op->state_bytes = weights(m, layer);
    m->s->weights_op[layer] = place(m);
}

// The output leaves behind the layer's pass. In the schedule it follows the next layer's pass,
// which reads it as well, so that memory which that pass needs is never waited for in a circle.
static void send_output(struct making *m, uint32_t layer)
{
    struct offload_op *op = begin(m, OFFLOAD_OUTPUT_OUT, OFFLOAD_OUT, layer);
    transfers(m, op, output(m, layer));
    after(op, m->s->forward_op[layer]);
    m->s->out_op[layer] = place(m);
    release(m, output(m, layer), true, m->s->out_op[layer], m->s->forward_op[layer + 1]);
}

static void forward(struct making *m, uint32_t layer)
{
    const struct offload_layer *l = &m->c->layers[layer];
    fetch_weights(m, layer);
    struct offload_op *op = begin(m, OFFLOAD_FORWARD, OFFLOAD_GPU, layer);
    op->takes_ps = l->forward_ps;
    op->output_bytes = l->output_bytes + (layer == 0 ? m->c->input_bytes : 0);
    after(op, m->s->weights_op[layer]);
    uint32_t own = m->s->forward_op[layer] = place(m);
    if (layer < m->choice->stay_from)
        release(m, weights(m, layer), false, own, OFFLOAD_NONE);
    if (layer > 0 && m->choice->ways[layer - 1] == OFFLOAD_RECOMPUTE)
        release(m, output(m, layer - 1), true, own, OFFLOAD_NONE);
    if (layer > 0 && m->choice->ways[layer - 1] == OFFLOAD_SWAP)
        send_output(m, layer - 1);
}

static void send_gradient(struct making *m, uint32_t layer, uint32_t backward)
{
    struct offload_op *op = begin(m, OFFLOAD_GRADIENT_OUT, OFFLOAD_OUT, layer);
    transfers(m, op, weights(m, layer));
    after(op, backward);
    uint32_t sent = place(m);
    release(m, weights(m, layer), false, sent, OFFLOAD_NONE);
    op = begin(m, OFFLOAD_UPDATE, OFFLOAD_HOST, layer);
    op->takes_ps = m->c->layers[layer].update_ps;
    after(op, sent);
    place(m);
}

static void backward(struct making *m, uint32_t layer, uint32_t fetched)
{
    const struct offload_layer *l = &m->c->layers[layer];
    struct offload_op *op = begin(m, OFFLOAD_BACKWARD, OFFLOAD_GPU, layer);
    op->takes_ps = l->backward_ps;
    op->output_bytes =
        (layer > 0 ? l[-1].gradient_bytes : 0) + (layer + 1 == m->c->n ? l->gradient_bytes : 0);
    op->state_bytes = weights(m, layer); // its gradient
    after(op, m->s->weights_op[layer]);
    after(op, fetched);
    uint32_t own = place(m);
    release(m, l->output_bytes + l->gradient_bytes + (layer == 0 ? m->c->input_bytes : 0), true,
            own, OFFLOAD_NONE);
    release(m, weights(m, layer), false, own, OFFLOAD_NONE);
    if (weights(m, layer) > 0)
        send_gradient(m, layer, own);
}

// Backward through a block, the layers from `first` to `last`, whose inputs but that of the first
// are computed again.
static void backward_block(struct making *m, uint32_t first, uint32_t last)
{
    uint32_t fetched = OFFLOAD_NONE;
    if (first > 0 && m->choice->ways[first - 1] == OFFLOAD_SWAP) {
        struct offload_op *op = begin(m, OFFLOAD_OUTPUT_IN, OFFLOAD_IN, first - 1);
        transfers(m, op, output(m, first - 1));
        op->output_bytes = output(m, first - 1);
        after(op, m->s->out_op[first - 1]);
        fetched = place(m);
    }
    for (uint32_t l = first; l <= last; l++)
        if (l < m->choice->stay_from)
            fetch_weights(m, l);
    for (uint32_t l = first; l < last; l++) {
        struct offload_op *op = begin(m, OFFLOAD_AGAIN, OFFLOAD_GPU, l);
        op->takes_ps = m->c->layers[l].forward_ps;
        op->output_bytes = output(m, l);
        after(op, m->s->weights_op[l]);
        after(op, fetched);
        place(m);
    }
    for (uint32_t l = last + 1; l-- > first;)
        backward(m, l, fetched);
}

static void update(struct making *m)
{
    if (m->c->swaps_weights)
        return; // the host does
    struct offload_op *op = begin(m, OFFLOAD_UPDATE, OFFLOAD_GPU, m->c->n);
    op->takes_ps = m->c->update_ps;
    place(m);
}

static bool fits_host(const struct making *m)
{
    uint64_t sum = 0;
    for (uint32_t l = 0; l < m->c->n; l++)
        sum += m->choice->ways[l] == OFFLOAD_SWAP ? output(m, l) : 0;
    return sum <= m->c->host_bytes;
}

bool offload_schedule_make(struct offload_schedule *s, const struct offload_chain *chain,
                           const struct offload_choice *choice)
{
    struct making m = {s, chain, choice, true};
    if (s->forward_op == NULL) {
        s->forward_op = memory_zeroed(chain->n, sizeof *s->forward_op);
        s->out_op = memory_zeroed(chain->n, sizeof *s->out_op);
        s->weights_op = memory_zeroed(chain->n, sizeof *s->weights_op);
    }
    s->n = 0;
    s->n_frees = s->n_waiting = 0;
    s->held_bytes = 0;
    s->iteration_ps = s->counted_ps = 0;
    for (unsigned i = 0; i < OFFLOAD_STREAMS; i++)
        s->last[i] = s->counted[i] = OFFLOAD_NONE;
    if (!fits_host(&m))
        return false;
    for (uint32_t l = 0; l < chain->n && m.fits; l++)
        forward(&m, l);
    for (uint32_t last = chain->n; last-- > 0 && m.fits;) {
        uint32_t first = last;
        while (first > 0 && choice->ways[first - 1] == OFFLOAD_RECOMPUTE)
            first--;
        backward_block(&m, first, last);
        last = first;
    }
    update(&m);
    return m.fits;
}

void offload_schedule_free(struct offload_schedule *s)
{
    free(s->ops);
    free(s->frees);
    free(s->waiting);
    free(s->forward_op);
    free(s->out_op);
    free(s->weights_op);
    *s = (struct offload_schedule){0};
}

/* ---- memory ---- */

uint64_t offload_least_bytes(const struct offload_chain *chain, uint32_t *layer)
{
    uint64_t least = 0;
    for (uint32_t l = 0; l < chain->n; l++) {
        const struct offload_layer *own = &chain->layers[l];
        uint64_t bytes = chain->input_bytes + own->output_bytes + own->gradient_bytes +
                         (l > 0 ? own[-1].output_bytes + own[-1].gradient_bytes : 0) +
                         (chain->swaps_weights ? 2 * own->weight_bytes : 0);
        *layer = bytes > least ? l : *layer;
        least = bytes > least ? bytes : least;
    }
    return least;
}

struct change {
    ps_t at_ps;
    int64_t output_bytes, state_bytes; // taken, or below 0
};

// Memory that becomes free at a time can be taken at that time.
static int by_time(const void *a, const void *b)
{
    const struct change *x = a, *y = b;
    if (x->at_ps != y->at_ps)
        return x->at_ps < y->at_ps ? -1 : 1;
    int64_t more = x->output_bytes + x->state_bytes - y->output_bytes - y->state_bytes;
    return (more > 0) - (more < 0);
}

static struct change freed(const struct offload_free *f)
{
    int64_t bytes = -(int64_t)f->bytes;
    return (struct change){f->at_ps, f->outputs ? bytes : 0, f->outputs ? 0 : bytes};
}

struct offload_peak offload_schedule_peak(const struct offload_schedule *s)
{
    struct change *changes = memory_zeroed(s->n + s->n_frees + 1, sizeof *changes), now = {0};
    struct offload_peak peak = {0};
    int64_t most = 0;
    size_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        changes[n++] = (struct change){s->ops[i].start_ps, (int64_t)s->ops[i].output_bytes,
                                       (int64_t)s->ops[i].state_bytes};
    for (size_t i = 0; i < s->n_frees; i++)
        changes[n++] = freed(&s->frees[i]);
    qsort(changes, n, sizeof *changes, by_time);
    for (size_t i = 0; i < n; i++) {
        now.output_bytes += changes[i].output_bytes;
        now.state_bytes += changes[i].state_bytes;
        if (now.output_bytes + now.state_bytes <= most)
            continue;
        most = now.output_bytes + now.state_bytes;
        peak = (struct offload_peak){(uint64_t)now.output_bytes, (uint64_t)now.state_bytes,
                                     changes[i].at_ps};
    }
    free(changes);
    return peak;
}
