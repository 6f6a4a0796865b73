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

#include "engine/text.h"
#include "report/metrics.h"
#include "sim/parallel/parallel.h"
#include "tests/support/random.h"

#define SCENARIOS 160

struct outcome {
    char *metrics, *timeline; // NULL = the scenario has no timeline
    bool divided;
    struct partition_counts counts;
};

#define ANY (-1) // no particular feature

static void make(struct fixture *f, uint64_t seed, int feature)
{
    if (feature != ANY)
        random_feature(f, seed, (enum random_feature)feature);
    else if (seed % 3 == 0)
        random_bounds(f, seed);
    else
        random_any(f, seed);
}

// The text of a timeline; NULL = none is recorded.
static char *timeline_of(const struct result *r)
{
    struct text text;
    FILE *out = text_open(&text);
    bool any = timeline_json(out, r);
    char *all = text_close(out, &text);
    if (any)
        return all;
    free(all);
    return NULL;
}

static struct outcome run(uint64_t seed, int feature, uint32_t threads, uint32_t tiles)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    make(f, seed, feature);
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    sim_set_threads(f->sim, threads);
    f->sim->parallel.tiles = tiles;
    f->sim->parallel.always_together = seed % 4 != 0;
    sim_run(f->sim, NULL);
    struct result *r = f->result = sim_result(f->sim);
    struct outcome o = {.metrics = metrics_json(r, "{}"),
                        .timeline = timeline_of(r),
                        .divided = f->sim->fabric.partition != NULL};
    if (o.divided)
        o.counts = f->sim->fabric.partition->counts;
    fixture_free(f);
    free(f);
    return o;
}

// Shows where two texts begin to differ. Returns true if they do.
static bool differ(const char *what, const char *one, const char *more)
{
    size_t at = 0, line = 0;
    if ((one == NULL) != (more == NULL) || one == NULL || strcmp(one, more) == 0)
        return (one == NULL) != (more == NULL);
    for (; one[at] == more[at]; at++)
        line = one[at] == '\n' ? at : line;
    line = at - line > 200 ? at - 100 : line;
    print_error("%s:\n%.300s\n...%.300s\n", what, one + line, more + line);
    return true;
}

static uint64_t scenarios(void)
{
    const char *n = getenv("COLLWIRE_RANDOM"), *sanitized = getenv("COLLWIRE_SANITIZED");
    if (n)
        return strtoull(n, NULL, 10);
    return sanitized && strcmp(sanitized, "ON") == 0 ? SCENARIOS / 4 : SCENARIOS;
}

struct sums {
    uint64_t n, divided, windows, alone;
    unsigned differ;
};

// Run a scenario on one thread and divided.
static void compare(uint64_t seed, int feature, struct sums *sums)
{
    static const uint32_t threads[] = {2, 1, 3, 1, 4, 2, 7}, tiles[] = {1, 2, 1, 5, 3};
    uint32_t n_threads = threads[seed / 3 % 7], n_tiles = tiles[seed / 3 % 5];
    n_tiles += n_threads == 1;
    struct outcome one = run(seed, feature, 1, 1), more = run(seed, feature, n_threads, n_tiles);
    bool differs = differ("metrics", one.metrics, more.metrics);
    differs |= differ("timeline", one.timeline, more.timeline);
    if (differs)
        print_error("seed %llu, feature %d, %u threads, %u tiles each\n", (unsigned long long)seed,
                    feature, n_threads, n_tiles);
    sums->n++;
    sums->differ += differs;
    sums->divided += more.divided;
    sums->windows += more.counts.windows;
    sums->alone += more.counts.alone;
    free(one.metrics);
    free(one.timeline);
    free(more.metrics);
    free(more.timeline);
}

// Compare `n` scenarios from COLLWIRE_SEED on.
static void compare_all(int feature, uint64_t n)
{
    const char *only = getenv("COLLWIRE_SEED");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    struct sums sums = {0};
    for (uint64_t seed = first; seed < first + n; seed++) {
        if (only)
            print_error("seed %llu\n", (unsigned long long)seed);
        compare(seed, feature, &sums);
    }
    print_message("%llu of %llu divided, %llu windows, %llu on one thread\n",
                  (unsigned long long)sums.divided, (unsigned long long)sums.n,
                  (unsigned long long)sums.windows, (unsigned long long)sums.alone);
    assert_int_equal(sums.differ, 0);
    assert_true(sums.divided > n / 3);
    assert_true(sums.alone < sums.windows);
}

static void test_same_bytes(void **state)
{
    (void)state;
    compare_all(ANY, scenarios());
}

// A quarter of the scenarios for each feature.
static void test_features(void **state)
{
    static const enum random_feature all[] = {
        FEATURE_LINK_RETRY, FEATURE_TIMELINE,  FEATURE_CIRCUITS, FEATURE_NICS,
        FEATURE_CREDITS,    FEATURE_ADMISSION, FEATURE_HOSTS};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        compare_all((int)all[i], scenarios() / 4 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes),
                                       cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
