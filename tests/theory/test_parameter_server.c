// SPDX-License-Identifier: MIT
// Parameter servers against closed forms. W workers, S servers, n bytes, compute time c, and the
// goodput G of a port after headers.
//   sync          an iteration takes c + 2 W n / (S G) where the servers' links are the bottleneck
//   async         a server takes one update per n / (S G), as answers leave while gradients arrive;
//     and
//                 a worker alone takes c + 2 n / G. No run has more updates a second than either
//                   allows.
//   staleness     sync 0; async W - 1 on average, since between two updates of a worker each other
//     one
//                 has one; stale at most (W - 1)(2 s + 1): see test_bounded_staleness()
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"
#include "workload/training/parameter_server.h"

#define RATE UINT64_C(100000000000)
#define DELAY (1 * PS_PER_US)
#define GOODPUT ((double)RATE / 8 * 4096 / (4096 + 82)) // ACKs go the other way

struct lab {
    struct fixture f;
    struct server_settings settings;
};

static void lab_start(struct lab *lab, uint32_t workers, uint32_t servers, int mode, uint64_t bytes)
{
    struct fixture *f = &lab->f;
    fixture_switch(f, workers + servers, RATE, DELAY);
    memset(&lab->settings, 0, sizeof lab->settings);
    lab->settings.params = (struct server_params){.servers = servers,
                                                  .groups = PARAM_AUTO,
                                                  .mode = mode,
                                                  .bytes = bytes,
                                                  .iterations = 20,
                                                  .compute_ps = 200 * PS_PER_US,
                                                  .update_bps = PARAM_AUTO};
    lab->settings.choice.params.chunks = 1;
    for (unsigned op = 0; op < COLL_OPS; op++)
        lab->settings.choice.by_op[op] = coll_choice_of(coll_find("ring"));
    f->jobs[0] = (struct job_spec){.kind = &parameter_server_kind,
                                   .name = "servers",
                                   .cls = NET_CLASS_DATA,
                                   .settings = &lab->settings};
    f->spec.n_jobs = 1;
}

// Runs, checks what holds for every run, and returns the seconds of the job.
static double lab_run(struct lab *lab)
{
    struct fixture *f = &lab->f;
    fixture_run(f);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_int_equal(f->sim->fabric.hosts.counters.delivered_bytes, f->sim->workload.total_bytes);
    const struct server_params *p = &lab->settings.params;
    uint32_t groups = server_groups(p, f->sim->fabric.graph.n_ranks);
    assert_int_equal(f->result->jobs[0].servers->updates, p->servers * p->iterations * groups);
    return (double)f->result->jobs[0].end_ps * 1e-12;
}

static double mean_staleness(const struct lab *lab)
{
    return lab->f.result->jobs[0].servers->staleness.mean;
}

static void test_sync(void **state)
{
    (void)state;
    for (uint32_t servers = 1; servers <= 4; servers *= 4) {
        struct lab lab;
        lab_start(&lab, 8, servers, SERVER_SYNC, 4000000);
        double took = lab_run(&lab);
        double model = 20 * (200e-6 + 2 * 8 * 4e6 / servers / GOODPUT);
        print_message("sync, %u servers: %.3f ms, model %.3f ms, %+.2f %%\n", servers, took * 1e3,
                      model * 1e3, 100 * (took / model - 1));
        assert_true(fabs(took / model - 1) < 0.01);
        assert_true(lab.f.result->jobs[0].servers->staleness.max == 0);
        fixture_free(&lab.f);
    }
}

// Updates a second, against both bounds. With one worker in ten computing at a time the second is
// reached; with short computations the first, as far as pushes and answers of all workers overlap.
static void test_async(void **state)
{
    (void)state;
    static const struct {
        ps_t compute_ps;
        double least; // share of the bound
    } cases[] = {{20000 * PS_PER_US, 0.97}, {2000 * PS_PER_US, 0.92}, {100 * PS_PER_US, 0.75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lab lab;
        lab_start(&lab, 8, 1, SERVER_ASYNC, 1000000);
        lab.settings.params.compute_ps = cases[i].compute_ps;
        lab.settings.params.jitter = 0.1;
        lab.settings.params.iterations = 40;
        double rate = 40 * 8 / lab_run(&lab), compute = (double)cases[i].compute_ps * 1e-12;
        double by_server = GOODPUT / 1e6, by_workers = 8 / (compute + 2e6 / GOODPUT);
        double bound = by_server < by_workers ? by_server : by_workers;
        print_message("async, compute %.1f ms: %.0f updates/s, bounds %.0f and %.0f, %.3f\n",
                      compute * 1e3, rate, by_server, by_workers, rate / bound);
        // jitter averages out over the 40 iterations of the slowest worker, not exactly
        assert_true(rate < by_server && rate < 1.03 * by_workers && rate > cases[i].least * bound);
        print_message("   staleness mean %.2f, max %.0f\n", mean_staleness(&lab),
                      lab.f.result->jobs[0].servers->staleness.max);
        assert_true(fabs(mean_staleness(&lab) / 7 - 1) < 0.05);
        fixture_free(&lab.f);
    }
}

// A group is answered at its clock k when all others are at k - s or beyond. Until its next update
// the slowest is at k at most, so no other group passes k + s + 1: each has at most 2 s + 1
// updates. With some workers twice as slow as the others, mode async has more.
static void test_bounded_staleness(void **state)
{
    (void)state;
    double before = 0;
    for (int s = 0; s <= 2; s++) {
        struct lab lab;
        lab_start(&lab, 8, 2, SERVER_STALE, 100000);
        lab.settings.params.staleness = (uint64_t)s;
        lab.settings.params.spread = 2;
        lab.settings.params.jitter = 0.5;
        double took = lab_run(&lab);
        const struct stats *stats = &lab.f.result->jobs[0].servers->staleness;
        print_message("stale %d: %.3f ms, mean %.2f, max %.0f\n", s, took * 1e3, stats->mean,
                      stats->max);
        assert_true(stats->max <= 7 * (2 * s + 1));
        assert_true(s == 0 || (took < before && stats->max > 7));
        before = took;
        fixture_free(&lab.f);
    }
    struct lab lab;
    lab_start(&lab, 8, 2, SERVER_ASYNC, 100000);
    lab.settings.params.spread = 2;
    lab.settings.params.jitter = 0.5;
    assert_true(lab_run(&lab) <= before);
    fixture_free(&lab.f);
}

// Stale with 0 is sync, but for the updates, which are applied one by one.
static void test_stale_0_is_sync(void **state)
{
    (void)state;
    double took[2];
    for (int i = 0; i < 2; i++) {
        struct lab lab;
        lab_start(&lab, 6, 1, i == 0 ? SERVER_SYNC : SERVER_STALE, 500000);
        lab.settings.params.jitter = 0.3;
        took[i] = lab_run(&lab);
        fixture_free(&lab.f);
    }
    assert_true(took[0] == took[1]);
}

// Groups: the leaders alone send to the servers; collectives do the rest. 12 workers in 3 groups of
// 4: 2 n to and from servers for each group, all-reduces of 2 (g-1)/g n and broadcasts of n for
// each rank.
static void test_groups(void **state)
{
    (void)state;
    struct lab lab;
    lab_start(&lab, 12, 2, SERVER_ASYNC, 400000);
    lab.settings.params.groups = 3;
    lab.settings.params.iterations = 5;
    lab.settings.params.update_bps = RATE;
    lab_run(&lab);
    uint64_t per_iteration = 3 * (2 * 400000 + 4 * 2 * 3 * 100000 + 3 * 400000);
    assert_int_equal(lab.f.sim->fabric.hosts.counters.delivered_bytes, 5 * per_iteration);
    assert_int_equal(lab.f.result->n_collectives, 5 * 3 * 2);
    fixture_free(&lab.f);
}

// The time of updates, one after the other at a server: n / (S rate) each. Tolerance 3 %.
static void test_update_rate(void **state)
{
    (void)state;
    double took[2];
    for (int i = 0; i < 2; i++) {
        struct lab lab;
        lab_start(&lab, 4, 1, SERVER_SYNC, 1000000);
        lab.settings.params.update_bps = i == 0 ? PARAM_AUTO : RATE / 10;
        took[i] = lab_run(&lab);
        fixture_free(&lab.f);
    }
    double model = 20 * 4 * 8e6 / (RATE / 10.);
    assert_true(fabs((took[1] - took[0]) / model - 1) < 0.03);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sync),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_bounded_staleness),
        cmocka_unit_test(test_stale_0_is_sync),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_update_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
