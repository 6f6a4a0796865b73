// SPDX-License-Identifier: MIT
// Messages cut over the planes of a switch: as many times as fast, the same bytes.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

// Seconds of an operation over 4 ranks on a switch of three planes.
static double seconds(enum coll_op op, const char *algorithm, uint64_t bytes, bool stripe,
                      size_t *messages)
{
    struct fixture f;
    fixture_switch(&f, 4, RATE, 100 * PS_PER_NS);
    struct err err = {0};
    const struct topology_kind *kind = f.spec.dims[0].kind;
    const struct param *planes = param_find(kind->params, kind->n_params, "planes");
    assert_int_equal(param_set(planes, f.spec.dims[0].params, "3", "planes", &err), 0);
    f.spec.dims[0].transport.stripe = stripe;
    fixture_collective(&f, op, algorithm, bytes, 1);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.sim->roce.delivered_bytes, f.sim->workload.total_bytes);
    const struct collective_result *c = &f.result->collectives[0];
    double s = (double)(c->end_ps - c->start_ps) * 1e-12;
    *messages = f.result->n_flows;
    fixture_free(&f);
    return s;
}

static void test_three_planes(void **state)
{
    (void)state;
    static const struct {
        enum coll_op op;
        const char *algorithm;
    } cases[] = {
        {COLL_SEND_RECV, "ring"}, {COLL_ALL_REDUCE, "ring"}, {COLL_ALL_REDUCE, "halving_doubling"}};
    for (size_t i = 0; i < 3; i++) {
        size_t one, three;
        double whole = seconds(cases[i].op, cases[i].algorithm, 30000000, false, &one);
        double cut = seconds(cases[i].op, cases[i].algorithm, 30000000, true, &three);
        print_message("%s: %.3f times as fast\n", cases[i].algorithm, whole / cut);
        assert_true(fabs(whole / cut - 3) < 0.03);
        assert_int_equal(three, 3 * one);
    }
}

// Nothing to cut: empty messages and single bytes go whole.
static void test_small_messages(void **state)
{
    (void)state;
    size_t one, cut;
    seconds(COLL_BARRIER, "direct", 0, false, &one);
    seconds(COLL_BARRIER, "direct", 0, true, &cut);
    assert_int_equal(one, cut);
    seconds(COLL_ALL_REDUCE, "direct", 5, true, &cut); // segments of 1 and 2 bytes
    assert_int_equal(cut, 24);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_three_planes),
                                       cmocka_unit_test(test_small_messages)};
    return cmocka_run_group_tests_name("stripes", tests, NULL, NULL);
}
