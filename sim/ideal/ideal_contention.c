// SPDX-License-Identifier: MIT
// What the links between switches add to the ideal time of a collective that runs in one phase.
//
// The messages of a step are sent at the same time. Switches spread each over all shortest paths
// evenly, or, where they choose by flow (ecmp), send it by one that a hash of its ranks chooses: a
// draw of the collisions that a run has. A step then takes as long as the fullest link transmits:
// the ideal time has the links of ranks (sim/ideal/ideal_collective.c), so each step adds what the
// fullest link takes longer than the fullest link of a rank.
#include "sim/ideal/ideal_contention.h"

#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "sim/ideal/ideal_internal.h"

#define MESSAGES_MAX (1u << 18) // of the steps whose messages are spread

struct loads {
    const struct ideals *ideals;
    uint32_t transport;
    double *busy_ps;  // [port] in this step
    uint32_t *filled; // [n] ports with load in this step; NULL = not needed
    uint32_t n;
    bool unknown;  // a message that passes through other ranks
    bool draws;    // a hash chooses the path where switches choose by flow
    bool by_flow;  // the present message takes one path
    uint64_t flow; // hash of its ranks
};

static void add_load(struct loads *l, uint32_t port, double bytes)
{
    if (l->busy_ps[port] == 0 && l->filled)
        l->filled[l->n++] = port;
    l->busy_ps[port] += bytes * ideal_byte_ps(l->ideals, port);
}

// Spread the bytes over all shortest paths from a node; `hops`: links that are still allowed.
static void spread(struct loads *l, uint32_t node, uint32_t dst, uint32_t dim, double bytes,
                   unsigned hops)
{
    const struct routes *r = fabric_first_routes(l->ideals->fabric);
    const uint16_t *next;
    if (node == dst)
        return;
    uint32_t n =
        node < r->n_ranks ? routes_from(r, node, dst, dim, &next) : routes_get(r, node, dst, &next);
    // Without a next hop, or with a loop of routes, the load is not known.
    l->unknown |= n == 0 || hops == 0;
    uint32_t first = l->by_flow && n > 1 ? (uint32_t)(hash_mix(l->flow + node) % n) : 0,
             used = l->by_flow && n > 1 ? 1 : n;
    for (uint32_t i = first; i < first + used && hops > 0; i++) {
        uint32_t port = node_port(&l->ideals->fabric->net, node, next[i]);
        add_load(l, port, bytes / used);
        spread(l, fabric_peer_node(l->ideals->fabric, port), dst, dim, bytes / used, hops - 1);
    }
}

static void add_message(struct loads *l, uint32_t src, uint32_t dst, uint64_t bytes)
{
    const struct fabric *fabric = l->ideals->fabric;
    if (src == dst)
        return;
    // A relayed message is several messages, which are not sent in one step.
    if (fabric_next_rank(&fabric->graph, src, dst) != dst) {
        l->unknown = true;
        return;
    }
    uint32_t dim = fabric_message_dim(fabric, src, dst, bytes);
    const struct transport_dim *t = hosts_dim(&fabric->hosts, dim, l->transport);
    uint32_t from = graph_owner(&fabric->graph, src, dim),
             to = graph_owner(&fabric->graph, dst, dim);
    l->by_flow = l->draws && fabric->spec->dims[dim].sw.routing.kind == ROUTING_ECMP && !t->sprays;
    l->flow = hash_mix((uint64_t)src << 32 | dst);
    spread(l, from, to, dim, (double)ideal_wire(t, bytes, false).total, ROUTE_MAX_HOPS);
}

// Returns what the step adds, and empties the loads.
static double step_end(struct loads *l)
{
    const struct graph *g = &l->ideals->fabric->graph;
    double most = 0, of_ranks = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        uint32_t port = l->filled[i];
        double ps = l->busy_ps[port];
        bool rank =
            g->ports[port].node < g->n_ranks || g->ports[g->ports[port].peer].node < g->n_ranks;
        most = ps > most ? ps : most;
        of_ranks = rank && ps > of_ranks ? ps : of_ranks;
        l->busy_ps[port] = 0;
    }
    l->n = 0;
    return most - of_ranks;
}

void ideal_add_message(const struct ideals *ideals, uint32_t src, uint32_t dst, uint32_t transport,
                       double bytes, double *busy_ps)
{
    const struct fabric *fabric = ideals->fabric;
    struct loads l = {.ideals = ideals, .transport = transport, .busy_ps = busy_ps};
    while (src != dst) {
        uint32_t next = fabric_next_rank(&fabric->graph, src, dst);
        add_message(&l, src, next, (uint64_t)bytes);
        src = next;
    }
}

struct steps {
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    const uint32_t *ranks; // [member]; NULL = the same number
};

static uint32_t rank_at(const struct steps *s, uint32_t member)
{
    return s->ranks ? s->ranks[member] : member;
}

// A hash of who sends how much to whom in a step; sizes that differ little are equal.
static uint64_t pattern_of(const struct steps *s, uint32_t step, uint64_t *messages, uint64_t limit)
{
    uint64_t hash = 1;
    // Sizes are counted in parts of 1/4096 of the vector, so that blocks that differ by a byte are
    // equal.
    double unit = s->shape.bytes > 0 ? 4096.0 / (double)s->shape.bytes : 0;
    for (uint32_t m = 0; m < s->shape.ranks; m++) {
        uint32_t n = s->algorithm->n_sends(&s->shape, m, step);
        *messages += n;
        for (uint32_t k = 0; k < n && *messages <= limit; k++) {
            struct coll_send send = s->algorithm->send(&s->shape, m, step, k);
            hash = hash_mix(hash * 31 + m) ^ hash_mix(send.peer);
            hash = hash_mix(hash + (uint64_t)((double)send.bytes * unit + 0.25));
        }
    }
    return hash;
}

static double step_ps(const struct steps *s, struct loads *l, uint32_t step)
{
    for (uint32_t m = 0; m < s->shape.ranks; m++) {
        uint32_t n = s->algorithm->n_sends(&s->shape, m, step);
        for (uint32_t k = 0; k < n; k++) {
            struct coll_send send = s->algorithm->send(&s->shape, m, step, k);
            add_message(l, rank_at(s, m), rank_at(s, send.peer), send.bytes);
        }
    }
    return step_end(l);
}

ps_t ideal_contention_ps(const struct ideals *ideals, const uint32_t *ranks,
                         const struct coll_algorithm *algorithm, const struct coll_shape *shape,
                         uint32_t transport, bool spread_all, uint64_t limit)
{
    const struct steps s = {algorithm, *shape, ranks};
    uint32_t ports = ideals->fabric->graph.n_ports, steps = algorithm->steps(shape);
    struct loads l = {.ideals = ideals,
                      .transport = transport,
                      .draws = !spread_all,
                      .busy_ps = memory_zeroed(ports, sizeof *l.busy_ps),
                      .filled = memory_zeroed(ports, sizeof *l.filled)};
    uint64_t messages = 0, spread_so_far = 0, last = 0;
    double sum = 0, of_last = 0;
    bool known = true;
    for (uint32_t step = 0; step < steps && known; step++) {
        uint64_t before = messages, pattern = pattern_of(&s, step, &messages, limit);
        known = messages <= limit;
        if (known && (step == 0 || pattern != last)) {
            spread_so_far += messages - before;
            known = spread_so_far <= MESSAGES_MAX;
            of_last = known ? step_ps(&s, &l, step) : 0;
        }
        known = known && !l.unknown;
        last = pattern;
        sum += of_last;
    }
    free(l.busy_ps);
    free(l.filled);
    return known ? (ps_t)sum : -1;
}
