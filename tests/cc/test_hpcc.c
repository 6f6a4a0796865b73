// SPDX-License-Identifier: MIT
// HPCC against values computed by hand: the measurement of a hop, the average, both kinds of window
// updates, commits, invalid telemetry, presets, idle restart.
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

// 100 Gb/s * 8 us = 100,000 B; W_AI = 100,000 * 0.05 / 100 = 50 B, which is also the minimum of
// 0.05 packets. Wire bytes equal payload unless a test states otherwise.
static const struct cc_env env = {.line_bps = 100 * G,
                                  .base_rtt_ps = 8 * US,
                                  .global_rtt_ps = 16 * US,
                                  .mtu_bytes = 1000,
                                  .full_wire_bytes = 1000,
                                  .hops = 2};

static struct int_hop hop(ps_t t_ps, uint64_t tx_bytes, uint32_t queue)
{
    return (struct int_hop){t_ps, tx_bytes, 100 * G, queue, 7, 0};
}

static void acked(struct cc_flow *f, const struct int_hop *hops, uint8_t n, uint64_t seq,
                  uint64_t nxt)
{
    const struct cc_ack ack = {.now_ps = hops[0].t_ps + US,
                               .seq = seq,
                               .snd_una = seq,
                               .snd_nxt = nxt,
                               .acked_bytes = 1000,
                               .hops = hops,
                               .n_hops = n};
    cc_flow_ack(f, &ack);
}

static void one(struct cc_flow *f, struct int_hop h, uint64_t seq, uint64_t nxt)
{
    acked(f, &h, 1, seq, nxt);
}

// A flow whose first ACK (of byte 1000, 50,000 sent) has set the reference: time 0, nothing sent.
static struct cc_flow *begun(const char *preset, const struct cc_preset_value *changes)
{
    struct cc_flow *f = cc_flow_new("hpcc", preset, &env, changes);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    one(f, hop(0, 0, 20000), 1000, 50000);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    return f;
}

static void expect_util(const struct cc_flow *f, double util)
{
    assert_true(fabs(cc_flow_seen(f, "util") - util) < 1e-12);
}

static void test_divides_from_the_committed_window(void **state)
{
    (void)state;
    struct cc_flow *f = begun(NULL, NULL);
    // 50,000 B in 4 us is the line's rate, 20,000 B queued before and after: u = 0.2 + 1, with the
    // weight 4/8: U = 1 + 0.5 * 0.2; W = 100,000 * 0.95 / 1.1 + 50 = 86,413.6.
    one(f, hop(4 * US, 50000, 30000), 2000, 60000);
    expect_util(f, 1.1);
    assert_int_equal(f->cc->cwnd_bytes, 86413);
    assert_int_equal(f->cc->rate_bps, UINT64_C(86413636364)); // W * 8 / 8 us
    assert_true(cc_flow_seen(f, "w_ref_bytes") == 100000);
    // Half the rate and no queue for 2 us: u = 0.5, U = 1.1 + 0.25 * (0.5 - 1.1) = 0.95: not below
    // eta, so divided by 1: W = 100,000 + 50, at most B T.
    one(f, hop(6 * US, 62500, 0), 3000, 61000);
    assert_true(fabs(cc_flow_seen(f, "util") - 0.95) < 1e-12);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    cc_flow_free(f);
}

static void test_commits_once_a_round(void **state)
{
    (void)state;
    struct cc_flow *f = begun(NULL, NULL);
    one(f, hop(4 * US, 50000, 20000), 50000, 90000); // not beyond 50,000: no commit
    assert_true(cc_flow_seen(f, "w_ref_bytes") == 100000);
    one(f, hop(8 * US, 100000, 20000), 51000, 95000); // u = 1.2 again: U = 1.1 + 0.5 * 0.1
    expect_util(f, 1.15);
    double w = 100000 * 0.95 / 1.15 + 50;
    assert_true(fabs(cc_flow_seen(f, "w_ref_bytes") - w) < 1e-6);
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)w);
    one(f, hop(12 * US, 150000, 20000), 95000, 120000); // 95,000 was sent at the commit
    assert_true(fabs(cc_flow_seen(f, "w_ref_bytes") - w) < 1e-6);
    one(f, hop(16 * US, 200000, 20000), 95001, 120000);
    assert_true(cc_flow_seen(f, "w_ref_bytes") < w);
    cc_flow_free(f);
}

// A link at half load (10,000 B in 1.6 us): below eta by far.
static void test_additive_stages(void **state)
{
    (void)state;
    struct cc_flow *f = begun(NULL, NULL);
    one(f, hop(80 * US, 1000000, 100000), 60000, 70000); // u = 1.2, weight 1: U = 1.2
    double w = 100000 * 0.95 / 1.2 + 50;
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)w);
    ps_t t = 80 * US;
    uint64_t sent = 1000000, seq = 70000;
    for (unsigned stage = 1; stage <= 5; stage++) {
        t += 8 * US;
        sent += 50000;
        seq += 1000;
        one(f, hop(t, sent, 0), seq, seq); // U = 0.5
        w += 50;
        assert_int_equal(f->cc->cwnd_bytes, (uint64_t)w);
        assert_true(cc_flow_seen(f, "stage") == stage);
    }
    one(f, hop(t + 8 * US, sent + 50000, 0), seq + 1000, seq + 2000); // the sixth divides by .5/.95
    w = w * 0.95 / 0.5 + 50;
    assert_true(w > 100000); // so large that the line rate limits it
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    assert_true(cc_flow_seen(f, "stage") == 0);
    cc_flow_free(f);
}

static void test_no_stages(void **state)
{
    (void)state;
    static const struct cc_preset_value none[] = {{"max_stage", "0"}, CC_END};
    struct cc_flow *f = begun(NULL, none);
    one(f, hop(80 * US, 1000000, 100000), 60000, 70000); // W = 79,216.67
    one(f, hop(88 * US, 1080000, 0), 70001, 80000);      // u = 0.8: W = 79,216.67 * .95 / .8 + 50
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)((100000 * 0.95 / 1.2 + 50) * 0.95 / 0.8 + 50));
    assert_true(cc_flow_seen(f, "stage") == 0);
    cc_flow_free(f);
}

static void test_the_most_loaded_hop_counts(void **state)
{
    (void)state;
    struct cc_flow *f = cc_flow_new("hpcc", NULL, &env, NULL);
    struct int_hop first[2] = {hop(0, 0, 0), hop(US, 0, 40000)};
    first[1].port = 9;
    first[1].rate_bps = 50 * G;
    acked(f, first, 2, 1000, 50000);
    // First hop: 25,000 B in 4 us at 100G is 0.5. Second: 10,000 B in 2 us at 50G is 0.8, and
    // 25,000 of 50,000 B queued 0.5: u = 1.3, weight 2/8: U = 1 + 0.25 * 0.3.
    struct int_hop second[2] = {hop(4 * US, 25000, 0), hop(3 * US, 10000, 25000)};
    second[1].port = 9;
    second[1].rate_bps = 50 * G;
    acked(f, second, 2, 2000, 60000);
    expect_util(f, 1.075);
    cc_flow_free(f);
}

static void test_a_new_path_renews_the_reference(void **state)
{
    (void)state;
    struct cc_flow *f = begun(NULL, NULL);
    struct int_hop other = hop(4 * US, 50000, 30000);
    other.port = 8;
    one(f, other, 2000, 60000); // not measured
    expect_util(f, 1);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    other.t_ps = 8 * US;
    other.tx_bytes = 100000;
    one(f, other, 3000, 60000); // 1 + 0.3, weight 0.5
    expect_util(f, 1.15);
    // A second record with the same time (possible in the 8-byte encoding) measures nothing.
    uint64_t window = f->cc->cwnd_bytes;
    one(f, other, 4000, 60000);
    assert_int_equal(f->cc->cwnd_bytes, window);
    // No telemetry at all: nothing.
    const struct cc_ack bare = {.now_ps = 20 * US, .seq = 5000, .snd_nxt = 60000};
    cc_flow_ack(f, &bare);
    assert_int_equal(f->cc->cwnd_bytes, window);
    cc_flow_free(f);
}

static void test_wrapping_records(void **state)
{
    (void)state;
    struct cc_flow *f = cc_flow_new("hpcc", NULL, &env, NULL);
    struct int_hop a = {INT_WRAP_PS - 2 * US, INT_WRAP_BYTES - 25600, 100 * G, 8000, 7, 1};
    struct int_hop b = {2 * US, 25600, 100 * G, 16000, 7, 1}; // 51,200 B in 4 us
    one(f, a, 1000, 50000);
    one(f, b, 2000, 60000);
    expect_util(f, 1 + 0.5 * (1.024 + 0.08 - 1));
    cc_flow_free(f);
}

static void test_floor(void **state)
{
    (void)state;
    struct cc_flow *f = begun(NULL, NULL); // 100 Mb/s over 8 us are 100 B
    ps_t t = 0;
    uint64_t sent = 0, seq = 60000;
    for (int i = 0; i < 20; i++) {
        t += 8 * US;
        sent += 100000;
        seq += 10000;
        one(f, hop(t, sent, 4000000), seq, seq + 5000); // u = 41
    }
    // The minimum is W itself: 100 B, or one step from the minimum: 100 * 0.95/41 + 50 < 100.
    assert_int_equal(f->cc->cwnd_bytes, 100);
    assert_int_equal(f->cc->rate_bps, G / 10);
    cc_flow_free(f);
}

static void test_pint(void **state)
{
    (void)state;
    struct cc_flow *f = cc_flow_new("hpcc", "pint", &env, NULL);
    assert_true(f->cc->ops->wants_pint(f->params));
    struct cc_ack ack = {.now_ps = US, .seq = 1000, .snd_nxt = 50000, .pint = PINT_ONE};
    cc_flow_ack(f, &ack); // the reference
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    ack.now_ps = 2 * US;
    ack.pint = PINT_ONE + 2; // 1.1025
    cc_flow_ack(f, &ack);
    expect_util(f, pint_value(PINT_ONE + 2));
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(100000 * 0.95 / 1.1025 + 50));
    cc_flow_free(f);
    f = cc_flow_new("hpcc", NULL, &env, NULL);
    assert_false(f->cc->ops->wants_pint(f->params));
    cc_flow_free(f);
}

static void test_presets(void **state)
{
    (void)state;
    struct cc_flow *f = cc_flow_new("hpcc", "hpcc_sim", &env, NULL);
    assert_int_equal(f->cc->cwnd_bytes, 200000); // T = 16 us, the largest of all pairs
    one(f, hop(0, 0, 0), 1000, 1000);
    one(f, hop(16 * US, 220000, 0), 2000, 3000); // u = 1.1; W_AI = 40 Mb/s * 16 us = 80 B
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(200000 * 0.95 / 1.1 + 80));
    cc_flow_free(f);

    f = cc_flow_new("hpcc", "khan2022", &env, NULL);
    one(f, hop(0, 0, 0), 1000, 1000);
    one(f, hop(16 * US, 220000, 0), 2000, 3000); // W_AI = 50 Mb/s * 16 us = 100 B
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(200000 * 0.95 / 1.1 + 100));
    cc_flow_free(f);
}

static void test_scales_with_the_line(void **state)
{
    (void)state;
    static const uint64_t lines[] = {25 * G, 800 * G};
    for (int i = 0; i < 2; i++) {
        struct cc_env at = env;
        at.line_bps = lines[i];
        struct cc_flow *f = cc_flow_new("hpcc", NULL, &at, NULL);
        uint64_t bdp = lines[i] / 1000000 * 8 / 8;
        assert_int_equal(f->cc->cwnd_bytes, bdp);
        struct int_hop a = hop(0, 0, 0), b = hop(8 * US, bdp * 6 / 5, 0);
        a.rate_bps = b.rate_bps = lines[i];
        one(f, a, 1000, 1000);
        one(f, b, 2000, 3000);                                        // u = 1.2
        double step = lines[i] == 25 * G ? 50 : (double)bdp * 0.0005; // at least 0.05 packets
        assert_int_equal(f->cc->cwnd_bytes, (uint64_t)((double)bdp * 0.95 / 1.2 + step));
        cc_flow_free(f);
    }
}

// The window counts wire bytes, and the transport gets their payload share; the step is at least (1
// - eta) full packets on the wire for any N, but not if it is given explicitly.
static void test_wire_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *key, *value;
        double step;
    } cases[] = {{"expected_flows", "100", 0.05 * 4220},
                 {"expected_flows", "23", 0.05 * 100000 / 23},
                 {"expected_flows", "24", 0.05 * 4220},
                 {"eta", "0.9", 0.1 * 4220},
                 {"rate_ai", "8Mbps", 8}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct cc_preset_value changes[] = {{cases[i].key, cases[i].value}, CC_END};
        struct cc_env at = env;
        at.mtu_bytes = 4096;
        at.full_wire_bytes = 4220;
        struct cc_flow *f = cc_flow_new("hpcc", NULL, &at, changes);
        double share = 4096.0 / 4220, eta = strcmp(cases[i].key, "eta") == 0 ? 0.9 : 0.95;
        assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(100000 * share));
        assert_int_equal(f->cc->rate_bps, 100 * G);
        one(f, hop(0, 0, 0), 1000, 1000);
        one(f, hop(8 * US, 120000, 0), 2000, 3000); // u = 1.2
        double w = 100000 * eta / 1.2 + cases[i].step;
        assert_true(fabs((double)f->cc->cwnd_bytes - w * share) < 1);
        assert_true(fabs((double)f->cc->rate_bps - w * 1e6) < 1); // W * 8 / 8 us
        cc_flow_free(f);
    }
}

static void test_idle_restart(void **state)
{
    (void)state;
    static const struct cc_preset_value after[] = {{"idle_restart", "100us"}, CC_END};
    struct cc_flow *f = begun(NULL, after);
    one(f, hop(4 * US, 50000, 30000), 2000, 60000);
    uint64_t window = f->cc->cwnd_bytes;
    struct cc_post post = {.now_ps = 20 * US, .idle_ps = 8 * US};
    f->cc->ops->on_post(f->cc, &post); // not longer than a base RTT: references remain valid
    one(f, hop(12 * US, 150000, 30000), 3000, 60000);
    assert_int_not_equal(f->cc->cwnd_bytes, window);
    window = f->cc->cwnd_bytes;
    post = (struct cc_post){.now_ps = 40 * US, .idle_ps = 8 * US + 1};
    f->cc->ops->on_post(f->cc, &post);
    one(f, hop(40 * US, 150000, 0), 4000, 60000); // only sets a new reference
    assert_int_equal(f->cc->cwnd_bytes, window);
    post = (struct cc_post){.now_ps = 200 * US, .idle_ps = 100 * US};
    f->cc->ops->on_post(f->cc, &post);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    expect_util(f, 1);
    cc_flow_free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_divides_from_the_committed_window),
        cmocka_unit_test(test_commits_once_a_round),
        cmocka_unit_test(test_additive_stages),
        cmocka_unit_test(test_no_stages),
        cmocka_unit_test(test_the_most_loaded_hop_counts),
        cmocka_unit_test(test_a_new_path_renews_the_reference),
        cmocka_unit_test(test_wrapping_records),
        cmocka_unit_test(test_floor),
        cmocka_unit_test(test_pint),
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_scales_with_the_line),
        cmocka_unit_test(test_wire_bytes),
        cmocka_unit_test(test_idle_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
