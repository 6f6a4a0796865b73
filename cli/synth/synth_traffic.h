// SPDX-License-Identifier: MIT
// New lists of flows with the statistics of a list.
//
// Method: the stationary bootstrap (Politis and Romano, JASA 1994). A list is a sequence of flows
// by start, each with the gap to the one before. A new list is made of blocks of it that begin at
// random and have lengths of a geometric distribution, around the list's end. So arrivals, sizes
// and pairs keep their distributions, and what belongs together within a block (bursts, incasts)
// stays together. The mean length is 2 n^(1/3), of the order that minimises the error of a mean's
// variance (Politis and White, 2004).
#pragma once

#include "workload/flows.h"

// Fill to[m], sorted by start, from from[n] (n, m > 0), which is sorted in place. List number
// `replica` has draws of its own.
void traffic_draw(struct raw_flow *from, size_t n, struct raw_flow *to, size_t m, uint64_t seed,
                  uint32_t replica);

void traffic_sort(struct raw_flow *flows, size_t n);

struct traffic_statistics {
    double flows, ranks, span_s, flows_per_s, bytes_per_s;
    double gap_spread; // standard deviation over mean of gaps between starts; 1 = Poisson
    double burst;      // variance over mean of the number of flows in windows of 100 mean gaps
    double size_mean, size_50, size_90, size_99;
    double top_source, top_destination; // share of bytes of the largest
};

// Of flows sorted by start.
struct traffic_statistics traffic_measure(const struct raw_flow *flows, size_t n);
