// SPDX-License-Identifier: MIT
// The equilibrium of n long Swift flows (preset `scaled`) at one bottleneck: their RTT d equals the
// target of their window, t(c), and their windows fill the path, n c L = C d (L wire bytes of a
// packet, C the line rate). For windows of at least one packet bytes in flight are the window
// rounded up, on average half a packet more: n (c + 1/2) L = C d; smaller windows are paced. The
// target is computed here from the parameters' help: base RTT + 8 packets + one packet per link,
// plus flow scaling, min(5 base RTTs, alpha/sqrt(c) + beta), which is 0 at 100 packets and maximal
// at 0.1. The queue is C (d - base RTT).
//
// The windows oscillate about the equilibrium: while the delay is below the target all flows add a
// step, ai packets per RTT (below one packet ai_below per packet), which takes effect one RTT
// later, and the excess above the target decreases by beta = 0.8 per RTT. So the queue oscillates
// by up to n steps, and its mean is at most half of them above the equilibrium: x, 0.2 x, 0.04 x,
// and then a step again. The test checks this range, with 2 % for sampling.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

struct point {
    unsigned flows;
    double gbps, delay_us; // two links on the path
    uint32_t mtu;
    double ms;
};

struct swift_path {
    double base_us, packet_us, n, c_bytes_us, wire;
};

static double target_us(const struct swift_path *p, double c)
{
    double range = 5 * p->base_us, alpha = range / (1 / sqrt(.1) - 1 / sqrt(100));
    double scaling = alpha / sqrt(c) - alpha / sqrt(100);
    scaling = scaling < 0 ? 0 : scaling > range ? range : scaling;
    return p->base_us + 8 * p->packet_us + 2 * p->packet_us + scaling;
}

// The window of flows whose RTT is d.
static double window_at(const struct swift_path *p, double d_us)
{
    double packets = p->c_bytes_us * d_us / p->wire / p->n;
    return packets - .5 >= 1 ? packets - .5 : packets < 1 ? packets : 1;
}

static double equilibrium_us(const struct swift_path *p)
{
    double low = p->base_us, high = 20 * p->base_us;
    for (int i = 0; i < 100; i++) {
        double mid = (low + high) / 2;
        if (target_us(p, window_at(p, mid)) > mid)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static void check(const struct point *pt)
{
    struct fixture f;
    fixture_switch(&f, pt->flows + 1, (uint64_t)(pt->gbps * 1e9), (ps_t)(pt->delay_us * 1e6));
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = pt->mtu;
    f.spec.dims[0].transport.start_jitter_ps = 3 * PS_PER_US;
    fixture_cc(&f, "swift", NULL, NULL);
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(&f, i, pt->flows, UINT64_C(1000000000000), 0);
    f.spec.duration_ps = (ps_t)(pt->ms * 1e9);
    static char place[32];
    static const char *at[] = {place};
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    f.spec.report.sample_ps = PS_PER_US;
    f.spec.report.sample_at = at;
    f.spec.report.n_sample_at = 1;
    fixture_run(&f);
    const struct series *s = f.result->series;
    size_t from = s->n_samples / 2;
    double mean = 0, high = 0;
    for (size_t i = from; i < s->n_samples; i++) {
        double queue = s->lines[SERIES_QUEUE][0].values[i];
        mean += queue / (double)(s->n_samples - from);
        high = queue > high ? queue : high;
    }
    const struct cc_env *env = sender_env(f.sim->fabric.hosts.senders[0]);
    struct swift_path p = {(double)env->base_rtt_ps * 1e-6, env->full_wire_bytes * 8e-3 / pt->gbps,
                           pt->flows, pt->gbps * 1e3 / 8, env->full_wire_bytes};
    double d = equilibrium_us(&p), c = window_at(&p, d),
           equilibrium = p.c_bytes_us * (d - p.base_us);
    double step = p.n * p.wire * (c < 1 ? 0.1 : 1);
    const struct port *port =
        &f.sim->fabric.net.ports[node_port(&f.sim->fabric.net, pt->flows + 1, pt->flows)];
    double used = (double)port->tx_bytes * 8 / (pt->ms * 1e-3) / (pt->gbps * 1e9);
    print_message("%3.0fG, %2.0f us, MTU %4u, N %3u: queue %6.1f KB (to %6.1f), theory %6.1f to "
                  "%6.1f KB, windows of %.2f packets, used %.4f\n",
                  pt->gbps, p.base_us, pt->mtu, pt->flows, mean / 1e3, high / 1e3,
                  equilibrium / 1e3, (equilibrium + step / 2) / 1e3, c, used);
    assert_int_equal(f.result->pause_frames, 0);
    assert_true(mean > equilibrium * 0.98);
    assert_true(mean < (equilibrium + step / 2) * 1.02);
    assert_true(used > 0.98);
    fixture_free(&f);
}

static void test_equilibrium(void **state)
{
    (void)state;
    static const struct point points[] = {
        {4, 100, 1, 4096, 5},   {16, 100, 1, 4096, 5},  {64, 100, 1, 4096, 10},
        {96, 100, 1, 4096, 10}, {4, 100, 1, 1000, 5},   {32, 100, 1, 1000, 5},
        {8, 400, 1, 4096, 3},   {16, 400, 1, 1000, 3},  {16, 800, 1, 4096, 3},
        {4, 800, 1, 4096, 3},   {16, 800, .5, 1000, 3}, {2, 25, 5, 1000, 10},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        check(&points[i]);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equilibrium),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
