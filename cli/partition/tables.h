// SPDX-License-Identifier: MIT
// Embedding tables of a recommendation model, placed on ranks by what they cost.
//
// A pass looks rows up, which takes the rank with the most of them the longest, and then sends the
// pooled vectors, which takes the rank with the widest tables the longest. The cost is the sum of
// the two: all ranks begin to send when they have looked up, and wait for all that they receive
// (workload/training/dlrm.h has the bytes and times).
#pragma once

#include <stdint.h>

struct table_load {
    double lookups, vectors; // of a sample: elements that are looked up, and that are sent
    double memory_bytes;
};

struct table_set {
    const struct table_load *tables;
    uint32_t n;
    double lookup_ps, vector_ps; // of an element
    double capacity_bytes;       // of a rank; 0 = no limit
};

// INFINITY if a rank has more than its memory holds.
double tables_cost(const struct table_set *s, uint32_t ranks, const uint32_t *rank);

// Equal numbers of tables, in their order.
void tables_equal(uint32_t n, uint32_t ranks, uint32_t *rank);

// Place the tables on the ranks. Two placements are tried: the tables in descending order of their
// time, each on the rank where it raises the cost least (Graham, SIAM J. Appl. Math. 17, 1969),
// and equal numbers of tables. In both, tables of the ranks that take longest are then moved to
// other ranks, or exchanged with tables there, as long as that lowers the cost; the better one is
// kept. Returns the cost, never above that of equal numbers.
double tables_place(const struct table_set *s, uint32_t ranks, uint32_t *rank);
