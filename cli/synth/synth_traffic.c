// SPDX-License-Identifier: MIT
#include "cli/synth/synth_traffic.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

static int compare_flows(const void *a, const void *b)
{
    const struct raw_flow *x = a, *y = b;
    if (x->start_ps != y->start_ps)
        return x->start_ps > y->start_ps ? 1 : -1;
    if (x->src != y->src)
        return x->src > y->src ? 1 : -1;
    if (x->dst != y->dst)
        return x->dst > y->dst ? 1 : -1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

void traffic_sort(struct raw_flow *flows, size_t n)
{
    if (n > 0)
        qsort(flows, n, sizeof *flows, compare_flows);
}

// The gap before flow i; before the first one the mean of the others.
static ps_t gap_before(const struct raw_flow *flows, size_t n, size_t i)
{
    if (i > 0)
        return flows[i].start_ps - flows[i - 1].start_ps;
    return n > 1 ? (flows[n - 1].start_ps - flows[0].start_ps) / (ps_t)(n - 1) : 0;
}

void traffic_draw(struct raw_flow *from, size_t n, struct raw_flow *to, size_t m, uint64_t seed,
                  uint32_t replica)
{
    struct rng rng = rng_init(seed, RNG_SYNTH, replica);
    double new_block = 1 / fmax(1, 2 * cbrt((double)n));
    ps_t now = 0;
    size_t at = 0;
    traffic_sort(from, n);
    for (size_t k = 0; k < m; k++) {
        bool begins = k == 0 || rng_unit(&rng) < new_block;
        at = begins ? (size_t)rng_below(&rng, n) : (at + 1) % n;
        now += k == 0 ? 0 : gap_before(from, n, at);
        to[k] = from[at];
        to[k].start_ps = now;
    }
}

/* ---- statistics ---- */

static int compare_sizes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void measure_sizes(struct traffic_statistics *s, const struct raw_flow *flows, size_t n)
{
    uint64_t *size = memory_zeroed(n, sizeof *size);
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)(size[i] = flows[i].bytes);
    qsort(size, n, sizeof *size, compare_sizes);
    s->size_mean = sum / (double)n;
    size_t at[] = {n / 2, n * 9 / 10, n * 99 / 100};
    s->size_50 = (double)size[at[0]];
    s->size_90 = (double)size[at[1]];
    s->size_99 = (double)size[at[2]];
    free(size);
}

static double share_of_largest(const double *bytes, size_t n)
{
    double sum = 0, most = 0;
    for (size_t r = 0; r < n; r++) {
        sum += bytes[r];
        most = fmax(most, bytes[r]);
    }
    return sum > 0 ? most / sum : 0;
}

static void measure_ranks(struct traffic_statistics *s, const struct raw_flow *flows, size_t n)
{
    uint32_t ranks = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t larger = flows[i].src > flows[i].dst ? flows[i].src : flows[i].dst;
        ranks = larger >= ranks ? larger + 1 : ranks;
    }
    double *sent = memory_zeroed(ranks, sizeof *sent), *got = memory_zeroed(ranks, sizeof *got);
    for (size_t i = 0; i < n; i++) {
        sent[flows[i].src] += (double)flows[i].bytes;
        got[flows[i].dst] += (double)flows[i].bytes;
    }
    s->ranks = ranks;
    s->top_source = share_of_largest(sent, ranks);
    s->top_destination = share_of_largest(got, ranks);
    free(sent);
    free(got);
}

static double variance_over(double sum, double squares, double n, double power)
{
    double mean = sum / n, variance = fmax(0, squares / n - mean * mean);
    return mean > 0 ? variance / pow(mean, power) : 0;
}

static void measure_arrivals(struct traffic_statistics *s, const struct raw_flow *flows, size_t n)
{
    double squares = 0, span_ps = (double)(flows[n - 1].start_ps - flows[0].start_ps);
    for (size_t i = 1; i < n; i++)
        squares += pow((double)gap_before(flows, n, i), 2);
    s->span_s = span_ps / 1e12;
    if (n < 2 || span_ps <= 0)
        return;
    double gaps = (double)(n - 1), window = 100 * span_ps / gaps, in = 0, sum = 0, sum_squares = 0;
    size_t windows = (size_t)fmax(1, span_ps / window);
    s->gap_spread = sqrt(variance_over(span_ps, squares, gaps, 2));
    for (size_t w = 0, i = 0; w < windows; w++, in = 0) {
        double end = (double)(w + 1) * window;
        for (; i < n && (double)(flows[i].start_ps - flows[0].start_ps) < end; i++)
            in++;
        sum += in;
        sum_squares += in * in;
    }
    s->burst = variance_over(sum, sum_squares, (double)windows, 1);
    s->flows_per_s = gaps / s->span_s;
    s->bytes_per_s = s->flows_per_s * s->size_mean;
}

struct traffic_statistics traffic_measure(const struct raw_flow *flows, size_t n)
{
    struct traffic_statistics s = {.flows = (double)n};
    measure_sizes(&s, flows, n);
    measure_ranks(&s, flows, n);
    measure_arrivals(&s, flows, n);
    return s;
}
