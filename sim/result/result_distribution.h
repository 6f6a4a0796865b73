// SPDX-License-Identifier: MIT
// The distribution of a positive quantity over any number of samples in bounded memory: exact up to
// a limit, then in bins of relative width 0.001. Minimum, mean and maximum are always exact.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sim/result/result.h"

struct distribution {
    size_t limit; // number of samples kept exactly
    uint64_t n;
    double sum, min, max;
    double *samples; // while n <= limit
    size_t cap;
    uint64_t *bins; // beyond the limit
};

void distribution_add(struct distribution *d, double value); // value > 0
// Nearest-rank percentiles; with bins they are accurate within 0.1 %.
struct stats distribution_stats(struct distribution *d);
size_t distribution_bins_bytes(void); // memory of one with bins

// What is above the limit as a histogram with fixed edges, 32 for each power of two: the bins that
// are not empty, in ascending order. Empty while the samples are kept exactly.
struct histogram distribution_histogram(const struct distribution *d);
void distribution_free(struct distribution *d);
