// SPDX-License-Identifier: MIT
// The same bytes of metrics.json and of the timeline from several processes as from one, on random
// scenarios. The processes are threads of this program.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/parallel/parallel.h"
#include "tests/support/processes_in_threads.h"
#include "tests/support/same_bytes.h"

#define SCENARIOS 40
#define PROCESSES_MOST 4

// A scenario, and what each process has to say of its run.
struct shared_run {
    uint64_t seed;
    int feature;
    uint32_t n, threads, tiles;
    struct fixture *fixtures[PROCESSES_MOST];
    bool refused[PROCESSES_MOST], odd[PROCESSES_MOST];
    struct outcome outcome; // of process 0
};

// The shards of processes that wait for each other are threads of one machine: few of them.
static struct shared_run draw(uint64_t seed, int feature)
{
    static const uint32_t n[] = {2, 3, 2, 4, 2}, threads[] = {1, 1, 2, 1, 1};
    uint64_t i = seed / 3 % 5;
    return (struct shared_run){.seed = seed,
                               .feature = feature,
                               .n = n[i],
                               .threads = threads[i],
                               .tiles = (uint32_t)(seed / 4 % 3)};
}

static void set_up(struct fixture *f, uint32_t threads, uint32_t tiles)
{
    struct err err = {0};
    f->sim = sim_new(&f->spec, &err);
    err_free(&err); // warnings
    sim_set_threads(f->sim, threads);
    sim_set_tiles(f->sim, tiles);
    f->sim->parallel.always_together = true; // or one process would begin again (cli_processes)
}

static struct fixture *fixture_of(const struct shared_run *run)
{
    struct fixture *f = malloc(sizeof *f);
    same_bytes_scenario(f, run->seed, run->feature);
    return f;
}

// Tell the others whether this process refuses. Returns true if one of them is of another opinion.
static bool disagree(const struct collwire_processes *all, bool refused)
{
    struct collwire_bytes out[PROCESSES_MOST], in[PROCESSES_MOST];
    bool other = false;
    for (uint32_t q = 0; q < all->n; q++)
        out[q] = (struct collwire_bytes){&refused, sizeof refused};
    all->exchange(all->ctx, out, in);
    for (uint32_t q = 0; q < all->n; q++)
        other |= q != all->rank && *(const bool *)in[q].data != refused;
    return other;
}

// No assertion of cmocka here: these are other threads than that of the test.
static void run_process(void *ctx, const struct collwire_processes *all)
{
    struct shared_run *run = ctx;
    struct fixture *f = run->fixtures[all->rank];
    struct err err = {0};
    set_up(f, run->threads, run->tiles);
    bool refused = run->refused[all->rank] = sim_set_processes(f->sim, all, &err) < 0;
    bool odd = refused != (err.n_errors > 0);
    err_free(&err);
    bool split = disagree(all, refused);
    if (!refused && !split) {
        sim_run(f->sim, NULL);
        odd |= !f->sim->fabric.shards || !f->sim->fabric.shards->processes;
        f->result = sim_result(f->sim);
        if (all->rank == 0)
            run->outcome = outcome_of(f->result);
    }
    run->odd[all->rank] = odd || split;
    fixture_free(f);
}

static struct outcome run_alone(const struct shared_run *run)
{
    struct fixture *f = fixture_of(run);
    set_up(f, 1, 1);
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
    struct outcome o = outcome_of(f->result);
    fixture_free(f);
    free(f);
    return o;
}

struct sums {
    uint64_t n, shared;
    unsigned differ;
};

// Run a scenario on several processes and, if they can share it, on one.
static void compare(uint64_t seed, int feature, void *ctx)
{
    struct sums *sums = ctx;
    struct shared_run run = draw(seed, feature);
    bool differs = false;
    for (uint32_t q = 0; q < run.n; q++)
        run.fixtures[q] = fixture_of(&run);
    processes_in_threads(&(struct processes_in_threads){
        .n = run.n, .silent = NO_PROCESS, .run = run_process, .ctx = &run});
    for (uint32_t q = 0; q < run.n; q++) {
        free(run.fixtures[q]);
        differs |= run.odd[q];
    }
    if (differs) {
        print_error("not all processes share the run\n");
    } else if (!run.refused[0]) {
        struct outcome one = run_alone(&run);
        differs = outcomes_differ(&one, &run.outcome);
        outcome_free(&one);
    }
    if (differs)
        print_error("seed %llu, feature %d, %u processes, %u threads, %u tiles each\n",
                    (unsigned long long)seed, feature, run.n, run.threads, run.tiles);
    sums->n++;
    sums->differ += differs;
    sums->shared += !run.refused[0];
    outcome_free(&run.outcome);
}

// Compare `n` scenarios from COLLWIRE_SEED on.
static struct sums compare_all(int feature, uint64_t n)
{
    struct sums sums = {0};
    same_bytes_each(n, compare, feature, &sums);
    print_message("feature %d: %llu of %llu shared, %u differ\n", feature,
                  (unsigned long long)sums.shared, (unsigned long long)sums.n, sums.differ);
    return sums;
}

static void test_same_bytes(void **state)
{
    (void)state;
    struct sums sums = compare_all(ANY_FEATURE, same_bytes_scenarios(SCENARIOS));
    assert_int_equal(sums.differ, 0);
    assert_true(sums.shared > sums.n / 3);
}

// A quarter of the scenarios for each feature.
static void test_features(void **state)
{
    static const enum random_feature all[] = {FEATURE_LINK_RETRY, FEATURE_TIMELINE,
                                              FEATURE_CIRCUITS,   FEATURE_NICS,
                                              FEATURE_CREDITS,    FEATURE_ADMISSION};
    struct sums sums[sizeof all / sizeof *all];
    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        sums[i] = compare_all((int)all[i], same_bytes_scenarios(SCENARIOS) / 4 + 1);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        assert_int_equal(sums[i].differ, 0);
        assert_true(sums[i].shared > sums[i].n / 3);
    }
}

// Messages that cost time of the cores of hosts are not shared.
static void test_refused(void **state)
{
    (void)state;
    struct sums sums = compare_all(FEATURE_HOSTS, same_bytes_scenarios(SCENARIOS) / 4 + 1);
    assert_int_equal(sums.differ, 0);
    assert_int_equal(sums.shared, 0);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes),
                                       cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
