// SPDX-License-Identifier: MIT
// The same bytes of metrics.json and of the series, whatever the number of threads and of tiles, on
// random scenarios.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/metrics.h"
#include "sim/parallel/parallel.h"
#include "tests/support/random.h"

#define SCENARIOS 160

struct outcome {
    char *metrics;
    bool divided;
    struct partition_counts counts;
};

static void make(struct fixture *f, uint64_t seed)
{
    if (seed % 3 == 0)
        random_bounds(f, seed);
    else
        random_any(f, seed);
}

static struct outcome run(uint64_t seed, uint32_t threads, uint32_t tiles)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    make(f, seed);
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    sim_set_threads(f->sim, threads);
    f->sim->parallel.tiles = tiles;
    f->sim->parallel.always_together = seed % 4 != 0;
    sim_run(f->sim, NULL);
    struct result *r = f->result = sim_result(f->sim);
    struct outcome o = {.metrics = metrics_json(r, "{}"),
                        .divided = f->sim->fabric.partition != NULL};
    if (o.divided)
        o.counts = f->sim->fabric.partition->counts;
    fixture_free(f);
    free(f);
    return o;
}

// Shows where the metrics begin to differ.
static void report(uint64_t seed, uint32_t threads, uint32_t tiles, const char *one,
                   const char *more)
{
    size_t at = 0, line = 0;
    for (; one[at] == more[at]; at++)
        line = one[at] == '\n' ? at : line;
    print_error("seed %llu, %u threads, %u tiles each:\n%.300s\n...%.300s\n",
                (unsigned long long)seed, threads, tiles, one + line, more + line);
}

static uint64_t scenarios(void)
{
    const char *n = getenv("COLLWIRE_RANDOM"), *sanitized = getenv("COLLWIRE_SANITIZED");
    if (n)
        return strtoull(n, NULL, 10);
    return sanitized && strcmp(sanitized, "ON") == 0 ? SCENARIOS / 4 : SCENARIOS;
}

static void test_same_bytes(void **state)
{
    static const uint32_t threads[] = {2, 1, 3, 1, 4, 2, 7}, tiles[] = {1, 2, 1, 5, 3};
    unsigned differ = 0;
    uint64_t n = scenarios(), divided = 0, windows = 0, alone = 0;
    (void)state;
    const char *only = getenv("COLLWIRE_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    for (uint64_t seed = first; seed < first + n; seed++) {
        if (only)
            fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        uint32_t n_threads = threads[seed / 3 % 7], n_tiles = tiles[seed / 3 % 5];
        n_tiles += n_threads == 1;
        struct outcome one = run(seed, 1, 1), more = run(seed, n_threads, n_tiles);
        if (strcmp(one.metrics, more.metrics) != 0)
            report(seed, n_threads, n_tiles, one.metrics, more.metrics);
        differ += strcmp(one.metrics, more.metrics) != 0;
        divided += more.divided;
        windows += more.counts.windows;
        alone += more.counts.alone;
        free(one.metrics);
        free(more.metrics);
    }
    print_message("%llu of %llu divided, %llu windows, %llu on one thread\n",
                  (unsigned long long)divided, (unsigned long long)n, (unsigned long long)windows,
                  (unsigned long long)alone);
    assert_int_equal(differ, 0);
    assert_true(divided > n / 3);
    assert_true(alone < windows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
