// SPDX-License-Identifier: MIT
// Times of single messages, and their delivery.
#include "sim/analytical/analytical.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"

/* ---- links ---- */

// Messages over links that serve one message after the other: what ASTRA-sim calls congestion
// aware.
//
// A message crosses the dimensions in which its ranks differ one after the other, the innermost
// first, link by link: in a ring the shorter way (towards higher
// coordinates where both are equal), with a switch up and down,
// fully connected directly. A link serves messages in the order in which they arrive; it is busy
// for trunc(bytes / bandwidth) ns, and the message has arrived behind it after trunc(latency +
// bytes / bandwidth) ns, as a whole.
// Source: the congestion-aware analytical network of ASTRA-sim 2 (Won et al., ISPASS 2023).

// Position of a message: at `rank`, or in the switch that it has reached from `rank`.
struct position {
    uint32_t rank;
    bool in_switch;
};

static uint32_t links_of(const struct analytical_dim *dim)
{
    return dim->shape == SHAPE_FULLY_CONNECTED ? dim->size : 2;
}

static uint32_t n_ranks(const struct analytical *a)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < a->n_dims; d++)
        n *= a->dims[d].size;
    return n;
}

// Moves *at over the next link on the way to `dst` and sets *link; returns the link's dimension.
static uint32_t next_link(const struct analytical *a, struct position *at, uint32_t dst,
                          size_t *link)
{
    uint32_t d = 0, stride = 1, size = a->dims[0].size;
    size_t first = 0;
    while (at->rank / stride % size == dst / stride % size) {
        first += (size_t)n_ranks(a) * links_of(&a->dims[d]);
        stride *= size;
        size = a->dims[++d].size;
    }
    const struct analytical_dim *dim = &a->dims[d];
    uint32_t from = at->rank / stride % size, to = dst / stride % size, index = 0, next = to;
    uint32_t owner = at->rank;
    if (dim->shape == SHAPE_RING) {
        uint32_t up = (to + size - from) % size;
        index = up > size - up;
        next = (index == 0 ? from + 1 : from + size - 1) % size;
    } else if (dim->shape == SHAPE_FULLY_CONNECTED) {
        index = to;
    } else if (!at->in_switch) {
        next = from;
        at->in_switch = true;
    } else {
        index = 1;
        at->in_switch = false;
        owner = at->rank - from * stride + to * stride;
    }
    at->rank = at->rank - from * stride + next * stride;
    *link = first + (size_t)owner * links_of(dim) + index;
    return d;
}

// Time on a link, and the part of it in which the link is busy.
static ps_t link_ps(const struct analytical_dim *dim, uint64_t bytes, ps_t *busy_ps)
{
    double ns = (double)bytes / dim->bytes_per_ns;
    double all = (double)dim->latency_ps / (double)PS_PER_NS + ns;
    // Longer times, of tiny rates, would overflow the conversion to integers.
    if (all >= (double)ANALYTICAL_LONGEST_PS / (double)PS_PER_NS)
        return *busy_ps = ANALYTICAL_LONGEST_PS;
    // Truncated to nanoseconds, as by ASTRA-sim's conversion to int.
    *busy_ps = (ps_t)ns * PS_PER_NS;
    return (ps_t)all * PS_PER_NS;
}

// Send a message over the next link on its way, from `now` on. Returns its arrival behind the link.
static ps_t analytical_hop(struct analytical *a, struct analytical_message *m, ps_t now)
{
    // Only routes over links (ANALYTICAL_LINKS) need the table.
    if (a->link_free_ps == NULL) {
        size_t n = 0;
        for (uint32_t d = 0; d < a->n_dims; d++)
            n += (size_t)n_ranks(a) * links_of(&a->dims[d]);
        a->link_free_ps = memory_zeroed(n, sizeof *a->link_free_ps);
    }
    struct position at = {m->at, m->in_switch};
    size_t link;
    uint32_t d = next_link(a, &at, m->dst, &link);
    ps_t busy_ps, takes_ps = link_ps(&a->dims[d], m->bytes, &busy_ps);
    ps_t start_ps = a->link_free_ps[link] > now ? a->link_free_ps[link] : now;
    a->link_free_ps[link] = start_ps + busy_ps;
    m->at = at.rank;
    m->in_switch = at.in_switch;
    return start_ps + takes_ps;
}

// Time of a message that meets no other.
static ps_t analytical_alone_ps(const struct analytical *a, uint32_t src, uint32_t dst,
                                uint64_t bytes)
{
    struct position at = {src, false};
    size_t link;
    ps_t sum = 0, busy_ps;
    while (at.rank != dst || at.in_switch) {
        sum += link_ps(&a->dims[next_link(a, &at, dst, &link)], bytes, &busy_ps);
        if (sum >= ANALYTICAL_LONGEST_PS)
            return ANALYTICAL_LONGEST_PS;
    }
    return sum;
}

// ---- times ----

static uint32_t hops_between(const struct analytical_dim *dim, uint32_t from, uint32_t to)
{
    uint32_t way = from < to ? to - from : from - to;
    switch (dim->shape) {
    case SHAPE_RING:
        return way < dim->size - way ? way : dim->size - way;
    case SHAPE_SWITCH:
        return 2;
    default:
        return 1;
    }
}

static uint32_t analytical_ranks(const struct analytical *a)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < a->n_dims; d++)
        n *= a->dims[d].size;
    return n;
}

// The path between two ranks, over all dimensions in which they differ, or over the first or the
// last of them.
struct way {
    uint32_t hops;
    ps_t latency_ps;
    double bytes_per_ns; // minimum over the dimensions
};

static struct way way_between(const struct analytical *a, uint32_t src, uint32_t dst)
{
    struct way way = {0};
    uint32_t at = src, stride = 1; // at: the rank that the message has reached
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const struct analytical_dim *dim = &a->dims[d];
        // The number of a rank has a digit for each dimension, the innermost dimension lowest.
        uint32_t from = src % dim->size, to = dst % dim->size,
                 next = at - from * stride + to * stride;
        src /= dim->size;
        dst /= dim->size;
        stride *= dim->size;
        if (from == to)
            continue;
        uint32_t hops = dim->shape == SHAPE_TIERED
                            ? dim->kind->hops(dim->params, analytical_ranks(a), at, next)
                            : hops_between(dim, from, to);
        at = next;
        if (a->last_dim)
            way = (struct way){0};
        way.hops += hops;
        // In a tree the first and the last hop are links of ranks, and those between are trunks.
        way.latency_ps += dim->shape == SHAPE_TIERED
                              ? 2 * dim->latency_ps + (hops - 2) * dim->trunk_ps
                              : hops * dim->latency_ps;
        if (way.bytes_per_ns <= 0 || dim->bytes_per_ns < way.bytes_per_ns)
            way.bytes_per_ns = dim->bytes_per_ns;
        if (a->first_dim)
            break;
    }
    return way;
}

uint32_t analytical_hops(const struct analytical *a, uint32_t src, uint32_t dst)
{
    return way_between(a, src, dst).hops;
}

double analytical_bandwidth(const struct analytical *a, uint32_t src, uint32_t dst)
{
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const struct analytical_dim *dim = &a->dims[d];
        if (src % dim->size != dst % dim->size)
            return dim->bytes_per_ns *
                   (dim->shape == SHAPE_FULLY_CONNECTED ? (double)(dim->size - 1) : 1);
        src /= dim->size;
        dst /= dim->size;
    }
    return 0;
}

ps_t analytical_message_ps(const struct analytical *a, uint32_t src, uint32_t dst, uint64_t bytes)
{
    struct way way = way_between(a, src, dst);
    if (way.hops == 0)
        return 0;
    ps_t link_ps = way.latency_ps / way.hops;
    double latency_ns = (double)way.latency_ps / (double)PS_PER_NS;
    if (a->first_dim) // rounded as in ASTRA-sim 2, which multiplies by the hops last
        latency_ns = way.hops * ((double)link_ps / (double)PS_PER_NS);
    double ns = latency_ns + (double)bytes / way.bytes_per_ns;
    if (ns >= (double)ANALYTICAL_LONGEST_PS / (double)PS_PER_NS)
        return ANALYTICAL_LONGEST_PS;
    return (ps_t)ns * PS_PER_NS; // truncated, like ASTRA-sim's conversion to int
}

// ---- messages ----

static void slot_free(struct analytical_message *m)
{
    m->in_flight = false;
    m->next_free = m->net->free_head;
    m->net->free_head = m;
}

static void on_arrival(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct analytical_message *m = timer->data;
    struct analytical *a = m->net;
    if (a->links && (m->at != m->dst || m->in_switch)) {
        sim_timer_start(e, timer, analytical_hop(a, m, e->now_ps));
        return;
    }
    uint64_t token = m->token, bytes = m->bytes;
    a->n_running--;
    a->delivered_bytes += bytes;
    if (a->ended)
        a->ended(a->ended_ctx, m);
    sim_timer_end(e, &m->timer);
    uint32_t path = path_own(a->path_book, m->path);
    path_extend(a->path_book, path, PATH_NETWORK, e->now_ps);
    uint32_t before = path_enter(a->path_book, path);
    slot_free(m); // the client may post again
    a->client.delivered(a->client.ctx, token, bytes, e->now_ps);
    a->client.sent(a->client.ctx, token, e->now_ps);
    path_leave(a->path_book, before);
}

static void block_add(struct analytical *a)
{
    struct analytical_message *block = memory_zeroed(ANALYTICAL_BLOCK, sizeof *block);
    a->blocks = memory_resize(a->blocks, a->n_blocks + 1, sizeof *a->blocks);
    a->blocks[a->n_blocks++] = block;
    for (size_t i = ANALYTICAL_BLOCK; i-- > 0;) {
        block[i].net = a;
        slot_free(&block[i]);
    }
}

static struct analytical_message *slot_alloc(struct analytical *a)
{
    if (!a->free_head)
        block_add(a);
    struct analytical_message *m = a->free_head;
    a->free_head = m->next_free;
    return m;
}

void analytical_post(void *analytical, const struct transfer_request *request, ps_t now)
{
    struct analytical *a = analytical;
    struct analytical_message *m = slot_alloc(a);
    m->id = a->n_messages++;
    m->token = request->token;
    m->bytes = request->bytes;
    m->job = request->job;
    m->src = request->src;
    m->dst = request->dst;
    m->posted_ps = now;
    m->takes_ps = a->links ? analytical_alone_ps(a, m->src, m->dst, m->bytes)
                           : analytical_message_ps(a, m->src, m->dst, m->bytes);
    m->path = path_take(a->path_book, now);
    m->in_flight = true;
    a->n_running++;
    a->posted_bytes += m->bytes;
    sim_timer_init(a->engine, &m->timer, m->dst, on_arrival, m);
    m->at = m->src;
    m->in_switch = false;
    sim_timer_start(a->engine, &m->timer, a->links ? analytical_hop(a, m, now) : now + m->takes_ps);
}

struct transfer analytical_transfer(struct analytical *a)
{
    return (struct transfer){
        .post = analytical_post, .phase = a->links ? NULL : analytical_phase, .net = a};
}

void analytical_each(const struct analytical *a, void *ctx,
                     void (*each)(void *ctx, const struct analytical_message *m))
{
    for (size_t b = 0; b < a->n_blocks; b++)
        for (size_t i = 0; i < ANALYTICAL_BLOCK; i++)
            if (a->blocks[b][i].in_flight)
                each(ctx, &a->blocks[b][i]);
}

void analytical_free(struct analytical *a)
{
    for (size_t b = 0; b < a->n_blocks; b++) {
        for (size_t i = 0; i < ANALYTICAL_BLOCK; i++)
            sim_timer_end(a->engine, &a->blocks[b][i].timer);
        free(a->blocks[b]);
    }
    free(a->blocks);
    free(a->link_free_ps);
    *a = (struct analytical){0};
}
