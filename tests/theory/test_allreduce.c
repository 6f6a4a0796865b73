// SPDX-License-Identifier: MIT
// All-reduce of n bytes over p ranks on one switch against the alpha-beta model (Thakur et al.
// 2005; Patarasuk & Yuan 2009): ring 2(p-1)a + 2(p-1)/p n/G, halving-doubling 2 log2(p) a +
// 2(p-1)/p n/G, unpipelined tree 2 log2(p) (a + n/G), with G = goodput after headers and ACKs and a
// = propagation + store-and-forward of one packet. Tolerance 3 %. On direct links a step is one
// hop, a = propagation only, and ACKs leave in the direction opposite to the data: G = goodput
// after headers.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
#define DELAY (1 * PS_PER_US)

static double model_s(const char *algorithm, uint32_t p, double n, double mtu, bool direct)
{
    bool one_way = direct || algorithm[0] == 't';
    double goodput = (double)RATE / 8 * mtu / (mtu + 82 + (one_way ? 0 : 86));
    double a = direct ? 1e-6 : 2e-6 + (mtu + 82) * 8 / (double)RATE;
    double steps = algorithm[0] == 'r' ? 2.0 * (p - 1) : 2 * log2(p);
    if (algorithm[0] == 't')
        return steps * (a + n / goodput);
    return steps * a + 2.0 * (p - 1) / p * n / goodput;
}

static void check(const char *kind, const char *algorithm, uint32_t p, uint64_t bytes,
                  const char *cc)
{
    struct fixture f;
    fixture_direct(&f, kind, p, RATE, DELAY);
    fixture_cc(&f, cc, NULL, NULL);
    fixture_collective(&f, COLL_ALL_REDUCE, algorithm, bytes, 1);
    fixture_run(&f);
    const struct collective_result *c = &f.result->collectives[0];
    double seconds = (double)(c->end_ps - c->start_ps) * 1e-12;
    double model = model_s(algorithm, p, (double)bytes, 4096, kind[0] != 's');
    print_message("%-15s %-17s p %2u %-7s %9.3f us, model %9.3f us, %+.2f %%\n", kind, algorithm, p,
                  cc, seconds * 1e6, model * 1e6, 100 * (seconds / model - 1));
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(fabs(seconds / model - 1) < 0.03);
    // NCCL: busbw = S/t * 2(p-1)/p
    double busbw = (double)bytes * 8 / seconds * 2 * (p - 1) / p;
    assert_true(fabs(c->busbw_bps / busbw - 1) < 1e-9);
    // The ideal time in the results equals the model.
    assert_true(fabs((double)c->ideal_ps * 1e-12 / model - 1) < 0.005);
    fixture_free(&f);
}

static void test_ring(void **state)
{
    (void)state;
    for (uint32_t p = 4; p <= 16; p++) {
        check("switch", "ring", p, 16000000, "none");
        check("switch", "ring", p, 16000000, "window");
    }
}

static void test_halving_doubling(void **state)
{
    (void)state;
    for (uint32_t p = 4; p <= 16; p *= 2) {
        check("switch", "halving_doubling", p, 16000000, "none");
        check("switch", "halving_doubling", p, 16000000, "window");
    }
}

// Data flows in one direction at a time, so ACKs take no capacity from it: G = goodput after
// headers.
static void test_tree(void **state)
{
    (void)state;
    for (uint32_t p = 2; p <= 16; p *= 2) {
        check("switch", "tree", p, 16000000, "none");
        check("switch", "tree", p, 16000000, "window");
    }
}

static void test_ring_on_direct_links(void **state)
{
    (void)state;
    for (uint32_t p = 4; p <= 16; p++) {
        check("ring", "ring", p, 16000000, "none");
        check("ring", "ring", p, 16000000, "window");
        check("fully_connected", "ring", p, 16000000, "none");
        check("fully_connected", "ring", p, 16000000, "window");
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring),
        cmocka_unit_test(test_halving_doubling),
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_ring_on_direct_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
