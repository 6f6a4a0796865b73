// SPDX-License-Identifier: MIT
// PowerTCP by round-trip times against values computed by hand: power, window, least current, idle
// time. (Start of a flow and limits of the window: tests/cc/test_powertcp.c.)
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_lab.h"

#define G UINT64_C(1000000000)
#define US PS_PER_US

// A base RTT of 8 us at 100G: a BDP of 100 000 wire bytes.
static struct cc_flow *by_delay(const struct cc_preset_value *changes)
{
    struct cc_env env = {
        .line_bps = 100 * G, .base_rtt_ps = 8 * US, .mtu_bytes = 1000, .full_wire_bytes = 1000};
    return cc_flow_new("powertcp_delay", NULL, &env, changes);
}

static void expect(const struct cc_flow *f, double sample, double power)
{
    assert_true(fabs(cc_flow_seen(f, "sample") - sample) < 1e-12);
    assert_true(fabs(cc_flow_seen(f, "power") - power) < 1e-12);
}

static void expect_window(const struct cc_flow *f, double wire_bytes, uint64_t cwnd_bytes,
                          uint64_t rate_bps)
{
    assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - wire_bytes) < 1e-6);
    assert_int_equal(f->cc->cwnd_bytes, cwnd_bytes);
    assert_int_equal(f->cc->rate_bps, rate_bps);
}

static void post_after(struct cc_flow *f, ps_t idle_ps)
{
    struct cc_post post = {.idle_ps = idle_ps};
    f->cc->ops->on_post(f->cc, &post);
}

static void rtt(struct cc_flow *f, ps_t now_ps, ps_t rtt_ps, uint64_t una, uint64_t nxt)
{
    struct cc_ack ack = {
        .now_ps = now_ps, .rtt_ps = rtt_ps, .seq = una, .snd_una = una, .snd_nxt = nxt};
    cc_flow_ack(f, &ack);
}

static void test_power_of_a_delay(void **state)
{
    (void)state;
    struct cc_flow *f = by_delay(NULL);
    rtt(f, 100 * US, 8 * US, 1, 1000000); // a reference only
    expect(f, 1, 1);
    rtt(f, 101 * US, 9 * US, 2, 1000000); // rises 1 us in 1 us: (1 + 1) * 9/8
    expect(f, 2.25, (7 + 2.25) / 8);
    double power = (7 + 2.25) / 8;
    rtt(f, 101 * US, 12 * US, 3, 1000000); // the same time as before
    expect(f, 2.25, power);
    rtt(f, 103 * US, 10 * US, 4, 1000000); // (1/2 + 1) * 10/8
    power = (power * 6 + 1.875 * 2) / 8;
    expect(f, 1.875, power);
    rtt(f, 104 * US, 8 * US, 5, 1000000); // falls 2 us in 1 us: (-2 + 1) * 1
    power = (power * 7 - 1) / 8;
    expect(f, -1, power);
    rtt(f, 124 * US, 12 * US, 6, 1000000); // longer than tau: all of the weight; 1.2 * 1.5
    expect(f, 1.8, 1.8);
    expect_window(f, 100000, 100000, 100 * G);
    cc_flow_free(f);
}

static void test_window_by_delay(void **state)
{
    (void)state;
    struct cc_flow *f = by_delay(NULL);
    rtt(f, 100 * US, 16 * US, 1000, 100000); // the round trip ends past 100 000
    rtt(f, 110 * US, 16 * US, 100000, 200000);
    expect(f, 2, 2);
    expect_window(f, 100000, 100000, 100 * G);
    rtt(f, 120 * US, 16 * US, 100001, 200001); // .9 (100 000/2 + 10 000) + 10 000
    expect_window(f, 64000, 64000, 64 * G);
    rtt(f, 130 * US, 16 * US, 200001, 264001);
    expect_window(f, 64000, 64000, 64 * G);
    rtt(f, 140 * US, 16 * US, 200002, 264002); // .9 (32 000 + 10 000) + 6400
    expect_window(f, 44200, 44200, UINT64_C(44200000000));
    cc_flow_free(f);
}

// A drain at full speed measures zero current; half the current is used instead, with the voltage
// of that RTT.
static void test_least_current(void **state)
{
    (void)state;
    static const struct cc_preset_value wide[] = {{"max_window", "1000"}, CC_END};
    static const struct cc_preset_value third[] = {
        {"max_window", "1000"}, {"min_current", "0.3"}, CC_END};
    static const struct cc_preset_value paper[] = {
        {"max_window", "1000"}, {"min_current", "0"}, CC_END};
    static const struct {
        const struct cc_preset_value *changes;
        double window_bytes;
    } cases[] = {
        {wide, 0.9 * (100000 / 0.75 + 10000) + 10000}, // at 12 us: .5 * 1.5
        {third, 0.9 * (100000 / 0.6 + 10000) + 10000}, // .6 was measured, which is more
        {paper, 0.9 * (100000 / 0.6 + 10000) + 10000},
    };
    for (size_t i = 0; i < 3; i++) {
        struct cc_flow *f = by_delay(cases[i].changes);
        rtt(f, 100 * US, 18 * US, 1, 2);
        rtt(f, 110 * US, 12 * US, 3, 4); // falls 6 us in 10: .4 * 1.5
        expect(f, 0.6, 0.6);
        assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - cases[i].window_bytes) < 1e-6);
        cc_flow_free(f);
    }
}

static void test_pauses_by_delay(void **state)
{
    (void)state;
    static const struct cc_preset_value restart[] = {{"idle_restart", "100us"}, CC_END};
    for (int with = 0; with < 2; with++) {
        struct cc_flow *f = by_delay(with ? restart : NULL);
        rtt(f, 100 * US, 16 * US, 1, 2);
        rtt(f, 110 * US, 16 * US, 3, 4);
        expect_window(f, 64000, 64000, 64 * G);
        post_after(f, 8 * US);
        rtt(f, 120 * US, 20 * US, 4, 1000); // 1.4 * 2.5
        expect(f, 3.5, 3.5);
        post_after(f, 8 * US + 1);
        rtt(f, 140 * US, 8 * US, 1001, 2000); // a reference, and a round trip begins
        expect(f, 3.5, 3.5);
        rtt(f, 150 * US, 8 * US, 2000, 3000);
        expect(f, 1, 1);
        expect_window(f, 64000, 64000, 64 * G);
        post_after(f, with ? 100 * US : 1000 * PS_PER_S);
        expect_window(f, with ? 100000 : 64000, with ? 100000 : 64000, with ? 100 * G : 64 * G);
        rtt(f, 1000 * US, 16 * US, 3000, 4000);
        expect(f, 1, 1);
        cc_flow_free(f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_power_of_a_delay),
        cmocka_unit_test(test_window_by_delay),
        cmocka_unit_test(test_least_current),
        cmocka_unit_test(test_pauses_by_delay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
