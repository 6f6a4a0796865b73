// SPDX-License-Identifier: MIT
// Which ranks run the network test and which the congestors, and their jobs.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum gpcnet_test { GPCNET_LATENCY, GPCNET_BANDWIDTH, GPCNET_ALLREDUCE, GPCNET_TESTS };
extern const char *const gpcnet_test_names[GPCNET_TESTS]; // as the benchmark prints them

enum { GPCNET_CONGESTORS = 4, GPCNET_LEAST_RANKS = 2 + 2 * GPCNET_CONGESTORS };

// All ranks in a drawn order: first those of the network test, then the congestors in turn.
struct gpcnet_nodes {
    uint32_t *order; // [n]
    uint32_t n, victims;
};

// `n` >= GPCNET_LEAST_RANKS; order is to be freed.
struct gpcnet_nodes gpcnet_nodes_draw(uint32_t n, uint64_t seed);

// Rates of ranks, of the slowest link and of all links of a rank together, and when a run ends at
// the latest: the bandwidth test then has four times as long as it takes alone.
struct gpcnet_span {
    double link_bps, rank_bps;
    uint64_t end_ns;
};
struct gpcnet_span gpcnet_span_of(double link_bps, double rank_bps);

// Bytes that a rank sends in one turn of a test, for its rate; 0 = it is measured by time.
uint64_t gpcnet_test_bytes(enum gpcnet_test test);
// Turns of a test in a run.
size_t gpcnet_test_turns(enum gpcnet_test test);

// The jobs of a test, alone or beside the congestors, which last until the end. New reference.
json_t *gpcnet_jobs(const struct gpcnet_nodes *nodes, enum gpcnet_test test, bool congested,
                    const struct gpcnet_span *span);

#define GPCNET_START_NS 200000 // when tests begin: the congestors are under way
