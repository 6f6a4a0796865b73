// SPDX-License-Identifier: MIT
// The same bytes of metrics.json and of the series, whatever the number of threads and of tiles, on
// random scenarios.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/parallel/parallel.h"
#include "tests/support/same_bytes.h"

#define SCENARIOS 160

struct threaded {
    struct outcome outcome;
    bool divided;
    struct shards_counts counts;
};

static struct threaded run(uint64_t seed, int feature, uint32_t threads, uint32_t tiles)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    same_bytes_scenario(f, seed, feature);
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    sim_set_threads(f->sim, threads);
    f->sim->parallel.tiles = tiles;
    f->sim->parallel.always_together = seed % 4 != 0;
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
    struct threaded t = {.outcome = outcome_of(f->result),
                         .divided = f->sim->fabric.shards != NULL};
    if (t.divided)
        t.counts = f->sim->fabric.shards->counts;
    fixture_free(f);
    free(f);
    return t;
}

struct sums {
    uint64_t n, divided, windows, alone;
    unsigned differ;
};

// Run a scenario on one thread and divided.
static void compare(uint64_t seed, int feature, void *ctx)
{
    struct sums *sums = ctx;
    static const uint32_t threads[] = {2, 1, 3, 1, 4, 2, 7}, tiles[] = {1, 2, 1, 5, 3};
    uint32_t n_threads = threads[seed / 3 % 7], n_tiles = tiles[seed / 3 % 5];
    n_tiles += n_threads == 1;
    struct threaded one = run(seed, feature, 1, 1), more = run(seed, feature, n_threads, n_tiles);
    bool differs = outcomes_differ(&one.outcome, &more.outcome);
    if (differs)
        print_error("seed %llu, feature %d, %u threads, %u tiles each\n", (unsigned long long)seed,
                    feature, n_threads, n_tiles);
    sums->n++;
    sums->differ += differs;
    sums->divided += more.divided;
    sums->windows += more.counts.windows;
    sums->alone += more.counts.alone;
    outcome_free(&one.outcome);
    outcome_free(&more.outcome);
}

// Compare `n` scenarios from COLLWIRE_SEED on.
static void compare_all(int feature, uint64_t n)
{
    struct sums sums = {0};
    same_bytes_each(n, compare, feature, &sums);
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
    compare_all(ANY_FEATURE, same_bytes_scenarios(SCENARIOS));
}

// A quarter of the scenarios for each feature.
static void test_features(void **state)
{
    static const enum random_feature all[] = {
        FEATURE_LINK_RETRY, FEATURE_TIMELINE,  FEATURE_CIRCUITS, FEATURE_NICS,
        FEATURE_CREDITS,    FEATURE_ADMISSION, FEATURE_HOSTS};
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        compare_all((int)all[i], same_bytes_scenarios(SCENARIOS) / 4 + 1);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes),
                                       cmocka_unit_test(test_features)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
