// SPDX-License-Identifier: MIT
// Builds the routes by a search from every destination. Equal sets of next hops are stored once.
#include "topology/routes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

#define FAR UINT16_MAX

// The fields of a port that a search reads; eight bytes, so that they stay in the cache.
struct way {
    uint32_t neighbour; // node at the other end
    uint8_t dim, cost;
    bool down, back_down; // the link, and that in the other direction
};

struct search {
    const struct graph *g;
    uint16_t *distance; // distance of each node to the destination; FAR = not reached
    struct way *ways;   // [port]
    uint32_t *queue;    // ring of nodes whose neighbours are to be visited
    bool *queued;
    uint32_t *reached; // nodes reached from the destination
    uint32_t n_reached;
    uint32_t *known; // hash table of sets: index + 1; 0 = free
    size_t cap_known;
};

static bool forwards(const struct graph *g, uint32_t node, uint32_t dim)
{
    return node >= g->n_ends || (node < g->n_ranks && g->dim_direct[dim]);
}

static void reach(struct search *s, uint32_t node, uint32_t distance)
{
    if (s->distance[node] == FAR)
        s->reached[s->n_reached++] = node;
    s->distance[node] = (uint16_t)distance;
}

// Compute the distances to `dst` over links of dimension `dim`. If all links have the same cost
// this is a breadth-first search; otherwise a node whose distance shrinks is visited again.
static void search_from(struct search *s, uint32_t dst, uint32_t dim)
{
    const struct graph *g = s->g;
    uint32_t head = 0, waiting = 1;
    for (uint32_t i = 0; i < s->n_reached; i++)
        s->distance[s->reached[i]] = FAR;
    s->n_reached = 0;
    reach(s, dst, 0);
    s->queue[0] = dst;
    while (waiting > 0) {
        uint32_t node = s->queue[head];
        head = head + 1 == g->n_nodes ? 0 : head + 1;
        waiting--;
        s->queued[node] = false;
        if (node != dst && !forwards(g, node, dim))
            continue;
        uint32_t first = g->nodes[node].first_port, end = first + g->nodes[node].n_ports;
        for (uint32_t p = first; p < end; p++) {
            const struct way *way = &s->ways[p];
            uint32_t next = way->neighbour, distance = s->distance[node] + way->cost;
            if (way->dim != dim || s->distance[next] <= distance || way->back_down)
                continue;
            reach(s, next, distance);
            if (s->queued[next])
                continue;
            s->queued[next] = true;
            uint32_t tail = head + waiting++;
            s->queue[tail < g->n_nodes ? tail : tail - g->n_nodes] = next;
        }
    }
}

static size_t hash_ports(const uint16_t *ports, uint32_t count)
{
    uint64_t hash = count;
    for (uint32_t i = 0; i < count; i++)
        hash = (hash ^ ports[i]) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(hash >> 20);
}

static void known_put(struct search *s, const struct routes *r, uint32_t set)
{
    size_t at = hash_ports(r->ports + r->sets[set].first, r->sets[set].count);
    while (s->known[at &= s->cap_known - 1])
        at++;
    s->known[at] = set + 1;
}

static void known_grow(struct search *s, const struct routes *r)
{
    free(s->known);
    s->cap_known = s->cap_known ? 2 * s->cap_known : 1024;
    s->known = memory_zeroed(s->cap_known, sizeof *s->known);
    for (uint32_t i = 0; i < r->n_sets; i++)
        known_put(s, r, i);
}

// Returns the index of the set in the last `count` entries of r->ports. If an equal set exists, its
// index is returned and the entries are removed.
static uint32_t set_index(struct routes *r, struct search *s, uint32_t count)
{
    uint32_t first = (uint32_t)r->n_ports - count;
    if (2 * ((size_t)r->n_sets + 1) > s->cap_known)
        known_grow(s, r);
    size_t at = hash_ports(r->ports + first, count);
    for (uint32_t found; (found = s->known[at &= s->cap_known - 1]) != 0; at++) {
        const struct route_set *set = &r->sets[found - 1];
        if (set->count == count &&
            memcmp(r->ports + set->first, r->ports + first, count * sizeof *r->ports) == 0) {
            r->n_ports = first;
            return found - 1;
        }
    }
    if (r->n_sets == r->cap_sets)
        r->sets = memory_grow(r->sets, &r->cap_sets, sizeof *r->sets);
    r->sets[r->n_sets] = (struct route_set){first, count};
    s->known[at] = r->n_sets + 1;
    return r->n_sets++;
}

// Returns the table entry of `node` for the destination of the search.
static uint16_t next_hop(struct routes *r, struct search *s, uint32_t node, uint32_t dim)
{
    const struct graph *g = s->g;
    const struct graph_node *n = &g->nodes[node];
    uint32_t count = 0;
    for (uint32_t p = n->first_port; p < n->first_port + n->n_ports; p++) {
        const struct way *way = &s->ways[p];
        uint32_t next = way->neighbour;
        if (s->distance[next] + way->cost != s->distance[node] || way->dim != dim ||
            !(s->distance[next] == 0 || forwards(g, next, dim)) || way->down)
            continue;
        if (r->n_ports == r->cap_ports)
            r->ports = memory_grow(r->ports, &r->cap_ports, sizeof *r->ports);
        r->ports[r->n_ports++] = (uint16_t)g->ports[p].local;
        count++;
    }
    if (count == 0)
        return ROUTE_NONE;
    if (count > 1)
        return (uint16_t)(ROUTE_SET | (set_index(r, s, count) & ~ROUTE_SET));
    return r->ports[--r->n_ports];
}

// Returns the switch at the other end of a rank's only port in a dimension, or GRAPH_NONE.
static uint32_t edge_of(const struct routes *r, const struct graph *g, uint32_t rank, uint32_t dim,
                        uint32_t *port)
{
    if (graph_ports_in(g, rank, dim, port) != 1)
        return GRAPH_NONE;
    uint32_t edge = g->ports[g->ports[*port].peer].node;
    return edge >= r->n_ranks ? edge : GRAPH_NONE;
}

// Assign ranks to the columns of a dimension, and select one rank of each column as the destination
// of a search.
static uint32_t make_groups(struct routes *r, const struct graph *g, uint32_t dim, bool *search)
{
    uint32_t *group_at = memory_zeroed(r->n_switches, sizeof *group_at); // group + 1; 0 = none yet
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        uint32_t port = 0, edge = edge_of(r, g, rank, dim, &port);
        size_t at = (size_t)dim * r->n_ranks + rank;
        uint32_t *known = edge == GRAPH_NONE ? NULL : &group_at[edge - r->n_ranks];
        if (known)
            r->port[at] = (uint16_t)g->ports[g->ports[port].peer].local;
        search[at] = !known || *known == 0;
        if (!known && rank >= g->n_ranks) { // an aggregator of another dimension
            search[at] = false;
            continue;
        }
        if (!search[at]) {
            r->group[at] = (uint16_t)(*known - 1);
            continue;
        }
        uint32_t group = known || g->dim_fabric[dim] ? n : graph_coord(g, rank, dim);
        r->group[at] = (uint16_t)group;
        n = group + 1 > n ? group + 1 : n;
        if (known)
            *known = group + 1;
    }
    free(group_at);
    return n;
}

// Assign a row to every rank that has several ports in a dimension.
static void make_rows(struct routes *r, const struct graph *g)
{
    r->n_rows = r->n_switches;
    for (uint32_t dim = 0; dim < r->n_dims; dim++)
        for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
            size_t at = (size_t)dim * r->n_ranks + rank;
            uint32_t first = 0, n = graph_ports_in(g, rank, dim, &first);
            r->row[at] = n > 1 ? r->n_rows++ : ROUTE_NO_ROW;
            r->only[at] = n == 1 ? (uint16_t)g->ports[first].local : ROUTE_NONE;
        }
}

// Fill in one column: the entry of every node of the dimension for a group.
static void routes_to(struct routes *r, struct search *s, uint32_t rank, uint32_t dim)
{
    uint32_t port = 0, edge = edge_of(r, s->g, rank, dim, &port);
    size_t ranks = (size_t)dim * r->n_ranks;
    // Ranks with one link to a switch share the search from that switch, because the last link is
    // the same for all paths.
    search_from(s, edge != GRAPH_NONE ? edge : rank, dim);
    uint32_t last = edge != GRAPH_NONE ? s->g->ports[port].cost : 0;
    for (uint32_t i = 0; i < s->n_reached; i++) {
        uint32_t node = s->reached[i];
        uint32_t row = node >= r->n_ranks ? node - r->n_ranks : r->row[ranks + node];
        if (node < r->n_ranks && s->distance[node] + last > r->longest)
            r->longest = s->distance[node] + last;
        if (row == ROUTE_NO_ROW || node == rank)
            continue;
        r->next[(size_t)row * r->n_groups + r->group[ranks + rank]] =
            node == edge ? ROUTE_HERE : next_hop(r, s, node, dim);
    }
}

/* ---- groups that are alike ---- */

// Groups of ranks that links join directly, one for each combination of the other coordinates.
struct copies {
    const struct graph *g;
    uint32_t dim, stride; // between ranks whose coordinates in the dimension differ by 1
};

static bool same_port(const struct copies *c, uint32_t a, uint32_t b)
{
    const struct graph *g = c->g;
    const struct graph_port *x = &g->ports[a], *y = &g->ports[b];
    uint32_t to_x = g->ports[x->peer].node, to_y = g->ports[y->peer].node;
    return x->local == y->local && x->cost == y->cost && x->down == y->down && to_x < g->n_ranks &&
           to_y < g->n_ranks && graph_coord(g, to_x, c->dim) == graph_coord(g, to_y, c->dim);
}

// Returns true if the group of rank `base`, whose coordinate is 0, has the same ports as that of
// rank 0.
static bool like_the_first(const struct copies *c, uint32_t base)
{
    for (uint32_t k = 0; k < c->g->dim_size[c->dim]; k++) {
        uint32_t a = 0, b = 0, n = graph_ports_in(c->g, k * c->stride, c->dim, &a);
        if (graph_ports_in(c->g, base + k * c->stride, c->dim, &b) != n)
            return false;
        for (uint32_t i = 0; i < n; i++)
            if (!same_port(c, a + i, b + i))
                return false;
    }
    return true;
}

// Copy the rows of the first group to another one; both use the same columns.
static void copy_rows(struct routes *r, const struct copies *c, uint32_t base)
{
    const uint32_t *rows = &r->row[(size_t)c->dim * r->n_ranks];
    for (uint32_t k = 0; k < c->g->dim_size[c->dim]; k++) {
        uint32_t from = rows[k * c->stride], to = rows[base + k * c->stride];
        if (from != ROUTE_NO_ROW)
            memcpy(&r->next[(size_t)to * r->n_groups], &r->next[(size_t)from * r->n_groups],
                   r->n_groups * sizeof *r->next);
    }
}

// Find the groups with the same ports as the first one. Their routes are copied, so no rank of them
// is searched from. Returns [rank], set at the rank of such a group whose coordinate is 0.
static bool *find_copies(const struct copies *c, bool *search)
{
    const struct graph *g = c->g;
    bool *copied = memory_zeroed(g->n_ranks, sizeof *copied);
    for (uint32_t base = 1; base < g->n_ranks; base++) {
        copied[base] = graph_coord(g, base, c->dim) == 0 && like_the_first(c, base);
        for (uint32_t k = 0; copied[base] && k < g->dim_size[c->dim]; k++)
            search[base + k * c->stride] = false;
    }
    return copied;
}

// Fill in all columns of a dimension. `search`: [rank] whether the rank stands for its column.
static void search_dim(struct routes *r, struct search *s, bool *search, uint32_t dim)
{
    const struct graph *g = s->g;
    struct copies c = {.g = g, .dim = dim, .stride = 1};
    for (uint32_t d = 0; d < dim; d++)
        c.stride *= g->dim_size[d];
    bool groups = g->dim_direct[dim] && !g->dim_fabric[dim];
    bool *copied = groups ? find_copies(&c, search) : NULL;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++)
        if (search[rank])
            routes_to(r, s, rank, dim);
    for (uint32_t base = 0; groups && base < g->n_ranks; base++)
        if (copied[base])
            copy_rows(r, &c, base);
    free(copied);
}

static void search_all(struct routes *r, const struct graph *g, bool *search)
{
    struct search s = {.g = g,
                       .distance = memory_zeroed(g->n_nodes, sizeof *s.distance),
                       .ways = memory_zeroed(g->n_ports, sizeof *s.ways),
                       .queue = memory_zeroed(g->n_nodes, sizeof *s.queue),
                       .queued = memory_zeroed(g->n_nodes, sizeof *s.queued),
                       .reached = memory_zeroed(g->n_nodes, sizeof *s.reached)};
    memset(s.distance, 0xff, g->n_nodes * sizeof *s.distance);
    for (uint32_t p = 0; p < g->n_ports; p++) {
        const struct graph_port *port = &g->ports[p], *peer = &g->ports[port->peer];
        s.ways[p] = (struct way){peer->node, port->dim, port->cost, port->down, peer->down};
    }
    for (uint32_t dim = 0; dim < g->n_dims; dim++)
        search_dim(r, &s, search + (size_t)dim * r->n_ranks, dim);
    free(s.distance);
    free(s.ways);
    free(s.queue);
    free(s.queued);
    free(s.reached);
    free(s.known);
}

int routes_build(struct routes *r, const struct graph *g)
{
    *r = (struct routes){
        .n_ranks = g->n_ends, .n_switches = g->n_nodes - g->n_ends, .n_dims = g->n_dims};
    size_t cells = (size_t)g->n_dims * r->n_ranks;
    r->dim = memory_zeroed(r->n_switches, sizeof *r->dim);
    for (uint32_t i = 0; i < r->n_switches; i++)
        r->dim[i] = g->nodes[r->n_ranks + i].dim;
    r->row = memory_zeroed(cells, sizeof *r->row);
    r->only = memory_zeroed(cells, sizeof *r->only);
    r->group = memory_zeroed(cells, sizeof *r->group);
    r->port = memory_zeroed(cells, sizeof *r->port);
    make_rows(r, g);
    bool *search = memory_zeroed(cells, sizeof *search);
    for (uint32_t dim = 0; dim < g->n_dims; dim++) {
        uint32_t n = make_groups(r, g, dim, search);
        r->n_groups = n > r->n_groups ? n : r->n_groups;
    }
    size_t entries = (size_t)r->n_rows * r->n_groups;
    r->next = memory_zeroed(entries, sizeof *r->next);
    memset(r->next, 0xff, entries * sizeof *r->next);
    search_all(r, g, search);
    free(search);
    if (!r->sets) // readers may prefetch before they know whether there is a choice
        r->sets = memory_zeroed(1, sizeof *r->sets);
    if (!r->ports)
        r->ports = memory_zeroed(1, sizeof *r->ports);
    return r->n_sets <= ROUTE_MAX_SETS ? 0 : -1;
}

void routes_free(struct routes *r)
{
    free(r->next);
    free(r->dim);
    free(r->row);
    free(r->only);
    free(r->group);
    free(r->port);
    free(r->sets);
    free(r->ports);
    *r = (struct routes){0};
}

uint32_t route_path(const struct routes *r, const struct graph *g, uint32_t src, uint32_t dst,
                    uint32_t dim, uint32_t *ports, uint32_t cap)
{
    uint32_t node = src, n = 0;
    if (!graph_dim_joins(g, src, dst, dim))
        return 0;
    while (node != dst) {
        const uint16_t *next;
        uint32_t choices = node < r->n_ranks ? routes_from(r, node, dst, dim, &next)
                                             : routes_get(r, node, dst, &next);
        bool sends = node == src || forwards(g, node, dim);
        if (choices == 0 || n == cap || !sends)
            return 0;
        ports[n] = g->nodes[node].first_port + next[0];
        node = g->ports[g->ports[ports[n++]].peer].node;
    }
    return n;
}
