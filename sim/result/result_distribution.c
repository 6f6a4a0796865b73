// SPDX-License-Identifier: MIT
// Keeps samples, and beyond the limit a histogram whose bins are 10 bits of mantissa for each power
// of two.
#include "sim/result/result_distribution.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define MANTISSA_BITS 10
// biased: 2^-63; values outside the range are counted in the first or last bin
#define EXPONENT_MIN 960
#define EXPONENTS 128
#define BINS ((size_t)EXPONENTS << MANTISSA_BITS)

// The upper bits of an IEEE double; they order positive values.
static size_t bin_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint64_t at = bits >> (52 - MANTISSA_BITS), low = (uint64_t)EXPONENT_MIN << MANTISSA_BITS;
    if (at < low)
        return 0;
    return at - low < BINS ? (size_t)(at - low) : BINS - 1;
}

// The middle of a bin.
static double bin_value(size_t bin)
{
    uint64_t at = ((uint64_t)EXPONENT_MIN << MANTISSA_BITS) + bin;
    uint64_t bits = at << (52 - MANTISSA_BITS) | UINT64_C(1) << (51 - MANTISSA_BITS);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void to_bins(struct distribution *d)
{
    d->bins = memory_zeroed(BINS, sizeof *d->bins);
    for (uint64_t i = 0; i < d->n; i++)
        d->bins[bin_of(d->samples[i])]++;
    free(d->samples);
    d->samples = NULL;
    d->cap = 0;
}

void distribution_add(struct distribution *d, double value)
{
    if (!d->bins && d->n == d->limit)
        to_bins(d);
    if (d->bins) {
        d->bins[bin_of(value)]++;
    } else {
        if (d->n == d->cap)
            d->samples = memory_grow(d->samples, &d->cap, sizeof *d->samples);
        d->samples[d->n] = value;
    }
    d->min = d->n == 0 || value < d->min ? value : d->min;
    d->max = d->n == 0 || value > d->max ? value : d->max;
    d->sum += value;
    d->n++;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nearest rank, in integers.
static double percentile(const struct distribution *d, unsigned percent)
{
    uint64_t rank = (d->n * percent + 99) / 100, seen = 0; // 1..n
    if (!d->bins)
        return d->samples[rank - 1];
    for (size_t bin = 0; bin < BINS; bin++) {
        seen += d->bins[bin];
        if (seen < rank)
            continue;
        double value = bin_value(bin);
        // The middle of the first or last bin may be beyond the samples.
        return value < d->min ? d->min : value > d->max ? d->max : value;
    }
    return d->max;
}

struct stats distribution_stats(struct distribution *d)
{
    if (d->n == 0)
        return (struct stats){0};
    if (!d->bins)
        qsort(d->samples, d->n, sizeof *d->samples, by_value);
    return (struct stats){.min = d->min,
                          .mean = d->sum / (double)d->n,
                          .p50 = percentile(d, 50),
                          .p95 = percentile(d, 95),
                          .p99 = percentile(d, 99),
                          .max = d->max};
}

#define MERGED_BITS (MANTISSA_BITS - 5) // 32 bins of a histogram for each power of two

// The upper edge of a bin of a histogram.
static double edge_of(size_t merged)
{
    uint64_t at = ((uint64_t)EXPONENT_MIN << MANTISSA_BITS) + ((merged + 1) << MERGED_BITS);
    uint64_t bits = at << (52 - MANTISSA_BITS);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

struct histogram distribution_histogram(const struct distribution *d)
{
    struct histogram h = {0};
    size_t cap = 0;
    for (size_t merged = 0; d->bins && merged < BINS >> MERGED_BITS; merged++) {
        uint64_t count = 0;
        for (size_t i = 0; i < (size_t)1 << MERGED_BITS; i++)
            count += d->bins[(merged << MERGED_BITS) + i];
        if (count == 0)
            continue;
        if (h.n == cap)
            h.bins = memory_grow(h.bins, &cap, sizeof *h.bins);
        h.bins[h.n++] = (struct histogram_bin){edge_of(merged), count};
    }
    return h;
}

size_t distribution_bins_bytes(void) { return BINS * sizeof(uint64_t); }

void distribution_free(struct distribution *d)
{
    free(d->samples);
    free(d->bins);
    *d = (struct distribution){0};
}
