// SPDX-License-Identifier: MIT
// DCTCP against values computed by hand: alpha per window, cuts, growth, loss, the rate-based form,
// idle time; and alpha's fixed point in the sawtooth of one flow.
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
#define M UINT64_C(1000000)
#define US PS_PER_US

// A flow with a base RTT of 8 us: at 100G a BDP of 100 000 B, 100 packets.
static struct cc_flow *flow_new(const char *preset, uint64_t line_bps,
                                const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = line_bps, .base_rtt_ps = 8 * US, .mtu_bytes = 1000};
    return cc_flow_new("dctcp", preset, &env, changes);
}

// An ACK of `acked` bytes up to `una`, `ce` of them marked, when data up to `nxt` has been sent.
static void ack(struct cc_flow *f, uint64_t una, uint64_t nxt, uint32_t acked, uint32_t ce)
{
    struct cc_ack a = {.snd_una = una,
                       .seq = una,
                       .snd_nxt = nxt,
                       .acked_bytes = acked,
                       .ce_bytes = ce,
                       .inflight_bytes = nxt - una};
    cc_flow_ack(f, &a);
}

static void lose(struct cc_flow *f, enum cc_signal_kind kind, uint64_t nxt)
{
    struct cc_signal signal = {.kind = kind, .snd_nxt = nxt};
    f->cc->ops->on_signal(f->cc, &signal);
}

static void post_after(struct cc_flow *f, ps_t idle_ps)
{
    struct cc_post post = {.idle_ps = idle_ps};
    f->cc->ops->on_post(f->cc, &post);
}

static void test_beginning(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint64_t line_bps, cwnd_bytes;
    } cases[] = {
        {NULL, 25 * G, 25000},         {"rfc8257", 100 * G, 100000},  {NULL, 800 * G, 800000},
        {"hpcc_sim", 25 * G, 25000},   {"hpcc_sim", 100 * G, 100000}, {"hpcc_sim", 800 * G, 800000},
        {"khan2022", 200 * G, 200000}, {NULL, 100 * M, 1000}, // a BDP of 100 B: one MTU
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cc_flow *f = flow_new(cases[i].preset, cases[i].line_bps, NULL);
        assert_int_equal(f->cc->cwnd_bytes, cases[i].cwnd_bytes);
        assert_int_equal(f->cc->rate_bps, cases[i].line_bps);
        assert_true(cc_flow_seen(f, "alpha") == 1);
        assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
        cc_flow_free(f);
    }
}

static void test_switch_profiles(void **state)
{
    (void)state;
    const struct cc_ops *ops = cc_find("dctcp");
    assert_int_equal(ops->needs, CC_NEEDS_ECN | CC_NEEDS_CE_SHARE);
    for (size_t i = 0; i < 2; i++) { // a step at 300 KB per 100G
        const struct cc_profile *p = &ops->presets[i].profile;
        assert_true(p->ecn && p->scaled && p->kmin_bytes == 300000 && p->kmax_bytes == 300000);
        assert_int_equal(p->ref_bps, 100 * G);
    }
    const struct cc_profile *p = &cc_preset_find(ops, "khan2022")->profile;
    assert_true(p->kmin_bytes == 600000 && p->kmax_bytes == 2400000 && p->pmax == 0.2);
    assert_int_equal(p->ref_bps, 200 * G);
}

static void test_alpha_once_per_window(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    ack(f, 1000, 100000, 1000, 0); // begins a window that ends past 100 000
    ack(f, 51000, 150000, 50000, 0);
    ack(f, 100000, 199000, 49000, 49000); // at its end, not past it
    assert_true(cc_flow_seen(f, "alpha") == 1);
    ack(f, 102000, 200000, 2000, 2000); // 51 of 102 KB marked
    assert_true(cc_flow_seen(f, "marked") == 0.5);
    assert_true(cc_flow_seen(f, "alpha") == 31.0 / 32); // 15/16 + 1/32
    ack(f, 200000, 300000, 98000, 0);                   // the next one ends past 200 000
    assert_true(cc_flow_seen(f, "alpha") == 31.0 / 32);
    ack(f, 201000, 301000, 1000, 0); // nothing marked in it
    assert_true(cc_flow_seen(f, "marked") == 0);
    assert_true(cc_flow_seen(f, "alpha") == 31.0 / 32 * 15 / 16);
    cc_flow_free(f);

    static const struct cc_preset_value quarter[] = {{"g", "0.25"}, CC_END};
    f = flow_new(NULL, 100 * G, quarter);
    ack(f, 1000, 10000, 1000, 0);
    ack(f, 11000, 20000, 10000, 0);
    assert_true(cc_flow_seen(f, "alpha") == 0.75);
    cc_flow_free(f);
}

static void test_one_cut_per_window(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    ack(f, 1000, 100000, 1000, 1000); // alpha 1: half
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    assert_true(cc_flow_seen(f, "reduced") == 1);
    ack(f, 2000, 100000, 1000, 1000);
    ack(f, 51000, 101000, 49000, 0); // neither a cut nor growth before 100 000 has passed
    ack(f, 100000, 150000, 49000, 0);
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    assert_true(cc_flow_seen(f, "reduced") == 1);
    // Past it, and this ACK ends a window of 2/101 marked: alpha first, then the next cut.
    ack(f, 101000, 151000, 1000, 1000);
    double marked = 3000.0 / 101000, alpha = 15.0 / 16 + marked / 16;
    assert_true(fabs(cc_flow_seen(f, "alpha") - alpha) < 1e-12);
    double window = 50000 * (1 - alpha / 2); // 26 554.7
    uint64_t cut = (uint64_t)window;
    assert_int_equal(f->cc->cwnd_bytes, cut);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    ack(f, 151000, 151000 + cut, 50000, 0); // at its end
    assert_int_equal(f->cc->cwnd_bytes, cut);
    ack(f, 152000, 152000 + cut, 1000, 0); // past it: W + MTU * acked/W
    assert_true(cc_flow_seen(f, "reduced") == 0);
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(window + 1e6 / window));
    cc_flow_free(f);
}

static void test_never_below_one_mtu(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    uint64_t expected[] = {50000, 25000, 12500, 6250, 3125, 1562, 1000, 1000};
    for (uint64_t i = 0; i < 8; i++) { // everything marked, so alpha stays 1
        ack(f, 1000 * (i + 1), 1000 * (i + 1), 1000, 1000);
        assert_int_equal(f->cc->cwnd_bytes, expected[i]);
    }
    cc_flow_free(f);
}

static void test_one_mtu_per_window(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    // dW/d(acked) = MTU/W: W = sqrt(1e10 + 2 * 1000 * 1e5) = 100 995 once 100 000 are acknowledged.
    for (uint64_t i = 1; i <= 100; i++)
        ack(f, 1000 * i, 1000 * i + 100000, 1000, 0);
    assert_in_range(f->cc->cwnd_bytes, 100994, 100995);
    cc_flow_free(f);

    f = flow_new(NULL, 100 * G, NULL);
    ack(f, 50000, 150000, 50000, 0); // an ACK of 50 packets: half an MTU
    assert_int_equal(f->cc->cwnd_bytes, 100500);
    cc_flow_free(f);
}

static void test_only_a_full_window_grows(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    ack(f, 1000, 98999, 1000, 0); // 98 999 were in flight: more than one packet below W
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    ack(f, 2000, 100000, 1000, 0); // 99 000
    assert_int_equal(f->cc->cwnd_bytes, 100010);
    ack(f, 2000, 102000, 0, 0); // an ACK without new data
    assert_int_equal(f->cc->cwnd_bytes, 100010);
    cc_flow_free(f);
}

static void test_window_cap(void **state)
{
    (void)state;
    static const struct cc_preset_value capped[] = {{"window_bytes", "52000B"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, capped);
    assert_int_equal(f->cc->cwnd_bytes, 52000);
    ack(f, 1000, 53000, 1000, 1000); // W 50 000 is below the cap
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    cc_flow_free(f);

    static const struct cc_preset_value wide[] = {{"window_bytes", "104000B"}, CC_END};
    static const struct cc_preset_value none[] = {{"window_bdp", "0"}, CC_END};
    f = flow_new("hpcc_sim", 100 * G, wide); // in rate mode only the cap applies
    assert_int_equal(f->cc->cwnd_bytes, 104000);
    ack(f, 1000, 53000, 1000, 1000);
    assert_int_equal(f->cc->cwnd_bytes, 52000);
    cc_flow_free(f);
    f = flow_new("hpcc_sim", 100 * G, none);
    assert_true(f->cc->cwnd_bytes == CC_UNLIMITED);
    cc_flow_free(f);
}

static void test_loss(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    ack(f, 1000, 98000, 1000, 0); // not full, so no growth
    lose(f, CC_SIGNAL_CNP, 1000);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    lose(f, CC_SIGNAL_NACK, 1000); // go-back-N to 1000; data up to 98 000 had been sent
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    lose(f, CC_SIGNAL_NACK, 1000);
    lose(f, CC_SIGNAL_DUPACK, 1000);
    ack(f, 98000, 98000, 97000, 97000); // a mark in the same window does not cut either
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    ack(f, 99000, 99000, 1000, 0);
    lose(f, CC_SIGNAL_DUPACK, 140000); // this signal has a higher snd_nxt than any ACK so far
    assert_int_equal(f->cc->cwnd_bytes, 25000);
    ack(f, 140000, 165000, 41000, 0);
    lose(f, CC_SIGNAL_NACK, 140000);
    assert_int_equal(f->cc->cwnd_bytes, 25000);
    lose(f, CC_SIGNAL_TIMEOUT, 140000); // a timeout cuts whatever happened before
    assert_int_equal(f->cc->cwnd_bytes, 1000);
    ack(f, 165000, 166000, 25000, 0); // all that was in flight
    assert_int_equal(f->cc->cwnd_bytes, 1000);
    ack(f, 166000, 167000, 1000, 0); // then one MTU per round trip again
    assert_int_equal(f->cc->cwnd_bytes, 2000);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    cc_flow_free(f);
}

static void test_hpcc_sim(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    ack(f, 1000, 100000, 1000, 0); // the first only begins a window: up to 100 000
    assert_int_equal(f->cc->rate_bps, 100 * G);
    assert_true(cc_flow_seen(f, "alpha") == 1);
    ack(f, 2000, 101000, 1000, 1000); // the first mark, until 101 000 has passed
    assert_int_equal(f->cc->rate_bps, 50 * G);
    assert_int_equal(f->cc->cwnd_bytes, 50000); // scaled with the rate
    for (uint64_t i = 3; i <= 100; i++)
        ack(f, 1000 * i, 101000, 1000, i <= 41 ? 1000 : 0);
    assert_true(cc_flow_seen(f, "alpha") == 1);
    assert_int_equal(f->cc->rate_bps, 50 * G);
    // The ns-3 model: 100 000 / mtu + 1 = 101 packets and 40 marked ACKs. Still reduced, so no
    // increase.
    ack(f, 101000, 150500, 1000, 0);
    double alpha = 15.0 / 16 + 40.0 / 101 / 16;
    assert_true(fabs(cc_flow_seen(f, "marked") - 40.0 / 101) < 1e-15);
    assert_true(fabs(cc_flow_seen(f, "alpha") - alpha) < 1e-15);
    assert_int_equal(f->cc->rate_bps, 50 * G);
    // The next ends past 150 500. An increase comes only with an end.
    ack(f, 150500, 151500, 49500, 0);
    assert_true(cc_flow_seen(f, "reduced") == 0);
    assert_int_equal(f->cc->rate_bps, 50 * G);
    ack(f, 151500, 155500, 1000, 0);
    assert_int_equal(f->cc->rate_bps, 50 * G + 615 * M);
    assert_int_equal(f->cc->cwnd_bytes, 50615);
    alpha *= 15.0 / 16;
    ack(f, 152500, 157000, 1000, 1000); // up to 155 500 all are marked; the first cuts
    uint64_t cut = (uint64_t)(50615e6 * (1 - alpha / 2));
    assert_int_equal(f->cc->rate_bps, cut);
    ack(f, 157500, 158000, 5000, 5000); // past the end and past the cut: alpha, then cut again
    alpha = alpha * 15 / 16 + 1.0 / 16;
    assert_true(fabs(cc_flow_seen(f, "alpha") - alpha) < 1e-15);
    assert_true(cc_flow_seen(f, "marked") == 1);
    assert_int_equal(f->cc->rate_bps, (uint64_t)((double)cut * (1 - alpha / 2)));
    cc_flow_free(f);
}

// A flow that starts at a high sequence number counts its own packets only.
static void test_hpcc_sim_from_any_number(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    ack(f, 7001000, 7010000, 1000, 1000); // 10 sent
    ack(f, 7011000, 7020000, 10000, 9000);
    assert_true(fabs(cc_flow_seen(f, "marked") - 10.0 / 11) < 1e-15);
    cc_flow_free(f);
}

// Limits of the rate; losses and increases beyond the line rate do not change it.
static void test_rate_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *preset;
        uint64_t line_bps, floor_bps, step_bps;
        uint64_t cwnd_bytes; // at the floor
    } cases[] = {
        {"hpcc_sim", 100 * G, G, 615 * M, 1000},
        {"hpcc_sim", 25 * G, G, 615 * M, 1000},
        {"hpcc_sim", 800 * G, G, 615 * M, 1000},
        {"khan2022", 200 * G, 100 * M, 1000 * M, 200000}, // its cap does not shrink
        {"hpcc_sim", 500 * M, 500 * M, 615 * M, 500},     // a line below the floor
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cc_flow *f = flow_new(cases[i].preset, cases[i].line_bps, NULL);
        uint64_t at = 0, line_bps = cases[i].line_bps;
        for (int n = 0; n < 20; n++, at += 1000)
            ack(f, at + 1000, at + 1000, 1000, 1000);
        assert_int_equal(f->cc->rate_bps, cases[i].floor_bps);
        assert_int_equal(f->cc->cwnd_bytes, cases[i].cwnd_bytes);
        lose(f, CC_SIGNAL_TIMEOUT, at + 100000);
        lose(f, CC_SIGNAL_NACK, at + 100000);
        assert_int_equal(f->cc->rate_bps, cases[i].floor_bps);
        uint64_t rate_bps = cases[i].floor_bps;
        for (int n = 0; n < 1500; n++, at += 1000) {
            ack(f, at + 1000, at + 1000, 1000, 0);
            rate_bps += cases[i].step_bps;
            rate_bps = rate_bps < line_bps ? rate_bps : line_bps;
            assert_int_equal(f->cc->rate_bps, rate_bps);
        }
        assert_int_equal(f->cc->rate_bps, line_bps);
        cc_flow_free(f);
    }
}

// Idle time of more than a base RTT discards the unfinished counts; window and alpha are kept.
static void test_pause_drops_the_count(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    ack(f, 1000, 10000, 1000, 1000); // W 50 000; the window ends past 10 000
    ack(f, 5000, 10000, 4000, 4000);
    post_after(f, 0);
    post_after(f, 8 * US);          // one base RTT: the counts are kept
    ack(f, 20000, 30000, 15000, 0); // 5 of 20 KB
    assert_true(cc_flow_seen(f, "marked") == 0.25);
    double alpha = 15.0 / 16 + 0.25 / 16;
    assert_true(cc_flow_seen(f, "alpha") == alpha);
    ack(f, 25000, 26000, 5000, 0); // the window is not full, so W does not grow
    assert_int_equal(f->cc->cwnd_bytes, 50000);
    post_after(f, 8 * US + 1);
    // the dropped counts start again with this ACK, for a window up to 40 000
    ack(f, 31000, 40000, 1000, 0);
    assert_true(cc_flow_seen(f, "alpha") == alpha);
    ack(f, 36000, 40000, 5000, 0);
    ack(f, 41000, 42000, 4000, 1000); // 1 of 10 KB; cut by the new alpha
    assert_true(cc_flow_seen(f, "marked") == 0.1);
    alpha = alpha * 15 / 16 + 0.1 / 16;
    assert_true(fabs(cc_flow_seen(f, "alpha") - alpha) < 1e-15);
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(50000 * (1 - alpha / 2)));
    cc_flow_free(f);
}

static void test_idle_restart(void **state)
{
    (void)state;
    static const struct cc_preset_value restart[] = {{"idle_restart", "100us"}, CC_END};
    static const char *const presets[] = {"rfc8257", "hpcc_sim"};
    for (int i = 0; i < 4; i++) {
        struct cc_flow *f = flow_new(presets[i / 2], 100 * G, i % 2 ? restart : NULL);
        uint64_t cut_bps = i / 2 ? 50 * G : 100 * G;
        ack(f, 1000, 2000, 1000, 1000);
        ack(f, 2000, 2000, 1000, 0); // at the cut's end
        post_after(f, 100 * US - 1);
        assert_int_equal(f->cc->cwnd_bytes, 50000);
        assert_int_equal(f->cc->rate_bps, cut_bps);
        assert_true(cc_flow_seen(f, "reduced") == 1);
        post_after(f, i % 2 ? 100 * US : 1000 * PS_PER_S); // auto: never
        assert_int_equal(f->cc->cwnd_bytes, i % 2 ? 100000 : 50000);
        assert_int_equal(f->cc->rate_bps, i % 2 ? 100 * G : cut_bps);
        assert_true(cc_flow_seen(f, "reduced") == (i % 2 ? 0 : 1));
        cc_flow_free(f);
    }
}

// One flow over a link that marks all packets of a round trip once the window exceeds W* packets
// (Alizadeh et al., SIGCOMM 2010, section 3.3): alpha^2 (1 - alpha/4) = (2 W* + 1) / (W* + 1)^2,
// about sqrt(2/W*) if W* is large, and the window decreases by (W* + 1) alpha/2 each time. This
// assumes that g is small against the inverse length of a cycle, sqrt(W*/2) round trips. Counting
// in full round trips causes an error of up to one per cycle: 10 %.
static void test_alpha_of_the_sawtooth(void **state)
{
    (void)state;
    static const double limits[] = {100, 200, 400};
    static const struct cc_preset_value slow[] = {{"g", "0.01"}, CC_END};
    for (size_t i = 0; i < 3; i++) {
        double limit = limits[i], sum = 0, top = 0, bottom = 1e9;
        struct cc_flow *f = flow_new(NULL, (uint64_t)limit * G, slow);
        uint64_t una = 0, nxt = 0;
        for (int round = 0; round < 6000; round++) {
            uint64_t end = nxt;
            double window = (double)f->cc->cwnd_bytes / 1000;
            bool marked = window > limit;
            while (una < end) {
                una += 1000;
                for (; nxt - una < f->cc->cwnd_bytes; nxt += 1000)
                    ;
                ack(f, una, nxt, 1000, marked ? 1000 : 0);
            }
            for (; nxt - una < f->cc->cwnd_bytes; nxt += 1000)
                ;
            if (round < 2000)
                continue;
            sum += cc_flow_seen(f, "alpha") / 4000;
            top = window > top ? window : top;
            bottom = window < bottom ? window : bottom;
        }
        double alpha = sqrt(2 / limit), target = (2 * limit + 1) / ((limit + 1) * (limit + 1));
        for (int n = 0; n < 50; n++)
            alpha = sqrt(target / (1 - alpha / 4));
        print_message("W* %.0f: alpha %.4f, theory %.4f (%.4f); window %.1f to %.1f, theory "
                      "%.1f to %.1f\n",
                      limit, sum, alpha, sqrt(2 / limit), bottom, top,
                      (limit + 1) * (1 - alpha / 2), limit + 1);
        assert_true(fabs(sum / alpha - 1) < 0.10);
        assert_true(fabs(sum / sqrt(2 / limit) - 1) < 0.10);
        assert_true(fabs((top - bottom) / ((limit + 1) * alpha / 2) - 1) < 0.15);
        cc_flow_free(f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beginning),
        cmocka_unit_test(test_switch_profiles),
        cmocka_unit_test(test_alpha_once_per_window),
        cmocka_unit_test(test_one_cut_per_window),
        cmocka_unit_test(test_never_below_one_mtu),
        cmocka_unit_test(test_one_mtu_per_window),
        cmocka_unit_test(test_only_a_full_window_grows),
        cmocka_unit_test(test_window_cap),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_hpcc_sim),
        cmocka_unit_test(test_hpcc_sim_from_any_number),
        cmocka_unit_test(test_rate_bounds),
        cmocka_unit_test(test_pause_drops_the_count),
        cmocka_unit_test(test_idle_restart),
        cmocka_unit_test(test_alpha_of_the_sawtooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
