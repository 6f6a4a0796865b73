// SPDX-License-Identifier: MIT
// Swift against values computed by hand: target delay, growth, decrease, pacing, loss, idle time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_lab.h"

#define G UINT64_C(1000000000)
#define M UINT64_C(1000000)
#define US PS_PER_US

// A base RTT of 8 us, two links, packets of 1000 B that cost 1250 B: at 100G a packet takes 100 ns
// and the BDP has 100 packets, so the target is 8 + 0.8 + 0.2 us.
static struct cc_flow *flow_new(const char *preset, uint64_t line_bps,
                                const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = line_bps,
                         .base_rtt_ps = 8 * US,
                         .mtu_bytes = 1000,
                         .full_wire_bytes = 1250,
                         .hops = 2};
    return cc_flow_new("swift", preset, &env, changes);
}

// No flow scaling: the target is 9 us for every window. `max_cwnd` packets to start with.
static struct cc_flow *fixed_new(const char *max_cwnd)
{
    const struct cc_preset_value changes[] = {{"fs_range", "0us"}, {"max_cwnd", max_cwnd}, CC_END};
    return flow_new(NULL, 100 * G, changes);
}

static void ack(struct cc_flow *f, ps_t at, ps_t rtt_ps, uint32_t bytes)
{
    struct cc_ack ack = {.now_ps = at, .rtt_ps = rtt_ps, .acked_bytes = bytes};
    cc_flow_ack(f, &ack);
}

static void lose(struct cc_flow *f, ps_t at, enum cc_signal_kind kind)
{
    struct cc_signal signal = {.now_ps = at, .kind = kind};
    f->cc->ops->on_signal(f->cc, &signal);
}

static void post(struct cc_flow *f, ps_t idle_ps)
{
    struct cc_post post = {.idle_ps = idle_ps};
    f->cc->ops->on_post(f->cc, &post);
}

static void near(double got, double want)
{
    double off = got > want ? got - want : want - got;
    if (off > 1e-6)
        fail_msg("%.9g is not %.9g", got, want);
}

static void expect_cwnd(const struct cc_flow *f, double cwnd)
{
    near(cc_flow_seen(f, "cwnd_pkts"), cwnd);
    assert_int_equal(f->cc->cwnd_bytes, cwnd < 1 ? 1000 : (uint64_t)(cwnd * 1000 + 0.5));
}

static void test_start(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    expect_cwnd(f, 100);
    near(cc_flow_seen(f, "rtt_us"), 8);
    assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
    assert_int_equal(f->cc->ops->needs, 0);
    for (size_t i = 0; i < f->cc->ops->n_presets; i++)
        assert_false(f->cc->ops->presets[i].profile.ecn);
    cc_flow_free(f);
}

// Default targets; a window of w packets adds 40 us (1/sqrt(w) - 1/10) / (sqrt(10) - 1/10).
static void test_scaled_targets(void **state)
{
    (void)state;
    static const struct {
        uint64_t line_bps;
        double cwnd, target_us;
    } rows[] = {
        {25 * G, 25, 13.306217}, // packets of 400 ns: 8 + 3.2 + 0.8 and 40 * 0.1 / 3.0622777
        {100 * G, 100, 9},       // from 100 packets on flow scaling adds nothing
        {800 * G, 800, 8.125},   // packets of 12.5 ns: 8 + 0.1 + 0.025
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cc_flow *f = flow_new(NULL, rows[i].line_bps, NULL);
        assert_int_equal(f->cc->rate_bps, rows[i].line_bps);
        expect_cwnd(f, rows[i].cwnd);
        near(cc_flow_seen(f, "target_us"), rows[i].target_us);
        cc_flow_free(f);
    }
}

// With bounds 1 and 4 and a range of 6 us: 12 us / sqrt(w) - 6 us, within [0, 6].
static void test_flow_scaling(void **state)
{
    (void)state;
    static const struct {
        const char *cwnd;
        double target_us;
    } rows[] = {
        {"1", 15}, {"1.7777777777777777", 12}, {"2.25", 11}, {"4", 9}, {"5", 9}, {"0.25", 15},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct cc_preset_value changes[] = {{"fs_min_cwnd", "1"},
                                                  {"fs_max_cwnd", "4"},
                                                  {"fs_range", "6us"},
                                                  {"max_cwnd", rows[i].cwnd},
                                                  CC_END};
        struct cc_flow *f = flow_new(NULL, 100 * G, changes);
        near(cc_flow_seen(f, "target_us"), rows[i].target_us);
        cc_flow_free(f);
    }
}

static void test_target_of_base_and_hops(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {
        {"base_target", "11us"}, {"hop_scale", "1500ns"}, {"fs_range", "0us"}, CC_END};
    struct cc_env env = {.line_bps = 100 * G,
                         .base_rtt_ps = 8 * US,
                         .mtu_bytes = 1000,
                         .full_wire_bytes = 1250,
                         .hops = 6};
    struct cc_flow *f = cc_flow_new("swift", NULL, &env, changes);
    near(cc_flow_seen(f, "target_us"), 20);
    cc_flow_free(f);
    f = cc_flow_new("swift", NULL, &env, NULL); // + 8 and 6 packets
    near(cc_flow_seen(f, "target_us"), 9.4);
    cc_flow_free(f);
}

static void test_growth(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("104");
    ack(f, 0, 9 * US - 1, 1000); // one packet: 1 / 100
    expect_cwnd(f, 100.01);
    near(cc_flow_seen(f, "rtt_us"), 8.999999);
    ack(f, 0, 8 * US, 50005); // half a window: 50.005 / 100.01
    expect_cwnd(f, 100.51);
    ack(f, 0, 8 * US, 0);
    expect_cwnd(f, 100.51);
    for (int i = 0; i < 10; i++)
        ack(f, 0, 8 * US, 100000);
    expect_cwnd(f, 104);
    cc_flow_free(f);

    static const struct cc_preset_value faster[] = {{"ai", "2.5"}, CC_END};
    f = flow_new(NULL, 100 * G, faster);
    ack(f, 0, 8 * US, 24); // 100.0006 packets: to the nearest byte
    assert_int_equal(f->cc->cwnd_bytes, 100001);
    cc_flow_free(f);
    f = flow_new(NULL, 100 * G, faster);
    ack(f, 0, 8 * US, 4000);
    expect_cwnd(f, 100.1);
    for (int i = 0; i < 30; i++)
        ack(f, 0, 8 * US, 100000);
    expect_cwnd(f, 112.5); // auto: a BDP times 9/8
    ack(f, 0, 0, 1000);    // no RTT, no sample
    near(cc_flow_seen(f, "rtt_us"), 8);
    cc_flow_free(f);
}

static void test_decrease(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("1000");
    ack(f, 0, 18 * US, 1000); // 1 - 0.8 * 9/18
    expect_cwnd(f, 60);
    cc_flow_free(f);
    f = fixed_new("1000");
    ack(f, 0, 90 * US, 1000); // 1 - 0.8 * 0.9 = 0.28: no less than half
    expect_cwnd(f, 50);
    cc_flow_free(f);
    f = fixed_new("1000");
    ack(f, 0, 24 * US, 1000); // 1 - 0.8 * 15/24: half exactly
    expect_cwnd(f, 50);
    cc_flow_free(f);

    static const struct cc_preset_value gentle[] = {
        {"fs_range", "0us"}, {"beta", "0.2"}, {"max_mdf", "0.16"}, CC_END};
    f = flow_new(NULL, 100 * G, gentle);
    ack(f, 0, 12 * US, 1000); // 1 - 0.2 * 3/12
    expect_cwnd(f, 95);
    ack(f, 100 * US, 90 * US, 1000); // 1 - 0.2 * 0.9 = 0.82: bounded
    expect_cwnd(f, 79.8);
    cc_flow_free(f);
}

static void test_once_per_rtt(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("1000");
    ack(f, 100 * US, 18 * US, 1000);
    expect_cwnd(f, 60);
    ack(f, 118 * US - 1, 18 * US, 1000); // sent before the decrease
    expect_cwnd(f, 60);
    ack(f, 117 * US, 8 * US, 6000); // growth is not limited to once per RTT
    expect_cwnd(f, 60.1);
    ack(f, 118 * US, 18 * US, 1000);
    expect_cwnd(f, 36.06);
    cc_flow_free(f);

    // At the target nothing changes, and a decrease is allowed immediately.
    f = fixed_new("1000");
    ack(f, 100 * US, 9 * US, 1000);
    expect_cwnd(f, 100);
    ack(f, 100 * US + 1, 18 * US, 1000);
    expect_cwnd(f, 60);
    ack(f, 110 * US, 18 * US, 1000); // not allowed; does not delay the next decrease
    ack(f, 118 * US + 1, 18 * US, 1000);
    expect_cwnd(f, 36);
    cc_flow_free(f);
}

static void test_below_one_packet(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("2");
    expect_cwnd(f, 2);
    lose(f, 0, CC_SIGNAL_NACK);
    expect_cwnd(f, 1); // one packet in flight, not paced
    assert_int_equal(f->cc->rate_bps, 100 * G);
    lose(f, 8 * US, CC_SIGNAL_NACK); // before any sample the RTT is the base RTT
    expect_cwnd(f, 0.5);
    assert_int_equal(f->cc->rate_bps, 625 * M); // 1250 B in 8 us / 0.5
    ack(f, 9 * US, 20 * US, 1000); // too early for a decrease, but the pace follows the RTT
    expect_cwnd(f, 0.5);
    assert_int_equal(f->cc->rate_bps, 250 * M); // 1250 B in 20 us / 0.5
    ack(f, 28 * US, 16 * US, 1000);             // 1 - 0.8 * 7/16 = 0.65
    expect_cwnd(f, 0.325);
    assert_int_equal(f->cc->rate_bps, 203125000); // 1250 B in 16 us / 0.325
    ack(f, 29 * US, 8 * US, 500);                 // + ai_below per packet instead of ai / cwnd
    expect_cwnd(f, 0.375);
    for (int i = 0; i < 7; i++)
        ack(f, 30 * US, 8 * US, 1000);
    expect_cwnd(f, 1.075);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    ack(f, 30 * US, 8 * US, 500); // from one packet up ai / cwnd
    expect_cwnd(f, 1.075 + 0.5 / 1.075);
    cc_flow_free(f);
}

static void test_least_window(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("1");
    for (int i = 1; i <= 9; i++)
        ack(f, i * 100 * US, 80 * US, 1000); // 0.5 each
    expect_cwnd(f, 1.0 / 512);
    ack(f, 1000 * US, 80 * US, 1000);
    expect_cwnd(f, 0.001);
    assert_int_equal(f->cc->rate_bps, 125000); // 1250 B in 80 us / 0.001
    ack(f, PS_PER_S, 10 * PS_PER_MS, 1000);    // 1000 b/s
    assert_int_equal(f->cc->rate_bps, 1000);
    ack(f, 9 * PS_PER_S, PS_PER_S, 1000); // 10 b/s would be below the pacer's minimum
    assert_int_equal(f->cc->rate_bps, 1000);
    cc_flow_free(f);

    static const struct cc_preset_value least[] = {{"min_cwnd", "3"}, CC_END};
    f = flow_new(NULL, 100 * G, least);
    for (int i = 1; i <= 9; i++)
        ack(f, i * 100 * US, 80 * US, 1000);
    expect_cwnd(f, 3);
    cc_flow_free(f);

    static const struct cc_preset_value large[] = {{"min_cwnd", "200"}, CC_END};
    f = flow_new(NULL, 100 * G, large); // larger than the window that fills the line
    ack(f, 0, 8 * US, 1000);
    expect_cwnd(f, 200);
    cc_flow_free(f);
}

static void test_loss(void **state)
{
    (void)state;
    struct cc_flow *f = fixed_new("1000");
    lose(f, 0, CC_SIGNAL_CNP);
    expect_cwnd(f, 100);
    lose(f, 10 * US, CC_SIGNAL_NACK);
    expect_cwnd(f, 50);
    lose(f, 18 * US - 1, CC_SIGNAL_NACK); // within a base RTT
    expect_cwnd(f, 50);
    lose(f, 18 * US, CC_SIGNAL_DUPACK);
    expect_cwnd(f, 25);
    ack(f, 30 * US, 30 * US, 1000); // too early: 12 of 30 us
    lose(f, 48 * US - 1, CC_SIGNAL_NACK);
    expect_cwnd(f, 25);
    lose(f, 48 * US, CC_SIGNAL_NACK); // an RTT is now 30 us
    expect_cwnd(f, 12.5);
    ack(f, 77 * US, 18 * US, 1000); // delay and loss share the limit of once per RTT: 1 - 0.4
    expect_cwnd(f, 7.5);
    cc_flow_free(f);
}

static void test_timeouts(void **state)
{
    (void)state;
    static const struct cc_preset_value third[] = {{"fs_range", "0us"}, {"rto_reset", "3"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, third);
    lose(f, 1000 * US, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 50);
    lose(f, 1001 * US, CC_SIGNAL_TIMEOUT); // within an RTT
    expect_cwnd(f, 50);
    ack(f, 1002 * US, 9 * US - 1, 0); // any ACK resets the count
    lose(f, 2000 * US, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 25);
    lose(f, 2001 * US, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 25);
    lose(f, 2002 * US, CC_SIGNAL_NACK); // so does a NACK, which comes from the receiver
    lose(f, 2003 * US, CC_SIGNAL_TIMEOUT);
    lose(f, 2004 * US, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 25);
    lose(f, 2005 * US, CC_SIGNAL_TIMEOUT); // the third in a row, although within an RTT
    expect_cwnd(f, 0.001);
    cc_flow_free(f);

    f = fixed_new("1000");
    for (int i = 1; i <= 4; i++)
        lose(f, i * PS_PER_S, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 6.25);
    lose(f, 5 * PS_PER_S, CC_SIGNAL_TIMEOUT);
    expect_cwnd(f, 0.001);
    cc_flow_free(f);
}

static void test_idle(void **state)
{
    (void)state;
    static const struct cc_preset_value third[] = {{"rto_reset", "3"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, third);
    ack(f, 100 * US, 90 * US, 1000);
    expect_cwnd(f, 50);
    lose(f, 101 * US, CC_SIGNAL_TIMEOUT);
    lose(f, 101 * US, CC_SIGNAL_TIMEOUT);
    post(f, 8 * US); // one base RTT: the samples remain valid
    near(cc_flow_seen(f, "rtt_us"), 90);
    post(f, 8 * US + 1);
    near(cc_flow_seen(f, "rtt_us"), 8);
    expect_cwnd(f, 50);
    lose(f, 102 * US, CC_SIGNAL_TIMEOUT); // not the third
    expect_cwnd(f, 50);
    lose(f, 108 * US, CC_SIGNAL_NACK); // one base RTT after the decrease
    expect_cwnd(f, 25);
    post(f, 1000 * PS_PER_S); // auto: never restarts with a BDP
    expect_cwnd(f, 25);
    cc_flow_free(f);

    static const struct cc_preset_value restart[] = {{"idle_restart", "70us"}, CC_END};
    f = flow_new(NULL, 100 * G, restart);
    ack(f, 100 * US, 90 * US, 1000);
    post(f, 70 * US - 1);
    expect_cwnd(f, 50);
    post(f, 70 * US);
    expect_cwnd(f, 100);
    ack(f, 101 * US, 90 * US, 1000); // no earlier decrease to wait for
    expect_cwnd(f, 50);
    cc_flow_free(f);
}

static void test_htsim(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("htsim", 100 * G, NULL);
    expect_cwnd(f, 100);
    near(cc_flow_seen(f, "target_us"), 26.10687); // 20 + 2 * 20 / 6.55
    ack(f, 0, 26 * US, 2000);
    expect_cwnd(f, 100.02);
    for (int i = 0; i < 2000; i++)
        ack(f, 0, 8 * US, 1000000);
    expect_cwnd(f, 1000);
    for (int i = 1; i <= 16; i++)
        ack(f, i * PS_PER_MS, 900 * US, 1000);
    near(cc_flow_seen(f, "target_us"), 126.10687); // below 0.1 packets: + 100 us
    cc_flow_free(f);
}

// The message of the check for the defaults with two changes; a flow cannot start if there is one.
static const char *check_of(const struct cc_preset_value changes[2])
{
    const struct cc_ops *ops = cc_find("swift");
    void *params = calloc(1, ops->params_bytes);
    struct err err = {0};
    assert_int_equal(cc_params_init(ops, NULL, params), 0);
    for (int i = 0; i < 2; i++) {
        struct param param = param_find(ops->params, ops->n_params, changes[i].param);
        param_set(&param, params, changes[i].value, changes[i].param, &err);
    }
    assert_int_equal(err.n_errors, 0);
    const char *why = ops->check(params);
    free(params);
    return why;
}

static void test_check(void **state)
{
    (void)state;
    static const struct cc_preset_value equal[] = {{"fs_min_cwnd", "7"}, {"fs_max_cwnd", "7"}};
    static const struct cc_preset_value apart[] = {{"fs_min_cwnd", "7"}, {"fs_max_cwnd", "7.1"}};
    static const struct cc_preset_value narrow[] = {{"min_cwnd", "4"}, {"max_cwnd", "3.9"}};
    static const struct cc_preset_value one[] = {{"min_cwnd", "3"}, {"max_cwnd", "3"}};
    assert_string_equal(check_of(equal), "fs_min_cwnd must be below fs_max_cwnd");
    assert_null(check_of(apart));
    assert_string_equal(check_of(narrow), "min_cwnd must not be above max_cwnd");
    assert_null(check_of(one));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),        cmocka_unit_test(test_scaled_targets),
        cmocka_unit_test(test_flow_scaling), cmocka_unit_test(test_target_of_base_and_hops),
        cmocka_unit_test(test_growth),       cmocka_unit_test(test_decrease),
        cmocka_unit_test(test_once_per_rtt), cmocka_unit_test(test_below_one_packet),
        cmocka_unit_test(test_least_window), cmocka_unit_test(test_loss),
        cmocka_unit_test(test_timeouts),     cmocka_unit_test(test_idle),
        cmocka_unit_test(test_htsim),        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
