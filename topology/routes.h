// SPDX-License-Identifier: MIT
// Shortest-path next hops: for every node that has a choice, and every destination rank, the set of
// output ports.
#pragma once

#include "topology/graph.h"

// A next hop in 16 bits, since a switch reads one per packet: a local port number, or ROUTE_SET | index
// of a set of several equal ones, or ROUTE_HERE: the rank's group hangs on this switch, by port[rank],
// or ROUTE_NONE.
#define ROUTE_SET 0x8000u
#define ROUTE_HERE 0xfffeu
#define ROUTE_NONE 0xffffu
#define ROUTE_MAX_SETS (ROUTE_HERE - ROUTE_SET)
#define ROUTE_NO_ROW UINT32_MAX

struct route_set {
    uint32_t first, count; // of `ports`
};

// The table has a row for every switch, then one for every rank and dimension where the rank has
// several ports: there it chooses for its own packets, and in a direct dimension for others' too.
// Ranks that hang on the same switch of a dimension, each by one link, are a group: everywhere else
// they are reached alike, so a table has a column a group and stays small. Other ranks are alone;
// where the dimension is no fabric, those of different groups of ranks share the column of their
// coordinate.
struct routes {
    uint32_t n_ranks, n_switches, n_dims;
    uint32_t n_rows;
    uint32_t n_groups;      // columns: the most of any dimension
    uint32_t longest;       // cost of the longest path between ranks: no fewer than its links
    uint8_t *dim;           // [node - n_ranks]
    uint32_t *row;          // [dim * n_ranks + rank]: the rank's, or ROUTE_NO_ROW
    uint16_t *only;         // [dim * n_ranks + rank]: its local port where it has only one
    uint16_t *group, *port; // [dim * n_ranks + rank]: its column; its port at the group's switch
    uint16_t *next;         // [row * n_groups + group]
    struct route_set
        *sets; // each different set of local port numbers once, over all rows; not NULL
    uint32_t n_sets;
    uint16_t *ports; // not NULL
    size_t n_ports, cap_ports, cap_sets;
};

// All paths of least cost within each dimension; ranks forward in direct dimensions only. 0, or -1
// where there are more than ROUTE_MAX_SETS different sets of equal paths (then free it all the
// same).
int routes_build(struct routes *r, const struct graph *g);
void routes_free(struct routes *r);

// The local ports that a row has for a rank; how many (0 = unreachable).
static inline uint32_t routes_of_row(const struct routes *r, uint32_t row, uint32_t dim,
                                     uint32_t rank, const uint16_t **ports)
{
    size_t at = (size_t)dim * r->n_ranks + rank;
    const uint16_t *next = &r->next[(size_t)row * r->n_groups + r->group[at]];
    if (*next == ROUTE_HERE)
        next = &r->port[at];
    *ports = next;
    if (!(*next & ROUTE_SET))
        return 1;
    if (*next == ROUTE_NONE)
        return 0;
    const struct route_set *set = &r->sets[*next & ~ROUTE_SET];
    *ports = r->ports + set->first;
    return set->count;
}

// The local ports of a switch towards a rank that its dimension joins with it.
static inline uint32_t routes_get(const struct routes *r, uint32_t node, uint32_t rank,
                                  const uint16_t **ports)
{
    return routes_of_row(r, node - r->n_ranks, r->dim[node - r->n_ranks], rank, ports);
}

// The local ports of rank `src` towards rank `dst` in a dimension that joins them.
static inline uint32_t routes_from(const struct routes *r, uint32_t src, uint32_t dst, uint32_t dim,
                                   const uint16_t **ports)
{
    size_t at = (size_t)dim * r->n_ranks + src;
    if (r->row[at] != ROUTE_NO_ROW)
        return routes_of_row(r, r->row[at], dim, dst, ports);
    *ports = &r->only[at];
    return r->only[at] != ROUTE_NONE;
}

// The ports of a path from rank `src` to `dst` in dimension `dim` (the first of each set), global
// indices into g->ports, at most `cap`. The number of hops, 0 when unreachable.
#define ROUTE_MAX_HOPS 256 // a packet counts the switches it has crossed in 8 bits
uint32_t route_path(const struct routes *r, const struct graph *g, uint32_t src, uint32_t dst,
                    uint32_t dim, uint32_t *ports, uint32_t cap);
