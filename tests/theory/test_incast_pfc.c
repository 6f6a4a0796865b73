// SPDX-License-Identifier: MIT
// PFC and the dynamic threshold in an incast: pauses occur only when thresholds are exceeded, no
// packet is dropped, and n congested ingresses each reach an equilibrium at alpha*B / (1 + n*alpha)
// of shared bytes (Choudhury & Hahne, ToN 1998).
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static void incast(struct fixture *f, unsigned senders, uint64_t bytes, uint64_t buffer)
{
    fixture_switch(f, senders + 1, RATE, PS_PER_US);
    f->spec.dims[0].sw.buffer_bytes = buffer;
    roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes = 1000;
    for (unsigned i = 0; i < senders; i++)
        fixture_flow(f, i, senders, bytes, 0);
}

static bool explained(const struct result *r, const char *words)
{
    for (size_t i = 0; i < r->n_explain; i++)
        if (strstr(r->explain[i], words))
            return true;
    return false;
}

static void test_large_buffer_never_pauses(void **state)
{
    (void)state;
    struct fixture f;
    incast(&f, 8, 1000000, 32000000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->pause_frames, 0);
    assert_int_equal(f.result->dropped_packets, 0);
    // 8 MB arrive while 1 MB leaves, so the queue peaks at 7/8 of all frames, less what leaves
    // while the first bits propagate.
    double frames = 8 * 1000 * (1000 + 66.0);
    assert_true(fabs((double)f.result->max_queue_bytes / (frames * 7 / 8) - 1) < 0.02);
    assert_true(explained(f.result, "no PFC: the fullest ingress held"));
    fixture_free(&f);
}

static void test_small_buffer_pauses_and_loses_nothing(void **state)
{
    (void)state;
    struct fixture f;
    incast(&f, 8, 1000000, 2000000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->pause_frames > 8);
    assert_true(f.result->resume_frames >= 8);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_int_equal(f.result->retransmitted, 0);
    assert_true(explained(f.result, "XOFF frames"));
    assert_true(explained(f.result, "no lossless drop: headroom use peaked at"));
    // The receiver's link is never idle, so the run takes as long as without pauses, within 1 %.
    double line_s = 8 * (1000 * (1000 + 82.) + 16) * 8 / (double)RATE;
    assert_true(fabs(f.result->summary.fct_ns.max * 1e-9 / line_s - 1) < 0.02);
    fixture_free(&f);
}

static void settle(unsigned n, uint64_t buffer, double alpha)
{
    struct fixture f;
    incast(&f, n, 100000000, buffer);
    f.spec.dims[0].sw.pfc.alpha = alpha;
    f.spec.duration_ps = 2 * PS_PER_MS;
    fixture_run(&f);
    const struct switch_node *s = &f.sim->fabric.switches.nodes[0];
    double share = alpha * (double)s->mmu.shared_bytes / (1 + n * alpha);
    // A paused ingress is at the threshold; one just released has lost the bytes that drain until
    // data from its sender arrives again: the XON offset and a loop of pause frame and data, 2 us
    // of line rate.
    double packet = 1066, loop = 2e-6 * (double)RATE / 8, sum = 0;
    unsigned stopped = 0;
    for (unsigned i = 0; i < n; i++) {
        double held = (double)mmu_ingress_shared(&s->mmu, i, 0);
        bool xoff = s->mmu.ingress[i * s->mmu.n_classes].xoff;
        sum += held;
        stopped += xoff;
        assert_true(held <= share + 2 * packet);
        assert_true(held >= share - (xoff ? 2 : 5) * packet - (xoff ? 0 : loop));
    }
    assert_true(fabs(sum / n / share - 1) < 0.04);
    assert_true(stopped > 0 || n == 2);
    print_message("n %u, B %.0f KB, alpha %g: each ingress holds %.1f KB, theory %.1f KB\n", n,
                  (double)s->mmu.shared_bytes / 1e3, alpha, sum / n / 1e3, share / 1e3);
    assert_true(f.result->pause_frames > n);
    assert_int_equal(f.result->dropped_packets, 0);
    fixture_free(&f);
}

static void test_each_ingress_settles_at_its_share(void **state)
{
    (void)state;
    settle(8, 2000000, 0.125);
    settle(4, 2000000, 0.125);
    settle(15, 4000000, 0.125);
    settle(8, 2000000, 0.5);
    settle(2, 1000000, 1);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_buffer_never_pauses),
        cmocka_unit_test(test_small_buffer_pauses_and_loses_nothing),
        cmocka_unit_test(test_each_ingress_settles_at_its_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
