// SPDX-License-Identifier: MIT
// What the TIMELY policies share, tested with timely: samples, steps, limits, idle time, window
// cap.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/timely_lab.h"

static struct cc_flow *flow_new(const char *preset, uint64_t line_bps,
                                const struct cc_preset_value *changes)
{
    return timely_flow("timely", preset, line_bps, changes);
}

static struct cc_flow *plain_new(uint64_t line_bps)
{
    static const struct cc_preset_value plain[] = {TIMELY_PLAIN, CC_END};
    return flow_new(NULL, line_bps, plain);
}

static void test_first_sample_is_the_reference(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 900 * US); // far above t_high
    assert_int_equal(f->cc->rate_bps, 100 * G);
    timely_near(cc_flow_seen(f, "rtt_us"), 900);
    timely_near(cc_flow_seen(f, "gradient"), 0);
    timely_net(f, 900 * US); // 1 - 0.8 (1 - 400/900) = 5/9
    assert_int_equal(f->cc->rate_bps, UINT64_C(55555555556));
    cc_flow_free(f);
}

static void test_bounds(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    for (int i = 0; i < 4; i++)
        timely_net(f, 10 * US);
    assert_int_equal(f->cc->rate_bps, 100 * G); // never above the line
    timely_net(f, 40 * US);                     // g = 0.6: 1 - 0.48
    assert_int_equal(f->cc->rate_bps, 52 * G);
    timely_net(f, 120 * US); // g = 0.3 + 1.6 = 1.9: 1 - 1.52 < 0
    assert_int_equal(f->cc->rate_bps, 100 * M);
    timely_net(f, 200 * US);
    assert_int_equal(f->cc->rate_bps, 100 * M); // line / 1000
    cc_flow_free(f);

    static const struct cc_preset_value halves[] = {TIMELY_PLAIN, {"min_cut", "0.5"}, CC_END};
    f = flow_new(NULL, 100 * G, halves);
    timely_net(f, 40 * US);
    timely_net(f, 120 * US); // g = 1.6: no more than half
    assert_int_equal(f->cc->rate_bps, 50 * G);
    timely_net(f, 4000 * US); // 1 - 0.8 * 0.9 = 0.28: limited to half too
    assert_int_equal(f->cc->rate_bps, 25 * G);
    cc_flow_free(f);

    static const struct cc_preset_value floor[] = {TIMELY_PLAIN, {"min_rate", "30Gbps"}, CC_END};
    f = flow_new(NULL, 20 * G, floor); // a minimum above the line rate is the line rate
    timely_ack(f, 0, 900 * US, 1000);
    timely_ack(f, 0, 900 * US, 1000);
    assert_int_equal(f->cc->rate_bps, 20 * G);
    cc_flow_free(f);
}

static void test_segments(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {TIMELY_PLAIN, {"segment", "16KB"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, changes);
    for (int i = 0; i < 15; i++)
        timely_net(f, 500 * US);
    timely_near(cc_flow_seen(f, "rtt_us"), 0); // 15 KB: no segment yet
    timely_net(f, 600 * US);                   // its last packet is the sample
    timely_near(cc_flow_seen(f, "rtt_us"), 600);
    timely_ack(f, 0, 700 * US, 15999);
    timely_near(cc_flow_seen(f, "rtt_us"), 600);
    timely_ack(f, 0, 500 * US + 100 * NS, 1);
    timely_near(cc_flow_seen(f, "rtt_us"), 500);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    // 40 KB at once: two segments, one sample; 8 KB are left over.
    timely_ack(f, 0, 500 * US + 100 * NS, 40000);
    assert_int_equal(f->cc->rate_bps, 70560 * M);
    timely_ack(f, 0, 500 * US, 7999);
    timely_ack(f, 0, 500 * US, 0); // no progress
    assert_int_equal(f->cc->rate_bps, 70560 * M);
    timely_ack(f, 0, 500 * US + 100 * NS, 1);
    assert_int_equal(f->cc->rate_bps, UINT64_C(59270400000));
    cc_flow_free(f);
}

static void rtt_ack(struct cc_flow *f, uint64_t seq, uint64_t snd_nxt)
{
    struct cc_ack ack = {
        .rtt_ps = 500 * US + 100 * NS, .seq = seq, .snd_nxt = snd_nxt, .acked_bytes = 1000};
    cc_flow_ack(f, &ack);
}

static void test_update_per_rtt(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {TIMELY_PLAIN, {"update", "rtt"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, changes);
    rtt_ack(f, 1000, 9000); // the reference, and the first window: up to 9000
    for (uint64_t seq = 2000; seq <= 9000; seq += 1000)
        rtt_ack(f, seq, 8000 + seq);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    rtt_ack(f, 10000, 18000); // past it
    assert_int_equal(f->cc->rate_bps, 84 * G);
    rtt_ack(f, 18000, 20000);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    rtt_ack(f, 18001, 30000);
    assert_int_equal(f->cc->rate_bps, 70560 * M);
    cc_flow_free(f);
}

static void test_elapsed_steps(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {TIMELY_PLAIN, {"step", "elapsed"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, changes);
    const ps_t high = 500 * US + 100 * NS, low = 20 * US + 100 * NS, mid = 80 * US + 100 * NS;
    timely_ack(f, 0, high, 1000);
    timely_ack(f, 5 * US, high, 1000); // 5 of 25 us: 1 - 0.2 * 0.16
    assert_int_equal(f->cc->rate_bps, 96800 * M);
    timely_ack(f, 30 * US, high, 1000); // 25 us: a full step, 0.84
    assert_int_equal(f->cc->rate_bps, 81312 * M);
    timely_ack(f, 70 * US, high, 1000); // 40 us: at most one step
    assert_int_equal(f->cc->rate_bps, UINT64_C(68302080000));
    timely_ack(f, 80 * US, low, 1000); // 10 of 25: + 0.4 * 200 Mb/s
    assert_int_equal(f->cc->rate_bps, UINT64_C(68382080000));
    for (int i = 1; i <= 20; i++) // 20 * 0.4 * 200 Mb/s; g decays to -9.6 / 2^20
        timely_ack(f, (80 + 10 * i) * US, low, 1000);
    assert_int_equal(f->cc->rate_bps, UINT64_C(69982080000));
    // The gradient's decrease is not scaled: 1 us after the last sample, g = 0.5 * 60/25 = 1.2, 1 -
    // 0.96.
    timely_ack(f, 281 * US, mid, 1000);
    timely_near(cc_flow_seen(f, "gradient"), 1.2 - 9.6 / (1 << 21));
    assert_in_range(f->cc->rate_bps, 2799 * M, 2800 * M);
    cc_flow_free(f);
}

static void test_idle(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 500 * US);
    timely_net(f, 500 * US); // 84G
    for (int i = 0; i < 3; i++)
        timely_net(f, 100 * US); // g = -8, -4, -2; four in a row
    const uint64_t rate = 84 * G + 600 * M;
    assert_int_equal(f->cc->rate_bps, rate);
    timely_post(f, 8 * US); // one base RTT: samples remain valid
    timely_near(cc_flow_seen(f, "gradient"), -2);
    timely_near(cc_flow_seen(f, "streak"), 4);
    timely_near(cc_flow_seen(f, "rtt_us"), 100);
    timely_post(f, 8 * US + 1); // the rate is kept, the samples are dropped
    assert_int_equal(f->cc->rate_bps, rate);
    timely_near(cc_flow_seen(f, "gradient"), 0);
    timely_near(cc_flow_seen(f, "streak"), 0);
    timely_near(cc_flow_seen(f, "rtt_us"), 0);
    timely_net(f, 50 * US); // the reference
    assert_int_equal(f->cc->rate_bps, rate);
    timely_net(f, 60 * US); // g = 0.5 * 10/25 = 0.2
    assert_int_equal(f->cc->rate_bps, rate / 100 * 84);
    timely_post(f, 1000 * PS_PER_S); // auto: never restarts at line rate
    assert_int_equal(f->cc->rate_bps, rate / 100 * 84);
    cc_flow_free(f);

    static const struct cc_preset_value restart[] = {
        TIMELY_PLAIN, {"segment", "2KB"}, {"idle_restart", "300us"}, CC_END};
    f = flow_new(NULL, 100 * G, restart);
    for (int i = 0; i < 5; i++)
        timely_net(f, 500 * US);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    timely_post(f, 300 * US - 1);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    timely_post(f, 300 * US);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    timely_near(cc_flow_seen(f, "rtt_us"), 0);
    timely_net(f, 500 * US); // the bytes of the unfinished segment are dropped too
    timely_near(cc_flow_seen(f, "rtt_us"), 0);
    cc_flow_free(f);
}

static void test_window_cap(void **state)
{
    (void)state;
    static const struct cc_preset_value scales[] = {
        TIMELY_PLAIN, {"window_bdp", "1.5"}, {"window_scales", "true"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, scales);
    assert_int_equal(f->cc->cwnd_bytes, 150000); // 1.5 * 100 Gb/s * 8 us
    timely_net(f, 500 * US);
    timely_net(f, 500 * US);
    assert_int_equal(f->cc->cwnd_bytes, 126000); // 84 %
    cc_flow_free(f);

    static const struct cc_preset_value fixed[] = {TIMELY_PLAIN, {"window_bytes", "77KB"}, CC_END};
    f = flow_new(NULL, 100 * G, fixed);
    timely_net(f, 500 * US);
    timely_net(f, 500 * US);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    assert_int_equal(f->cc->cwnd_bytes, 77000);
    cc_flow_free(f);
}

// min_rtt is 20 us on a short path and the base RTT on a long one.
static void test_min_rtt_auto(void **state)
{
    (void)state;
    const ps_t base[] = {8 * US, 20 * US, 32 * US};
    const double gradient[] = {0.4375, 0.4375, 0.2734375}; // 0.875 * 10 us / min_rtt
    for (size_t i = 0; i < 3; i++) {
        struct cc_env env = {.line_bps = 100 * G,
                             .base_rtt_ps = base[i],
                             .mtu_bytes = 1000,
                             .full_wire_bytes = 1250};
        struct cc_flow *f = cc_flow_new("timely", NULL, &env, NULL);
        timely_ack(f, 0, 200 * US, 16000);
        timely_ack(f, 50 * US, 210 * US, 16000);
        timely_near(cc_flow_seen(f, "gradient"), gradient[i]);
        cc_flow_free(f);
    }
}

static void test_check(void **state)
{
    (void)state;
    static const struct cc_preset_value equal[] = {{"t_low", "500us"}, CC_END};
    static const struct cc_preset_value over[] = {{"t_low", "501us"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, equal);
    assert_null(f->cc->ops->check(f->params));
    cc_flow_free(f);
    f = flow_new(NULL, 100 * G, over);
    assert_string_equal(f->cc->ops->check(f->params), "t_low must not be above t_high");
    cc_flow_free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_sample_is_the_reference),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_update_per_rtt),
        cmocka_unit_test(test_elapsed_steps),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_window_cap),
        cmocka_unit_test(test_min_rtt_auto),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
