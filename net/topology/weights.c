// SPDX-License-Identifier: MIT
// Computes the capacities behind next hops, and replaces sets of ports by weighted ones.
#include "net/topology/weights.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct weighing {
    struct routes *r;
    const struct graph *g;
    uint32_t first_set;     // first set that was added here
    uint64_t *capacity_bps; // [switch] towards the group; UINT64_MAX = the group is attached here
    bool *known;            // [switch]
    uint64_t *into_bps;     // [switch] rates_into(); 0 = not computed
};

// The next hops of a switch towards a group: their number, and *ports.
static uint32_t hops_of(const struct routes *r, uint32_t row, uint32_t group,
                        const uint16_t **ports)
{
    const uint16_t *next = &r->next[(size_t)row * r->n_groups + group];
    *ports = next;
    if (*next == ROUTE_HERE || *next == ROUTE_NONE)
        return 0;
    if (!(*next & ROUTE_SET))
        return 1;
    *ports = r->ports + r->sets[*next & ~ROUTE_SET].first;
    return r->sets[*next & ~ROUTE_SET].count;
}

static uint64_t capacity_from(struct weighing *w, uint32_t row, uint32_t group);

static uint32_t neighbour(const struct weighing *w, uint32_t row, uint16_t local,
                          uint64_t *rate_bps)
{
    const struct graph_port *port =
        &w->g->ports[w->g->nodes[w->r->n_ranks + row].first_port + local];
    *rate_bps = port->rate_bps;
    return w->g->ports[port->peer].node;
}

// Returns the sum of the rates of all links that lead packets for a group to a switch.
static uint64_t rates_into(struct weighing *w, uint32_t row, uint32_t group)
{
    const struct graph_node *node = &w->g->nodes[w->r->n_ranks + row];
    uint64_t sum = 0;
    if (w->into_bps[row] > 0)
        return w->into_bps[row];
    for (uint32_t p = node->first_port; p < node->first_port + node->n_ports; p++) {
        const struct graph_port *back = &w->g->ports[w->g->ports[p].peer];
        const uint16_t *ports = &w->r->only[0];
        uint32_t n = back->node < w->r->n_ranks
                         ? 0
                         : hops_of(w->r, back->node - w->r->n_ranks, group, &ports);
        bool sends = back->node < w->r->n_ranks;
        for (uint32_t i = 0; i < n && !sends; i++)
            sends = ports[i] == back->local;
        sum += sends ? back->rate_bps : 0;
    }
    return w->into_bps[row] = sum;
}

// Returns the capacity through a port: the neighbour's, shared among the links that lead to it.
static uint64_t capacity_by(struct weighing *w, uint32_t row, uint16_t local, uint32_t group)
{
    uint64_t rate;
    uint32_t peer = neighbour(w, row, local, &rate);
    if (peer < w->r->n_ranks)
        return rate;
    uint64_t behind = capacity_from(w, peer - w->r->n_ranks, group);
    uint64_t into = rates_into(w, peer - w->r->n_ranks, group);
    return behind >= into ? rate : (uint64_t)((double)behind * (double)rate / (double)into);
}

// The recursion ends because every next hop is nearer to the destination.
static uint64_t capacity_from(struct weighing *w, uint32_t row, uint32_t group)
{
    const uint16_t *ports;
    if (w->known[row])
        return w->capacity_bps[row];
    uint32_t n = hops_of(w->r, row, group, &ports);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += capacity_by(w, row, ports[i], group);
    if (w->r->next[(size_t)row * w->r->n_groups + group] == ROUTE_HERE)
        sum = UINT64_MAX;
    w->known[row] = true;
    return w->capacity_bps[row] = sum;
}

// Turn capacities into numbers of entries. Returns their sum.
static uint32_t entries_of(uint64_t *weights, uint32_t n)
{
    uint64_t divisor = 0, sum = 0, entries = 0;
    for (uint32_t i = 0; i < n; i++) {
        divisor = common_divisor(weights[i], divisor);
        sum += weights[i];
    }
    if (divisor == 0) // all capacities are 0
        return 0;
    bool rounds = sum / divisor > WEIGHTS_MAX_ENTRIES;
    for (uint32_t i = 0; i < n; i++) {
        weights[i] = rounds
                         ? (uint64_t)((double)weights[i] / (double)sum * WEIGHTS_MAX_ENTRIES + 0.5)
                         : weights[i] / divisor;
        weights[i] = weights[i] > 0 ? weights[i] : 1;
        entries += weights[i];
    }
    return (uint32_t)entries;
}

// Returns the index of the set in the last `count` ports, which are removed if it exists.
static uint32_t set_of_last(struct weighing *w, uint32_t count)
{
    struct routes *r = w->r;
    uint32_t first = (uint32_t)r->n_ports - count;
    for (uint32_t i = w->first_set; i < r->n_sets; i++)
        if (r->sets[i].count == count &&
            memcmp(r->ports + r->sets[i].first, r->ports + first, count * sizeof *r->ports) == 0) {
            r->n_ports = first;
            return i;
        }
    if (r->n_sets == r->cap_sets)
        r->sets = memory_grow(r->sets, &r->cap_sets, sizeof *r->sets);
    r->sets[r->n_sets] = (struct route_set){first, count};
    return r->n_sets++;
}

// Append `count` entries: each of n ports as often as its weight, as far apart as possible, since
// packets may take the entries in turn (smooth weighted round robin).
static void add_entries(struct routes *r, uint32_t from, const uint64_t *weights, uint32_t n,
                        uint32_t count)
{
    int64_t credit[UINT8_MAX] = {0};
    for (uint32_t k = 0; k < count; k++) {
        uint32_t best = 0;
        for (uint32_t i = 0; i < n; i++) {
            credit[i] += (int64_t)weights[i];
            best = credit[i] > credit[best] ? i : best;
        }
        credit[best] -= count;
        if (r->n_ports == r->cap_ports)
            r->ports = memory_grow(r->ports, &r->cap_ports, sizeof *r->ports);
        r->ports[r->n_ports++] = r->ports[from + best];
    }
}

static int weigh(struct weighing *w, uint32_t row, uint32_t group)
{
    struct routes *r = w->r;
    const uint16_t *ports;
    uint64_t weights[UINT8_MAX];
    uint32_t n = hops_of(r, row, group, &ports);
    bool differ = false;
    if (n < 2 || n > UINT8_MAX)
        return 0;
    uint32_t from = (uint32_t)(ports - r->ports);
    for (uint32_t i = 0; i < n; i++) {
        weights[i] = capacity_by(w, row, ports[i], group);
        differ |= weights[i] != weights[0];
        if (weights[i] == 0)
            return 0;
    }
    if (!differ)
        return 0;
    uint32_t count = entries_of(weights, n);
    add_entries(r, from, weights, n, count);
    uint32_t set = set_of_last(w, count);
    if (set >= ROUTE_MAX_SETS)
        return -1;
    r->next[(size_t)row * r->n_groups + group] = (uint16_t)(ROUTE_SET | set);
    return 0;
}

int routes_weigh(struct routes *r, const struct graph *g, uint32_t dim)
{
    struct weighing w = {.r = r,
                         .g = g,
                         .first_set = r->n_sets,
                         .capacity_bps = memory_zeroed(r->n_switches, sizeof *w.capacity_bps),
                         .into_bps = memory_zeroed(r->n_switches, sizeof *w.into_bps),
                         .known = memory_zeroed(r->n_switches, sizeof *w.known)};
    int failed = 0;
    for (uint32_t group = 0; group < r->n_groups; group++) {
        memset(w.known, 0, r->n_switches * sizeof *w.known);
        memset(w.into_bps, 0, r->n_switches * sizeof *w.into_bps);
        for (uint32_t row = 0; row < r->n_switches; row++)
            if (r->dim[row] == dim) { // capacities first, since weighing changes sets
                capacity_from(&w, row, group);
                rates_into(&w, row, group);
            }
        for (uint32_t row = 0; row < r->n_switches && !failed; row++)
            if (r->dim[row] == dim)
                failed = weigh(&w, row, group);
    }
    free(w.capacity_bps);
    free(w.known);
    free(w.into_bps);
    return failed;
}
