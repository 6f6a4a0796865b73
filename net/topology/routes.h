// SPDX-License-Identifier: MIT
// Next hops on shortest paths: for every node that has a choice and every destination rank, the set
// of output ports.
#pragma once

#include "net/topology/graph.h"

// A next hop has 16 bits, because a switch reads one per packet: a local port number, ROUTE_SET |
// index of a set of several equal-cost ports, ROUTE_HERE (the group of the rank is attached to this
// switch, by port[rank]), or ROUTE_NONE.
#define ROUTE_SET 0x8000u
#define ROUTE_HERE 0xfffeu
#define ROUTE_NONE 0xffffu
#define ROUTE_MAX_SETS (ROUTE_HERE - ROUTE_SET)
#define ROUTE_NO_ROW UINT32_MAX

struct route_set {
    uint32_t first, count; // range of `ports`
};

// The table has one row for every switch, then one for every rank and dimension in which the rank
// has several ports. Such a rank chooses for its own packets, and in a direct dimension for transit
// packets too. Ranks that are each attached by one link to the same switch form a group. All other
// nodes have the same next hops to all ranks of a group, so the table has one column per group and
// stays small. Every other rank has a column of its own; in a dimension that is not a fabric, ranks
// with the same coordinate share a column, and so do all with one link to a switch of the same
// plane, since no switch leads to two such groups. Aggregators count as ranks here.
struct routes {
    uint32_t n_ranks, n_switches, n_dims;
    uint32_t n_rows;
    uint32_t n_groups; // number of columns: the maximum over the dimensions
    uint32_t longest;  // cost of the longest path between ranks, which is at least its number
                       // of links
    uint8_t *dim;      // [node - n_ranks] dimension of the switch
    uint32_t *row;     // [dim * n_ranks + rank] row of the rank, or ROUTE_NO_ROW
    uint16_t *only;    // [dim * n_ranks + rank] local port of the rank if it has only one
    uint32_t *group;   // [dim * n_ranks + rank] column of the rank
    uint16_t *port;    // [dim * n_ranks + rank] its port at the group's switch
    uint16_t *next;    // [row * n_groups + group]
    struct route_set
        *sets; // all different sets of local port numbers, shared by all rows; never NULL
    uint32_t n_sets;
    uint16_t *ports; // never NULL
    size_t n_ports, cap_ports, cap_sets;
};

// True if a node forwards packets of others in a dimension: switches do, and ranks in direct ones.
bool route_forwards(const struct graph *g, uint32_t node, uint32_t dim);
// The switch at the other end of a rank's only port in a dimension, and the port; GRAPH_NONE = it
// has several ports there, or is not attached to a switch.
uint32_t route_edge(const struct graph *g, uint32_t rank, uint32_t dim, uint32_t *port);

// Compute all paths of least cost within each dimension. Ranks forward only in direct dimensions.
// Returns 0, or -1 if there are more than ROUTE_MAX_SETS different sets of equal-cost ports. The
// caller must call routes_free() in either case.
int routes_build(struct routes *r, const struct graph *g);
void routes_free(struct routes *r);

// Set *ports to the local ports of a row that lead to a rank. Returns their number (0 =
// unreachable).
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

// Set *ports to the local ports of a switch that lead to a rank, which must be in the switch's
// dimension. Returns their number.
static inline uint32_t routes_get(const struct routes *r, uint32_t node, uint32_t rank,
                                  const uint16_t **ports)
{
    return routes_of_row(r, node - r->n_ranks, r->dim[node - r->n_ranks], rank, ports);
}

// Set *ports to the local ports of rank `src` that lead to `dst`, in a dimension that joins both.
// Returns their number.
static inline uint32_t routes_from(const struct routes *r, uint32_t src, uint32_t dst, uint32_t dim,
                                   const uint16_t **ports)
{
    size_t at = (size_t)dim * r->n_ranks + src;
    if (r->row[at] != ROUTE_NO_ROW)
        return routes_of_row(r, r->row[at], dim, dst, ports);
    *ports = &r->only[at];
    return r->only[at] != ROUTE_NONE;
}

// Find a path from rank `src` to `dst` in dimension `dim`, using the first port of each set. Writes
// at most `cap` global indices into g->ports to `ports` and returns the number of hops, 0 if
// unreachable.
#define ROUTE_MAX_HOPS 256 // a packet counts the switches it has crossed in 8 bits
uint32_t route_path(const struct routes *r, const struct graph *g, uint32_t src, uint32_t dst,
                    uint32_t dim, uint32_t *ports, uint32_t cap);
