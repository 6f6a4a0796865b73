// SPDX-License-Identifier: MIT
// Links of a rank in a dimension: ring: up, down; switch: to the switch, from the switch; fully
// connected: one to each coordinate.
#include "sim/analytical/links.h"

#include "engine/base/memory.h"

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
    if (all >= (double)ANALYTICAL_LONGEST_PS / (double)PS_PER_NS)
        return *busy_ps = ANALYTICAL_LONGEST_PS;
    *busy_ps = (ps_t)ns * PS_PER_NS;
    return (ps_t)all * PS_PER_NS;
}

ps_t analytical_hop(struct analytical *a, struct analytical_message *m, ps_t now)
{
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

ps_t analytical_alone_ps(const struct analytical *a, uint32_t src, uint32_t dst, uint64_t bytes)
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
