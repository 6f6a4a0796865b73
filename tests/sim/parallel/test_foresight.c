// SPDX-License-Identifier: MIT
// Collectives whose groups queue for dimensions, on several threads: the same bytes, and most
// windows in parallel although the groups of the outer dimension, or of all ranks, are in all
// shards.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/metrics.h"
#include "sim/parallel/parallel.h"
#include "tests/support/fixture.h"

#define GPUS 4
#define SERVERS 8

struct variant {
    const char *algorithms[2];
    uint64_t active_chunks, repeat;
    double alone; // most of the windows that may have one thread
    bool whole;   // an all-to-all among all ranks at once, over leaves and spines that join them
};

// Servers with fast links inside, joined by links of 2 us to switches, one for the GPUs of equal
// place, or to leaves.
static void make(struct fixture *f, const struct variant *v)
{
    const uint32_t sizes[] = {GPUS, SERVERS};
    const struct link_spec outer = {.rate_bps = 100000000000, .delay_ps = 2 * PS_PER_US};
    struct dim_spec leaves;
    fixture_leaf_spine(f, SERVERS, GPUS * SERVERS / 4, 8, outer, outer);
    leaves = f->spec.dims[0];
    fixture_switch(f, GPUS, 1600000000000, 100 * PS_PER_NS);
    f->spec.dims[1] = v->whole ? leaves : f->spec.dims[0];
    f->spec.n_dims = 2;
    f->spec.dims[1].size = SERVERS;
    f->spec.dims[1].links[0] = outer;
    fixture_collective(f, v->whole ? COLL_ALL_TO_ALL : COLL_ALL_REDUCE, v->algorithms[0], 4 << 20,
                       v->whole ? 2 : 8);
    fixture_dims(f, 2, sizes, v->algorithms);
    f->collectives[0].schedule.flat[COLL_ALL_TO_ALL] = v->whole;
    f->collectives[0].schedule.choice[COLL_ALL_TO_ALL][2] =
        coll_choice_of(coll_find(v->algorithms[0]));
    f->collectives[0].schedule.active_chunks = v->active_chunks;
    f->collectives[0].params.repeat = v->repeat;
}

static char *run(const struct variant *v, uint32_t threads, struct shards_counts *counts)
{
    struct fixture *f = calloc(1, sizeof *f);
    struct err err = {0};
    make(f, v);
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err);
    sim_set_threads(f->sim, threads);
    f->sim->parallel.always_together = true;
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
    assert_true(workload_done(&f->sim->workload));
    if (threads > 1) {
        assert_non_null(f->sim->fabric.shards);
        *counts = f->sim->fabric.shards->counts;
    }
    char *metrics = metrics_json(f->result, "{}");
    fixture_free(f);
    free(f);
    return metrics;
}

static void test_queues(void **state)
{
    static const struct variant variants[] = {
        {{"ring", "ring"}, 1, 1, 0.3, false},
        {{"ring", "ring"}, 2, 3, 0.3, false},
        {{"direct", "halving_doubling"}, 1, 2, 0.3, false},
        {{"halving_doubling", "direct"}, 2, 1, 0.3, false},
        {{"direct", "direct"}, 1, 2, 0.3, true},
        {{"direct", "direct"}, 0, 1, 0.3, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        struct shards_counts counts = {0};
        char *one = run(&variants[i], 1, &counts);
        for (uint32_t threads = 2; threads <= 3; threads++) {
            char *more = run(&variants[i], threads, &counts);
            double alone = (double)counts.alone / (double)counts.windows;
            print_message("%zu: %u threads, %.3f of %llu windows on one\n", i, threads, alone,
                          (unsigned long long)counts.windows);
            assert_string_equal(one, more);
            assert_true(alone <= variants[i].alone);
            free(more);
        }
        free(one);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_queues)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
