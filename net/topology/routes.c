// SPDX-License-Identifier: MIT
// Builds the routes by a search from every destination. Equal sets of next hops are stored once.
#include "net/topology/routes.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/topology/route_search.h"

// The destinations of a search, and the sets that are known.
struct search {
    struct routes *r;
    const struct graph *g;
    struct route_search *paths;
    uint32_t *known; // hash table of sets: index + 1; 0 = free
    size_t cap_known;
    /* the destinations, by their bits */
    uint32_t dim, n;
    uint32_t ranks[ROUTE_SEARCH_WIDTH]; // that stand for their columns
    uint32_t
        starts[ROUTE_SEARCH_WIDTH]; // the switch of such a rank if one link leads to it, or itself
    uint32_t last[ROUTE_SEARCH_WIDTH]; // cost from there to the rank
    uint32_t most_last;
};

bool route_forwards(const struct graph *g, uint32_t node, uint32_t dim)
{
    return node >= g->n_ends || (node < g->n_ranks && g->dim_direct[dim]);
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

// Returns the table entry for the last `count` entries of r->ports, which are a set of next hops.
static uint16_t next_hop(struct routes *r, struct search *s, uint32_t count)
{
    if (count == 0)
        return ROUTE_NONE;
    if (count > 1)
        return (uint16_t)(ROUTE_SET | (set_index(r, s, count) & ~ROUTE_SET));
    return r->ports[--r->n_ports];
}

uint32_t route_edge(const struct graph *g, uint32_t rank, uint32_t dim, uint32_t *port)
{
    if (graph_ports_in(g, rank, dim, port) != 1)
        return GRAPH_NONE;
    uint32_t edge = g->ports[g->ports[*port].peer].node;
    return edge >= g->n_ends ? edge : GRAPH_NONE;
}

// Assign ranks to the columns of a dimension, and select one rank of each column as the destination
// of a search.
static uint32_t make_groups(struct routes *r, const struct graph *g, uint32_t dim, bool *search)
{
    uint32_t *group_at = memory_zeroed(r->n_switches, sizeof *group_at); // group + 1; 0 = none yet
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        uint32_t port = 0, edge = route_edge(g, rank, dim, &port);
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
            r->group[at] = *known - 1;
            continue;
        }
        uint32_t group = g->dim_fabric[dim] ? n
                         : known            ? g->dim_size[dim] + g->nodes[edge].plane
                                            : graph_coord(g, rank, dim);
        r->group[at] = group;
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

static uint32_t lowest_bit(uint64_t bits) { return (uint32_t)__builtin_ctzll(bits); }

// Append the ports that lead to destination `bit`. Returns the destinations among `of` to which the
// same ports lead.
static uint64_t put_ports(struct routes *r, const struct route_settled *at, uint32_t bit,
                          uint64_t of, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < at->n_hops; i++) {
        const struct route_hop *hop = &at->hops[i];
        bool leads = hop->destinations >> bit & 1;
        of &= leads ? hop->destinations : ~hop->destinations;
        if (!leads)
            continue;
        if (r->n_ports == r->cap_ports)
            r->ports = memory_grow(r->ports, &r->cap_ports, sizeof *r->ports);
        r->ports[r->n_ports++] = hop->port;
        (*count)++;
    }
    return of;
}

// Note the longest path from a rank to the destinations.
static void note_longest(const struct search *s, const struct route_settled *at)
{
    struct routes *r = s->r;
    if (at->distance + s->most_last <= r->longest)
        return;
    for (uint64_t rest = at->settled; rest != 0; rest &= rest - 1) {
        uint32_t all = at->distance + s->last[lowest_bit(rest)];
        r->longest = all > r->longest ? all : r->longest;
    }
}

// Fill in the entries of a node for the destinations at a distance.
static void node_settled(void *ctx, const struct route_settled *at)
{
    struct search *s = ctx;
    struct routes *r = s->r;
    size_t ranks = (size_t)s->dim * r->n_ranks;
    if (at->node < r->n_ranks)
        note_longest(s, at);
    uint32_t row = at->node >= r->n_ranks ? at->node - r->n_ranks : r->row[ranks + at->node];
    if (row == ROUTE_NO_ROW)
        return;
    uint16_t *next = &r->next[(size_t)row * r->n_groups];
    for (uint64_t rest = at->settled, alike; rest != 0; rest &= ~alike) {
        uint32_t bit = lowest_bit(rest), count = 0;
        alike = (uint64_t)1 << bit;
        if (at->distance == 0 && s->ranks[bit] == at->node)
            continue; // the rank itself
        uint16_t entry = ROUTE_HERE;
        if (at->distance > 0) {
            alike = put_ports(r, at, bit, rest, &count);
            entry = next_hop(r, s, count);
        }
        for (uint64_t same = alike; same != 0; same &= same - 1)
            next[r->group[ranks + s->ranks[lowest_bit(same)]]] = entry;
    }
}

// Fill in the columns of the ranks that have been noted.
static void search_noted(struct search *s)
{
    if (s->n > 0)
        route_search_to(s->paths, s->starts, s->n, s->dim, node_settled, s);
    s->n = s->most_last = 0;
}

// Note a rank that stands for its column. Ranks with one link to a switch share the search from
// that switch, because the last link is the same for all paths.
static void note_rank(struct search *s, uint32_t rank)
{
    uint32_t port = 0, edge = route_edge(s->g, rank, s->dim, &port), at = s->n++;
    s->ranks[at] = rank;
    s->starts[at] = edge != GRAPH_NONE ? edge : rank;
    s->last[at] = edge != GRAPH_NONE ? s->g->ports[port].cost : 0;
    s->most_last = s->last[at] > s->most_last ? s->last[at] : s->most_last;
    if (s->n == ROUTE_SEARCH_WIDTH)
        search_noted(s);
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
    s->dim = dim;
    for (uint32_t rank = 0; rank < r->n_ranks; rank++)
        if (search[rank])
            note_rank(s, rank);
    search_noted(s);
    for (uint32_t base = 0; groups && base < g->n_ranks; base++)
        if (copied[base])
            copy_rows(r, &c, base);
    free(copied);
}

static void search_all(struct routes *r, const struct graph *g, bool *search)
{
    struct search s = {.r = r, .g = g, .paths = route_search_new(g, route_forwards)};
    for (uint32_t dim = 0; dim < g->n_dims; dim++)
        search_dim(r, &s, search + (size_t)dim * r->n_ranks, dim);
    route_search_free(s.paths);
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
        bool sends = node == src || route_forwards(g, node, dim);
        if (choices == 0 || n == cap || !sends)
            return 0;
        ports[n] = g->nodes[node].first_port + next[0];
        node = g->ports[g->ports[ports[n++]].peer].node;
    }
    return n;
}
