// SPDX-License-Identifier: MIT
// TIMELY against values computed by hand: each zone, hyperactive increase, presets.
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

static void test_start(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    assert_true(f->cc->cwnd_bytes == CC_UNLIMITED);
    assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
    assert_int_equal(f->cc->ops->needs, CC_NEEDS_PACING);
    for (size_t i = 0; i < f->cc->ops->n_presets; i++)
        assert_false(f->cc->ops->presets[i].profile.ecn);
    timely_near(cc_flow_seen(f, "rtt_us"), 0);
    cc_flow_free(f);
}

static void test_above_t_high(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 500 * US);
    timely_net(f, 500 * US); // 1 - 0.8 (1 - 400/500) = 0.84
    assert_int_equal(f->cc->rate_bps, 84 * G);
    timely_net(f, 640 * US); // 1 - 0.8 (1 - 400/640) = 0.7
    assert_int_equal(f->cc->rate_bps, 58800 * M);
    timely_net(f, 500 * US); // still above, though g < 0: 0.84
    assert_true(cc_flow_seen(f, "gradient") < 0);
    assert_int_equal(f->cc->rate_bps, 49392 * M);
    cc_flow_free(f);
}

static void test_gradient(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 100 * US);
    timely_net(f, 110 * US); // g = 0.5 * 10/25 = 0.2: R (1 - 0.16)
    timely_near(cc_flow_seen(f, "gradient"), 0.2);
    assert_int_equal(f->cc->rate_bps, 84 * G);
    timely_net(f, 112 * US); // g = 0.1 + 0.5 * 2/25 = 0.14: R (1 - 0.112)
    timely_near(cc_flow_seen(f, "gradient"), 0.14);
    assert_int_equal(f->cc->rate_bps, 74592 * M);
    timely_net(f, 99 * US); // g = 0.07 - 0.5 * 13/25 = -0.19: + delta
    timely_near(cc_flow_seen(f, "gradient"), -0.19);
    assert_int_equal(f->cc->rate_bps, 74792 * M);
    timely_net(f, 101 * US); // the RTT grows, its average still falls: g = -0.095 + 0.04
    timely_near(cc_flow_seen(f, "gradient"), -0.055);
    assert_int_equal(f->cc->rate_bps, 74992 * M);
    timely_post(f, 100 * US); // a new reference, so that g can be 0 exactly: + delta
    timely_net(f, 101 * US);
    timely_net(f, 101 * US);
    assert_true(cc_flow_seen(f, "gradient") == 0);
    assert_int_equal(f->cc->rate_bps, 75192 * M);
    cc_flow_free(f);
}

static void test_equality_with_thresholds(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 480 * US);
    timely_net(f, 480 * US); // 1 - 0.8 / 6 = 13/15
    assert_int_equal(f->cc->rate_bps, UINT64_C(86666666667));
    timely_net(f, 400 * US); // t_high itself is between the thresholds: g < 0, + delta
    assert_int_equal(f->cc->rate_bps, UINT64_C(86866666667));
    timely_net(f, 400 * US + 1); // a decrease of 0.8 / (4e8 + 1), although g < 0
    assert_int_equal(f->cc->rate_bps, UINT64_C(86866666493));
    cc_flow_free(f);

    f = plain_new(100 * G);
    timely_net(f, 500 * US);
    timely_net(f, 500 * US); // 84G
    timely_net(f, 20 * US);  // g = -9.6
    for (int i = 0; i < 12; i++)
        timely_net(f, 20 * US); // below: 13 increases; g decays to -9.6 / 2^12
    assert_int_equal(f->cc->rate_bps, 84 * G + 13 * 200 * M);
    timely_net(f, 40 * US - 1); // below t_low the rate grows though g > 0
    assert_true(cc_flow_seen(f, "gradient") > 0.3);
    assert_int_equal(f->cc->rate_bps, 84 * G + 14 * 200 * M);
    timely_net(f, 40 * US); // from t_low on the gradient decides
    assert_true(f->cc->rate_bps < 84 * G);
    cc_flow_free(f);
}

static void test_hyperactive_increase(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 800 * US);
    timely_net(f, 800 * US); // 0.6
    timely_net(f, 800 * US); // 0.6: 36G
    assert_int_equal(f->cc->rate_bps, 36 * G);
    timely_net(f, 100 * US); // g <= 0 for the third time: g = 0 twice above t_high, now < 0
    timely_net(f, 100 * US);
    assert_int_equal(f->cc->rate_bps, 36 * G + 2 * 200 * M);
    timely_net(f, 100 * US); // the fifth in a row: N = 5
    assert_int_equal(f->cc->rate_bps, 36 * G + 7 * 200 * M);
    timely_net(f, 100 * US);
    assert_int_equal(f->cc->rate_bps, 36 * G + 12 * 200 * M);
    timely_near(cc_flow_seen(f, "streak"), 6);
    timely_net(f, 30 * US); // below t_low the sample counts, but the increase is not hyperactive
    assert_int_equal(f->cc->rate_bps, 36 * G + 13 * 200 * M);
    timely_near(cc_flow_seen(f, "streak"), 7);
    timely_net(f, 39 * US); // g still < 0
    timely_net(f, 30 * US);
    timely_net(f, 40 * US); // at t_low again with g < 0
    assert_true(cc_flow_seen(f, "gradient") < 0);
    assert_int_equal(f->cc->rate_bps, 36 * G + 20 * 200 * M);
    cc_flow_free(f);
}

static void test_streak_ends(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new(100 * G);
    timely_net(f, 800 * US);
    timely_net(f, 800 * US); // 60G; g = 0: one
    timely_net(f, 200 * US); // two
    timely_net(f, 200 * US); // three
    timely_net(f, 200 * US); // four; g = -3
    assert_int_equal(f->cc->rate_bps, 60 * G + 3 * 200 * M);
    timely_net(f, 380 * US); // g = -1.5 + 3.6 = 2.1 > 0
    timely_near(cc_flow_seen(f, "streak"), 0);
    assert_int_equal(f->cc->rate_bps, 100 * M);
    timely_net(f, 180 * US); // g = 1.05 - 4 < 0: a new one
    for (int i = 0; i < 3; i++)
        timely_net(f, 180 * US);
    assert_int_equal(f->cc->rate_bps, 900 * M);
    timely_net(f, 180 * US);
    assert_int_equal(f->cc->rate_bps, 1900 * M);
    cc_flow_free(f);

    static const struct cc_preset_value other[] = {
        TIMELY_PLAIN, {"hai_after", "2"}, {"hai_factor", "2.5"}, CC_END};
    f = flow_new(NULL, 100 * G, other);
    timely_net(f, 800 * US);
    timely_net(f, 800 * US); // 60G
    timely_net(f, 200 * US); // the second: 2.5 * 200 Mb/s
    assert_int_equal(f->cc->rate_bps, 60500 * M);
    cc_flow_free(f);
}

// The default preset on a line: thresholds 58 and 508 us without the packet's serialization.
static void check_scaled(uint64_t line_bps, ps_t packet_ps, uint64_t delta_bps)
{
    ps_t at = 0;
    struct cc_flow *f = flow_new(NULL, line_bps, NULL);
    timely_segments(f, 2, &at, 635 * US + packet_ps); // 1 - 0.8 (1 - 508/635) = 0.84
    uint64_t rate_bps = line_bps / 100 * 84;
    assert_int_equal(f->cc->rate_bps, rate_bps);
    timely_segments(f, 1, &at, 508 * US + packet_ps); // t_high: grows
    assert_int_equal(f->cc->rate_bps, rate_bps += delta_bps);
    timely_segments(f, 3, &at, 57 * US + packet_ps);
    assert_int_equal(f->cc->rate_bps, rate_bps += 3 * delta_bps);
    timely_segments(f, 1, &at, 58 * US - 1 + packet_ps); // below t_low: grows, though
    timely_near(cc_flow_seen(f, "gradient"),
                0.875 / 20 * (1 - 1e-6) - (19.73125 + 5.55625 / 8) / 512);
    assert_true(cc_flow_seen(f, "gradient") > 0);
    assert_int_equal(f->cc->rate_bps, rate_bps += delta_bps);
    timely_segments(f, 1, &at, 58 * US + packet_ps); // t_low: shrinks
    assert_true(f->cc->rate_bps < rate_bps);
    for (int i = 1; i <= 20; i++)
        timely_segments(f, 1, &at, i * PS_PER_MS); // 0.5 each at most
    assert_int_equal(f->cc->rate_bps, line_bps / 1000);
    cc_flow_free(f);
}

static void test_scaled_follows_the_line(void **state)
{
    (void)state;
    check_scaled(25 * G, 400 * NS, 25 * M);
    check_scaled(100 * G, 100 * NS, 100 * M);
    check_scaled(800 * G, 25 * NS / 2, 800 * M);
}

static void test_paper(void **state)
{
    (void)state;
    ps_t at = 0;
    const ps_t packet_ps = 500 * NS; // at 20G: delta and thresholds are absolute
    struct cc_flow *f = flow_new("paper", 20 * G, NULL);
    timely_segments(f, 2, &at, 625 * US + packet_ps); // 1 - 0.8 (1 - 500/625) = 0.84
    assert_int_equal(f->cc->rate_bps, 16800 * M);
    timely_segments(f, 3, &at, 60 * US + packet_ps); // g < 0: + 10 Mb/s each
    assert_int_equal(f->cc->rate_bps, 16830 * M);
    timely_segments(f, 1, &at, 50 * US + packet_ps); // at t_low, the fifth in a row: + 50
    assert_int_equal(f->cc->rate_bps, 16880 * M);
    timely_segments(f, 1, &at, 49 * US + packet_ps); // below: + 10
    assert_int_equal(f->cc->rate_bps, 16890 * M);
    timely_segments(f, 1, &at, 90 * US + packet_ps); // g = 0.875 * 41/20 and a trace: 1 - 0.8 g < 0
    timely_near(cc_flow_seen(f, "streak"), 0);
    assert_int_equal(f->cc->rate_bps, 20 * M);
    cc_flow_free(f);
}

// The published values: g changes by 0.02 of each difference, t_low is 0, and five falling RTTs in
// a row make an increase hyperactive, whatever g is.
static void test_snippet(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("snippet", 100 * G, NULL);
    ps_t at = 0;
    uint64_t rate_bps;
    timely_ack(f, at, 1600 * US + 100 * NS, 1000);
    timely_ack(f, at += 20 * US, 1600 * US + 100 * NS, 1000); // 1 - 0.8 (1 - 1000/1600) = 0.7
    assert_int_equal(f->cc->rate_bps, rate_bps = 70 * G);
    timely_ack(f, at += 20 * US, 900 * US + 100 * NS, 1000); // g = -0.02 * 700/20; the first fall
    timely_near(cc_flow_seen(f, "gradient"), -0.7);
    assert_int_equal(f->cc->rate_bps, rate_bps += 100 * M);
    for (int i = 1; i <= 3; i++)
        timely_ack(f, at += 20 * US, (900 - i) * US + 100 * NS, 1000);
    assert_int_equal(f->cc->rate_bps, rate_bps += 300 * M);
    timely_ack(f, at += 20 * US, 896 * US + 100 * NS, 1000); // the fifth: 5 * 100 Mb/s
    assert_int_equal(f->cc->rate_bps, rate_bps += 500 * M);
    timely_ack(f, at += 20 * US, 896 * US + 100 * NS, 1000); // equal: no fall, though g < 0
    assert_true(cc_flow_seen(f, "gradient") < 0);
    timely_near(cc_flow_seen(f, "streak"), 0);
    assert_int_equal(f->cc->rate_bps, rate_bps += 100 * M);
    timely_ack(f, at += 5 * US, PS_PER_US + 100 * NS,
               1000); // a quarter of min_rtt, far below 50 us
    timely_near(cc_flow_seen(f, "streak"), 1);
    assert_int_equal(f->cc->rate_bps, rate_bps += 25 * M);
    for (int i = 0; i < 80; i++) // until a rise of 999 us outweighs it: then R (1 - 0.8 g)
        timely_ack(f, at += 20 * US, (PS_PER_US + 100 * NS) * (i < 79 ? 1 : 1000), 1000);
    double g = cc_flow_seen(f, "gradient");
    assert_true(g > 0.5 && g < 1);
    cc_flow_free(f);
}

static void hpcc_acks(struct cc_flow *f, int n, uint64_t *seq, ps_t net_ps)
{
    for (int i = 0; i < n; i++) {
        struct cc_ack ack = {
            .rtt_ps = net_ps + 100 * NS, .seq = *seq += 1000, .snd_nxt = *seq, .acked_bytes = 1000};
        cc_flow_ack(f, &ack);
    }
}

static void test_hpcc_sim(void **state)
{
    (void)state;
    uint64_t seq = 0;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    hpcc_acks(f, 2, &seq, 625 * US); // 0.84, all at the same time: steps are not scaled
    assert_int_equal(f->cc->rate_bps, 84 * G);
    hpcc_acks(f, 5, &seq, 49 * US); // below t_low: five of 100 Mb/s
    assert_int_equal(f->cc->rate_bps, 84500 * M);
    hpcc_acks(f, 2, &seq, 49 * US); // then 500, here too
    assert_int_equal(f->cc->rate_bps, 85500 * M);
    timely_near(cc_flow_seen(f, "streak"), 7);
    hpcc_acks(f, 1, &seq, 501 * US); // a decrease resets the count: 1 - 0.8 / 501
    timely_near(cc_flow_seen(f, "streak"), 0);
    uint64_t rate_bps = UINT64_C(85363473054);
    assert_int_equal(f->cc->rate_bps, rate_bps);
    hpcc_acks(f, 1, &seq, 50 * US);
    assert_int_equal(f->cc->rate_bps, rate_bps + 100 * M);
    timely_near(cc_flow_seen(f, "streak"), 1);
    hpcc_acks(f, 1, &seq, 499 * US);          // g = 0.125 * -16.9 + 0.875 * 449/20 > 1.25
    assert_int_equal(f->cc->rate_bps, 1 * G); // line / 100
    cc_flow_free(f);

    seq = 0;
    f = flow_new("hpcc_sim", 400 * G, NULL); // scaled to the line
    hpcc_acks(f, 2, &seq, 5000 * US);        // 1 - 0.8 (1 - 500 / 5000.075)
    uint64_t cut = f->cc->rate_bps;
    assert_in_range(cut, 111900 * M, 112100 * M);
    hpcc_acks(f, 1, &seq, 20 * US);
    assert_int_equal(f->cc->rate_bps, cut + 400 * M);
    cc_flow_free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_above_t_high),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_equality_with_thresholds),
        cmocka_unit_test(test_hyperactive_increase),
        cmocka_unit_test(test_streak_ends),
        cmocka_unit_test(test_scaled_follows_the_line),
        cmocka_unit_test(test_paper),
        cmocka_unit_test(test_snippet),
        cmocka_unit_test(test_hpcc_sim),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
