// SPDX-License-Identifier: MIT
// Collectives over dimensions against their phase models, with packets.
//
// Ring over n ranks with c bytes: (n-1) a + (n-1)/n c/G for a reduce-scatter or an all-gather,
// twice that for an all-reduce; a = propagation + store-and-forward of one packet, G = goodput
// after headers and ACKs (Thakur et al. 2005). Baseline: an all-reduce of all bytes in every
// dimension; bandwidth-aware: reduce-scatter inside, all-reduce of the remaining bytes outside,
// all-gather inside (Rashidi et al., ISPASS 2020). One chunk takes the sum of its phases, within 5
// %; many chunks overlap and approach the load of the slowest dimension.
// Unpipelined tree: 2 log2(p) (a + n/G), within 10 %.
// Themis (Rashidi et al., ISCA 2022) on 8x8x8 switches of equal rate: the ascending order puts 2
// (7/8) c on dimension 0, an even distribution 2 (511/512)/3 c on each: at most 2.63 times as fast.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define MTU 4096.0

struct level {
    uint32_t size;
    uint64_t rate_bps;
    ps_t delay_ps;
};

static double goodput(const struct level *l)
{
    return (double)l->rate_bps / 8 * MTU / (MTU + 82 + 86);
}

static double alpha(const struct level *l)
{
    return 2e-12 * (double)l->delay_ps + (MTU + 82) * 8 / (double)l->rate_bps;
}

// One direction: a reduce-scatter or an all-gather of c bytes.
static double one_way(const struct level *l, double c)
{
    double n = l->size;
    return (n - 1) * alpha(l) + (n - 1) / n * c / goodput(l);
}

static void build(struct fixture *f, const struct level *levels, uint32_t n_levels)
{
    fixture_switch(f, levels[0].size, levels[0].rate_bps, levels[0].delay_ps);
    f->spec.n_dims = n_levels;
    for (uint32_t d = 0; d < n_levels; d++) {
        f->spec.dims[d] = f->spec.dims[0];
        f->spec.dims[d].size = levels[d].size;
        f->spec.dims[d].links[0] =
            (struct link_spec){.rate_bps = levels[d].rate_bps, .delay_ps = levels[d].delay_ps};
    }
}

static double seconds_of(struct fixture *f)
{
    fixture_run(f);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_int_equal(f->result->n_collectives, 1);
    const struct collective_result *c = &f->result->collectives[0];
    // The ideal includes ACKs on every link that receives data, whether it sends at that time or
    // not.
    assert_true((double)c->ideal_ps < 1.03 * (double)(c->end_ps - c->start_ps));
    return (double)(c->end_ps - c->start_ps) * 1e-12;
}

static double run_2d(const struct level *levels, int phases, uint64_t bytes, uint64_t chunks,
                     uint64_t active)
{
    static const char *const rings[] = {"ring", "ring"};
    struct fixture f;
    build(&f, levels, 2);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", bytes, chunks);
    fixture_dims(&f, 2, (uint32_t[]){levels[0].size, levels[1].size}, rings);
    f.collectives[0].schedule.phases = phases;
    f.collectives[0].schedule.active_chunks = active;
    double seconds = seconds_of(&f);
    fixture_free(&f);
    return seconds;
}

static const struct level platforms[][2] = {
    {{8, UINT64_C(2400000000000), 25000}, {4, UINT64_C(200000000000), 1000000}},
    {{4, UINT64_C(400000000000), 100000}, {4, UINT64_C(400000000000), 100000}},
    {{4, UINT64_C(100000000000), 500000}, {6, UINT64_C(400000000000), 500000}},
};

static void test_one_chunk_takes_the_sum_of_its_phases(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++)
        for (int phases = COLL_BASELINE; phases <= COLL_BANDWIDTH_AWARE; phases++) {
            const struct level *in = &platforms[i][0], *out = &platforms[i][1];
            double c = 24e6, left = phases == COLL_BASELINE ? c : c / in->size;
            double model = 2 * one_way(in, c) + 2 * one_way(out, left);
            double seconds = run_2d(platforms[i], phases, (uint64_t)c, 1, 1);
            print_message("%ux%u %-15s %9.3f us, model %9.3f us, %+.2f %%\n", in->size, out->size,
                          phases == COLL_BASELINE ? "baseline" : "bandwidth-aware", seconds * 1e6,
                          model * 1e6, 100 * (seconds / model - 1));
            assert_true(fabs(seconds / model - 1) < 0.05);
        }
}

// Not faster than the slowest dimension, and closer to it with more chunks. Two phases run at once
// in a dimension, so that one sends while the other waits for the latency of a step.
static void test_chunks_approach_the_slowest_dimension(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const struct level *in = &platforms[i][0], *out = &platforms[i][1];
        double c = 96e6, n0 = in->size, n1 = out->size;
        double inside = 2 * (n0 - 1) / n0 * c / goodput(in);
        double outside = 2 * (n1 - 1) / n1 * c / n0 / goodput(out);
        double bound = inside > outside ? inside : outside, before = 1e9, share = 0;
        for (uint64_t chunks = 1; chunks <= 16; chunks *= 4) {
            double seconds = run_2d(platforms[i], COLL_BANDWIDTH_AWARE, (uint64_t)c, chunks, 2);
            share = bound / seconds;
            print_message("%.0fx%.0f %2u chunks: %.3f of the bound\n", n0, n1, (unsigned)chunks,
                          share);
            assert_true(seconds > bound * 0.99 && seconds < before * 1.005);
            before = seconds;
        }
        assert_true(share > 0.9);
    }
}

static void test_tree(void **state)
{
    (void)state;
    for (uint32_t p = 4; p <= 16; p *= 2) {
        const struct level one = {p, UINT64_C(100000000000), 1000000};
        struct fixture f;
        build(&f, &one, 1);
        fixture_collective(&f, COLL_ALL_REDUCE, "tree", 8000000, 1);
        double seconds = seconds_of(&f), model = 2 * log2(p) * (alpha(&one) + 8e6 / goodput(&one));
        print_message("tree p %2u %9.3f us, model %9.3f us, %+.2f %%\n", p, seconds * 1e6,
                      model * 1e6, 100 * (seconds / model - 1));
        assert_true(fabs(seconds / model - 1) < 0.1);
        fixture_free(&f);
    }
}

static double run_3d(int order, double *busy)
{
    static const char *const exchanges[] = {"halving_doubling", "halving_doubling",
                                            "halving_doubling"};
    static const struct level cube[] = {{8, UINT64_C(100000000000), 50000},
                                        {8, UINT64_C(100000000000), 50000},
                                        {8, UINT64_C(100000000000), 50000}};
    struct fixture f;
    build(&f, cube, 3);
    f.spec.report.flows_max = 1;
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 64 * 65536, 64);
    fixture_dims(&f, 3, (uint32_t[]){8, 8, 8}, exchanges);
    f.collectives[0].schedule.phases = COLL_BANDWIDTH_AWARE;
    f.collectives[0].schedule.order = order;
    f.collectives[0].schedule.queueing =
        order == COLL_THEMIS ? COLL_QUEUE_SMALLEST : COLL_QUEUE_FIFO;
    double seconds = seconds_of(&f);
    for (uint32_t d = 0; d < 3; d++)
        busy[d] = f.result->collectives[0].dims[d].busy;
    fixture_free(&f);
    return seconds;
}

static void test_themis(void **state)
{
    (void)state;
    double busy[2][3], ascending = run_3d(COLL_ASCENDING, busy[0]);
    double themis = run_3d(COLL_THEMIS, busy[1]);
    double bound = 2 * (7. / 8) / (2 * (511. / 512) / 3);
    print_message("ascending %.1f us (busy %.2f %.2f %.2f), Themis %.1f us (%.2f %.2f %.2f): "
                  "%.2fx of at most %.2fx\n",
                  ascending * 1e6, busy[0][0], busy[0][1], busy[0][2], themis * 1e6, busy[1][0],
                  busy[1][1], busy[1][2], ascending / themis, bound);
    assert_true(ascending / themis > 2.0 && ascending / themis < bound);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_chunk_takes_the_sum_of_its_phases),
        cmocka_unit_test(test_chunks_approach_the_slowest_dimension),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_themis),
    };
    return cmocka_run_group_tests_name("hierarchical", tests, NULL, NULL);
}
