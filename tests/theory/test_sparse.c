// SPDX-License-Identifier: MIT
// Sparse all-reduce (Renggli et al., SC 2019): sizes of messages are the expected unions of random
// supports, K(m) = n (1 - (1 - d)^m) values of m ranks, or the dense vector where that is shorter;
// times follow from them; and the density from which on a dense ring is as good. Reduced precision:
// bytes and times of conversions.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
#define DELAY (1 * PS_PER_US)

static struct coll_shape sparse_shape(uint32_t ranks, uint64_t bytes,
                                      const struct coll_sparse_params *params)
{
    return (struct coll_shape){
        .op = COLL_ALL_REDUCE, .ranks = ranks, .bytes = bytes, .params = params};
}

static double union_bytes(double bytes, double density, double ranks)
{
    double listed = bytes / 4 * (1 - pow(1 - density, ranks)) * 8;
    return listed < bytes ? listed : bytes;
}

// Recursive doubling over a power of two: 1, 2, 4 .. ranks' values. Exact up to rounding to values.
static void test_doubling_sizes(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("sparse_doubling");
    for (double d = 0.001; d < 1; d *= 3) {
        struct coll_sparse_params p = {.density = d, .value_bytes = 4, .index_bytes = 4};
        struct coll_shape s = sparse_shape(16, 4000000, &p);
        assert_int_equal(a->steps(&s), 4);
        for (uint32_t step = 0; step < 4; step++)
            for (uint32_t rank = 0; rank < 16; rank++) {
                struct coll_send send = a->send(&s, rank, step, 0);
                double expected = union_bytes(4000000, d, 1u << step);
                assert_true(fabs((double)send.bytes - expected) <= 8);
                assert_int_equal(send.peer, rank ^ (1u << step));
            }
    }
    // 11 ranks: the other 3 send to partners among the first 8. In the last exchange one side has
    // the sum of 4 ranks and their 3 partners, the other the sum of 4 ranks
    struct coll_sparse_params p = {.density = 0.05, .value_bytes = 4, .index_bytes = 4};
    struct coll_shape s = sparse_shape(11, 4000000, &p);
    assert_int_equal(a->steps(&s), 5);
    assert_int_equal(a->send(&s, 9, 0, 0).peer, 1);
    assert_true(fabs((double)a->send(&s, 0, 3, 0).bytes - union_bytes(4000000, 0.05, 7)) <= 8);
    assert_true(fabs((double)a->send(&s, 4, 3, 0).bytes - union_bytes(4000000, 0.05, 4)) <= 8);
    assert_true(fabs((double)a->send(&s, 1, 4, 0).bytes - union_bytes(4000000, 0.05, 11)) <= 8);
    assert_int_equal(a->n_sends(&s, 3, 4), 0);
    assert_int_equal(a->n_recvs(&s, 10, 4), 1);
}

static void test_split_sizes(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("sparse_split");
    for (double d = 0.001; d < 1; d *= 3) {
        struct coll_sparse_params p = {.density = d, .value_bytes = 4, .index_bytes = 4};
        struct coll_shape s = sparse_shape(10, 4000000, &p);
        assert_int_equal(a->steps(&s), 1 + 4);
        double total = 9 * union_bytes(400000, d, 1) + 9 * union_bytes(400000, d, 10);
        for (uint32_t rank = 0; rank < 10; rank++)
            assert_true(fabs((double)coll_bytes_sent(a, &s, rank) - total) <= 18 * 8);
    }
}

// Every step's messages are those for which its receivers wait.
static void test_matching(void **state)
{
    (void)state;
    static const char *const names[] = {"sparse_doubling", "sparse_split"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t ranks = 1; ranks <= 19; ranks++) {
            const struct coll_algorithm *a = coll_find(names[i]);
            struct coll_shape s = sparse_shape(ranks, 1000, NULL);
            for (uint32_t step = 0; step < a->steps(&s); step++) {
                uint32_t arrive[20] = {0};
                for (uint32_t rank = 0; rank < ranks; rank++)
                    for (uint32_t k = 0; k < a->n_sends(&s, rank, step); k++) {
                        struct coll_send send = a->send(&s, rank, step, k);
                        assert_true(send.peer < ranks && send.peer != rank);
                        assert_int_equal(send.peer_step, step);
                        assert_true(send.bytes > 0 && send.bytes <= 1000);
                        arrive[send.peer]++;
                    }
                for (uint32_t rank = 0; rank < ranks; rank++)
                    assert_int_equal(arrive[rank], a->n_recvs(&s, rank, step));
            }
        }
}

// Drawn sizes: the same for the same seed, different for others, with the right mean and deviation.
// 400 draws of n q (1 - q) = 10000 x 0.2 x 0.8: the mean within 4 sigma, the deviation within 15 %.
static void test_drawn_sizes(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("sparse_doubling");
    double sum = 0, squares = 0;
    for (uint64_t seed = 1; seed <= 400; seed++) {
        struct coll_sparse_params p = {
            .density = 0.2, .value_bytes = 4, .index_bytes = 4, .seed = seed};
        struct coll_shape s = sparse_shape(4, 40000, &p);
        double k = (double)a->send(&s, 3, 0, 0).bytes / 8;
        assert_int_equal(a->send(&s, 3, 0, 0).bytes, a->send(&s, 3, 0, 0).bytes);
        // both ranks of a pair have the same sum afterwards
        assert_int_equal(a->send(&s, 0, 1, 0).bytes, a->send(&s, 1, 1, 0).bytes);
        sum += k;
        squares += k * k;
    }
    double mean = sum / 400, deviation = sqrt(squares / 400 - mean * mean);
    print_message("drawn: mean %.1f, deviation %.2f\n", mean, deviation);
    assert_true(fabs(mean - 2000) < 4 * 40 / 20.);
    assert_true(fabs(deviation / 40 - 1) < 0.15);
}

static double run_s(uint32_t ranks, uint64_t bytes, const char *algorithm, const char *density)
{
    struct fixture f;
    fixture_switch(&f, ranks, RATE, DELAY);
    fixture_cc(&f, "none", NULL, NULL);
    fixture_collective(&f, COLL_ALL_REDUCE, algorithm, bytes, 1);
    fixture_setting(&f, "density", density);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, f.sim->workload.total_bytes);
    double seconds = (double)f.result->collectives[0].end_ps * 1e-12;
    fixture_free(&f);
    return seconds;
}

// T = sum over steps of a + bytes/G, with a and G as in test_allreduce.c. Tolerance 3 %.
static void test_times(void **state)
{
    (void)state;
    const double goodput = (double)RATE / 8 * 4096 / (4096 + 82 + 86);
    const double a = 2e-6 + (4096 + 82) * 8 / (double)RATE;
    static const char *const densities[] = {"0.003", "0.03", "0.3"};
    for (size_t i = 0; i < 3; i++) {
        double d = strtod(densities[i], NULL), doubling = 0;
        for (uint32_t step = 0; step < 4; step++)
            doubling += a + union_bytes(16e6, d, 1u << step) / goodput;
        double split =
            (1 + 4) * a + 15 * (union_bytes(1e6, d, 1) + union_bytes(1e6, d, 16)) / goodput;
        double took[] = {run_s(16, 16000000, "sparse_doubling", densities[i]),
                         run_s(16, 16000000, "sparse_split", densities[i])};
        print_message("d %s: doubling %.1f us (%+.2f %%), split %.1f us (%+.2f %%)\n", densities[i],
                      took[0] * 1e6, 100 * (took[0] / doubling - 1), took[1] * 1e6,
                      100 * (took[1] / split - 1));
        assert_true(fabs(took[0] / doubling - 1) < 0.03);
        assert_true(fabs(took[1] / split - 1) < 0.03);
    }
}

// A dense ring sends 2 (p-1)/p n; the split variant as much when the first exchange is dense, from
// d = value/(value + index) = 1/2 on; doubling when sum_k min(2 (1 - (1-d)^(2^k)), 1) = 2 (p-1)/p:
// 0.0737 for 16 ranks.
static void test_crossover(void **state)
{
    (void)state;
    double ring = run_s(16, 16000000, "ring", "1");
    assert_true(run_s(16, 16000000, "sparse_split", "0.45") < 0.97 * ring);
    assert_true(fabs(run_s(16, 16000000, "sparse_split", "0.5") / ring - 1) < 0.03);
    assert_true(fabs(run_s(16, 16000000, "sparse_split", "1") / ring - 1) < 0.03);
    assert_true(run_s(16, 16000000, "sparse_doubling", "0.06") < 0.97 * ring);
    assert_true(run_s(16, 16000000, "sparse_doubling", "0.08") > 1.03 * ring);
    assert_true(fabs(run_s(16, 16000000, "sparse_doubling", "0.0737") / ring - 1) < 0.03);
}

// Half the bytes, and conversions of n bytes before and after, in the job's time.
static void test_wire_precision(void **state)
{
    (void)state;
    double took[2], job[2];
    uint64_t bytes[2];
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        fixture_switch(&f, 8, RATE, DELAY);
        fixture_cc(&f, "none", NULL, NULL);
        fixture_collective(&f, COLL_ALL_REDUCE, "ring", 8000000, 1);
        f.collectives[0].params.wire_precision = i == 0 ? 1 : 0.5;
        f.collectives[0].params.conversion_bps = 8 * RATE;
        f.collectives[0].schedule.wire_factor = i == 0 ? 1 : 0.5;
        f.collectives[0].params.repeat = 2;
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        const struct collective_result *c = &f.result->collectives[0];
        took[i] = (double)(c->end_ps - c->start_ps) * 1e-12;
        job[i] = (double)f.result->collectives[1].end_ps * 1e-12;
        assert_int_equal(c->bytes, 8000000);
        bytes[i] = f.sim->fabric.hosts.counters.delivered_bytes;
        assert_int_equal(bytes[i], f.sim->workload.total_bytes);
        fixture_free(&f);
    }
    assert_int_equal(bytes[0], 2 * bytes[1]);
    print_message("precision 1: %.1f us, 0.5: %.1f us; two: %.1f, %.1f us\n", took[0] * 1e6,
                  took[1] * 1e6, job[0] * 1e6, job[1] * 1e6);
    assert_true(took[0] / took[1] > 1.9 && took[0] / took[1] < 2);
    // two collectives, and conversions before the first, after it, before the second
    double conversions = 3 * 8e6 * 8 / (8. * RATE);
    assert_true(fabs(job[1] - 2 * took[1] - conversions) < 0.01 * job[1]);
    assert_true(fabs(job[0] - 2 * took[0]) < 0.01 * job[0]);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doubling_sizes), cmocka_unit_test(test_split_sizes),
        cmocka_unit_test(test_matching),       cmocka_unit_test(test_drawn_sizes),
        cmocka_unit_test(test_times),          cmocka_unit_test(test_crossover),
        cmocka_unit_test(test_wire_precision),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
