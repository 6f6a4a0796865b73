// SPDX-License-Identifier: MIT
// A graph of operators, its division among ranks, and what a division costs in closed form.
//
// The cost is the time of the rank with the most to compute, plus the bytes of all edges between
// ranks over the rate of a link: as if nothing overlapped and all messages shared one link. It
// leaves out that operators wait for each other; a run of the written scenario has that.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct operator_node {
    char *name;
    double time_ps, memory_bytes;
};

struct operator_edge {
    uint32_t from, to;
    double bytes;
};

struct operator_graph {
    struct operator_node *nodes;
    struct operator_edge *edges;
    uint32_t n, n_edges;
    double byte_ps;        // time of a byte on a link
    double capacity_bytes; // of a rank's memory; 0 = no limit
};

struct operator_cost {
    double longest_ps, cut_bytes, memory_bytes; // memory: of the fullest rank
    double total_ps; // INFINITY if a rank has no operator or more than its memory holds
};

void operator_graph_free(struct operator_graph *g);

// Edges of each operator by their index, in the order of the list: operator v has edges[first[v]]
// to edges[first[v + 1] - 1].
struct operator_ends {
    uint32_t *first, *edges;
};
struct operator_ends operator_ends(const struct operator_graph *g, bool leaving, bool arriving);
void operator_ends_free(struct operator_ends *ends);

// The operator at the other end of an edge of `v`.
static inline uint32_t operator_other(const struct operator_edge *e, uint32_t v)
{
    return e->from == v ? e->to : e->from;
}

// Fill order[n] with a topological order, in which operators without a dependency between them stay
// as they are listed as far as possible. Returns the number of operators that are in it: fewer than
// n if there is a cycle, which the others are on or behind.
uint32_t operator_order(const struct operator_graph *g, uint32_t *order);

struct operator_cost operator_cost(const struct operator_graph *g, uint32_t parts,
                                   const uint32_t *part);

// Equal numbers of operators in the order given.
void operator_equal(const struct operator_graph *g, const uint32_t *order, uint32_t parts,
                    uint32_t *part);

// Move single operators to the parts of their neighbours, or to the one with the least to compute,
// as long as that lowers the cost.
void operator_improve(const struct operator_graph *g, uint32_t parts, uint32_t *part);

// The division of the least cost among those of METIS under several tolerances of imbalance and the
// equal split, each as it is and improved. Fills part[n]; never costs more than the equal split.
struct operator_cost operator_partition(const struct operator_graph *g, const uint32_t *order,
                                        uint32_t parts, uint32_t *part);
