// SPDX-License-Identifier: MIT
// DCQCN against values computed by hand: cut, alpha, the three kinds of increase, timing of each
// preset.
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

// A flow of `preset` with some parameters changed, on a line of `line_bps` with a base RTT of 8 us.
static struct cc_flow *flow_new(const char *preset, uint64_t line_bps,
                                const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = line_bps, .base_rtt_ps = 8 * US, .mtu_bytes = 1000};
    return cc_flow_new("dcqcn", preset, &env, changes);
}

static void cnp(struct cc_flow *flow, ps_t at)
{
    const struct cc_signal signal = {.now_ps = at, .kind = CC_SIGNAL_CNP};
    flow->cc->ops->on_signal(flow->cc, &signal);
}

static void notify(struct cc_flow *flow, ps_t at)
{
    cc_flow_run(flow, at);
    cnp(flow, at);
}

static void notify_by_ack(struct cc_flow *flow, ps_t at)
{
    cc_flow_run(flow, at);
    struct cc_ack ack = {.now_ps = at, .acked_bytes = 1000, .ce_bytes = 1000};
    flow->cc->ops->on_ack(flow->cc, &ack);
}

// 10 MB in wire packets of 1000 B: one byte-counter event of the paper.
static void send_10mb(struct cc_flow *flow)
{
    for (int i = 0; i < 10000; i++)
        flow->cc->ops->on_send(flow->cc, 1000, 0);
}

enum observed { ALPHA, TARGET, TIMER_STAGE, BYTE_STAGE };

static double seen(const struct cc_flow *flow, enum observed what)
{
    double out[4];
    assert_int_equal(flow->cc->ops->observe(flow->cc, out, 4), 4);
    return out[what];
}

static void expect(const struct cc_flow *flow, uint64_t rate_bps, uint64_t target_bps)
{
    assert_int_equal(flow->cc->rate_bps, rate_bps);
    assert_int_equal((uint64_t)seen(flow, TARGET), target_bps);
}

static void test_silent_until_notified(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("paper", 40 * G, NULL);
    struct cc_ack unmarked = {.now_ps = 5, .acked_bytes = 1000};
    for (int i = 0; i < 3; i++)
        send_10mb(f);
    f->cc->ops->on_ack(f->cc, &unmarked);
    expect(f, 40 * G, 40 * G);
    assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
    assert_true(f->cc->cwnd_bytes == CC_UNLIMITED);
    assert_true(seen(f, ALPHA) == 1 && seen(f, BYTE_STAGE) == 0);
    cc_flow_free(f);
}

// Two cuts: 40 -> 20 -> 10 Gb/s, Rt = 20; then T = 55 us from the last cut.
static struct cc_flow *paper_after_two_cuts(void)
{
    struct cc_flow *f = flow_new("paper", 40 * G, NULL);
    notify(f, 0);
    expect(f, 20 * G, 40 * G);
    notify(f, 1 * US);
    expect(f, 10 * G, 20 * G);
    return f;
}

static void test_paper_recovery_then_additive(void **state)
{
    (void)state;
    struct cc_flow *f = paper_after_two_cuts();
    static const uint64_t rate[] = {UINT64_C(15000000000), UINT64_C(17500000000),
                                    UINT64_C(18750000000), UINT64_C(19375000000),
                                    UINT64_C(19687500000)};
    cc_flow_run(f, 56 * US - 1);
    expect(f, 10 * G, 20 * G);
    for (int i = 0; i < 5; i++) {
        cc_flow_run(f, (56 + 55 * i) * US);
        expect(f, rate[i], 20 * G);
    }
    cc_flow_run(f, 331 * US); // the 6th: Rt = 20.04, Rc = (20.04 + 19.6875) / 2
    expect(f, UINT64_C(19863750000), 20 * G + 40 * M);
    cc_flow_run(f, 386 * US);
    expect(f, UINT64_C(19971875000), 20 * G + 80 * M);
    assert_true(seen(f, TIMER_STAGE) == 7);
    cc_flow_free(f);
}

static void test_paper_byte_counter_and_hyper(void **state)
{
    (void)state;
    struct cc_flow *f = paper_after_two_cuts();
    for (int i = 0; i < 5; i++)
        send_10mb(f); // the byte counter alone raises the rate as the timer does
    expect(f, UINT64_C(19687500000), 20 * G);
    send_10mb(f);
    expect(f, UINT64_C(19863750000), 20 * G + 40 * M);
    // Five timer events while the byte stage leads: additive each, since the timer stage is not
    // beyond F.
    cc_flow_run(f, (56 + 55 * 4) * US);
    assert_int_equal((uint64_t)seen(f, TARGET), 20 * G + 240 * M);
    // The 6th puts both past F by 1: + 200; then bytes 7 (lag 6): + 200; timer 7 (lag 7): + 400.
    cc_flow_run(f, (56 + 55 * 5) * US);
    assert_int_equal((uint64_t)seen(f, TARGET), 20 * G + 440 * M);
    send_10mb(f);
    assert_int_equal((uint64_t)seen(f, TARGET), 20 * G + 640 * M);
    cc_flow_run(f, (56 + 55 * 6) * US);
    assert_int_equal((uint64_t)seen(f, TARGET), 20 * G + 1040 * M);
    cc_flow_free(f);
}

static void test_byte_counter_is_exact(void **state)
{
    (void)state;
    struct cc_flow *f = paper_after_two_cuts();
    for (int i = 0; i < 9999; i++)
        f->cc->ops->on_send(f->cc, 1000, 0);
    f->cc->ops->on_send(f->cc, 999, 0);
    assert_true(seen(f, BYTE_STAGE) == 0);
    f->cc->ops->on_send(f->cc, 1, 0);
    assert_true(seen(f, BYTE_STAGE) == 1);
    notify(f, 2 * US); // a cut resets counter and stages
    assert_true(seen(f, BYTE_STAGE) == 0);
    for (int i = 0; i < 9999; i++)
        f->cc->ops->on_send(f->cc, 1000, 0);
    assert_true(seen(f, BYTE_STAGE) == 0);
    cc_flow_free(f);

    static const struct cc_preset_value tiny[] = {{"byte_counter", "100B"}, CC_END};
    f = flow_new("paper", 40 * G, tiny);
    notify(f, 0);
    f->cc->ops->on_send(f->cc, 250, 0); // two events, 50 B left over
    assert_true(seen(f, BYTE_STAGE) == 2);
    f->cc->ops->on_send(f->cc, 50, 0);
    assert_true(seen(f, BYTE_STAGE) == 3);
    cc_flow_free(f);
}

static void test_paper_alpha(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("paper", 40 * G, NULL);
    notify(f, 0);
    assert_true(seen(f, ALPHA) == 1); // (1 - g) 1 + g
    notify(f, 60 * US);               // one decay at 55 us, when Rc was (40 + 20) / 2
    double a = 255.0 / 256;
    expect(f, UINT64_C(15058593750), 30 * G); // 30 * (1 - a/2) = 30 * 257/512
    a = 255.0 / 256 * a + 1.0 / 256;
    assert_true(seen(f, ALPHA) == a);
    notify(f, 114 * US); // 54 us later: the period restarted, so no decay
    assert_true(seen(f, ALPHA) == 255.0 / 256 * a + 1.0 / 256);
    a = seen(f, ALPHA);
    notify(f, (114 + 165) * US); // exactly three periods
    for (int i = 0; i < 3; i++)
        a *= 255.0 / 256;
    assert_true(seen(f, ALPHA) == 255.0 / 256 * a + 1.0 / 256);
    cc_flow_free(f);
}

static void test_alpha_is_the_same_by_ticks(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("paper", 40 * G, NULL);
    double a = 1;
    notify(f, 0);
    for (int i = 0; i < 1000; i++)
        a *= 1 - 1.0 / 256;
    notify(f, 1000 * 55 * US + 3);
    assert_true(seen(f, ALPHA) == (1 - 1.0 / 256) * a + 1.0 / 256);
    notify(f, 100 * PS_PER_S); // alpha has decayed to 0: no cut, alpha = g
    expect(f, 40 * G, 40 * G);
    assert_true(seen(f, ALPHA) == 1.0 / 256);
    notify(f, 100 * PS_PER_S + 56 * US); // the period still begins at the notification
    assert_true(seen(f, ALPHA) == 255.0 / 256 * (255.0 / 256 / 256) + 1.0 / 256);
    cc_flow_free(f);
}

static void test_min_rate(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("paper", 40 * G, NULL);
    for (int i = 0; i < 8; i++)
        notify(f, i);
    expect(f, 156250000, 312500000); // 40 G / 2^8
    notify(f, 9);
    expect(f, 100 * M, 156250000);
    notify(f, 10);
    expect(f, 100 * M, 100 * M);
    cc_flow_free(f);
}

static void test_scaled_steps_follow_the_line(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 200 * G, NULL);
    notify(f, 0);
    notify(f, 1);
    cc_flow_run(f, 6 * 55 * US + 1);
    assert_int_equal((uint64_t)seen(f, TARGET), 100 * G + 200 * M); // line / 1000
    for (int i = 0; i < 5; i++)
        send_10mb(f);
    assert_int_equal((uint64_t)seen(f, TARGET), 100 * G + 1200 * M);
    send_10mb(f); // both stages beyond F: line / 200
    assert_int_equal((uint64_t)seen(f, TARGET), 100 * G + 2200 * M);
    cc_flow_free(f);
}

// The rate of an idle flow recovers by its timer, after which there are no more events.
static void test_idle_flow_recovers_and_falls_silent(void **state)
{
    (void)state;
    static const char *const presets[] = {"scaled", "paper", "nic", "hpcc_sim", "khan2022"};
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        struct cc_flow *f = flow_new(presets[i], 100 * G, NULL);
        for (int n = 0; n < 20; n++)
            notify(f, n * 10 * US);
        assert_true(f->cc->rate_bps < 10 * G);
        cc_flow_run(f, 1000 * PS_PER_S);
        expect(f, 100 * G, 100 * G);
        assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
        assert_true(f->fired < 30000);
        f->cc->ops->on_send(f->cc, 4000000000U, 0); // the byte counter is off too
        expect(f, 100 * G, 100 * G);
        // notifications still work, but alpha has decayed: the cut is at most g / 2
        notify(f, 2000 * PS_PER_S);
        cc_flow_run(f, 2000 * PS_PER_S + 4 * US);
        assert_true(seen(f, ALPHA) > 0 && f->cc->rate_bps >= 99700 * M);
        cc_flow_free(f);
    }
}

static void test_nic_timing(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("nic", 100 * G, NULL);
    const double g = 5.0 / 1024;
    notify(f, 10 * US); // starts ticks (11, 12, ...) and checks (14, 18, ...)
    cc_flow_run(f, 14 * US - 1);
    expect(f, 100 * G, 100 * G);
    cc_flow_run(f, 14 * US);
    double a = (1 - g) * (1 - g) * (1 - g) * (1 - g); // four ticks without another CNP
    assert_true(seen(f, ALPHA) == a);
    uint64_t rate = (uint64_t)(100e9 * (1 - a / 2));
    expect(f, rate, 100 * G);
    notify(f, 14 * US); // at the time of a check: counts for the next one
    expect(f, rate, 100 * G);
    cc_flow_run(f, 18 * US);
    a = (1 - g) * a + g; // noted in (14, 15], then three decays
    a = (1 - g) * ((1 - g) * ((1 - g) * a));
    assert_true(seen(f, ALPHA) == a);
    expect(f, (uint64_t)((double)rate * (1 - a / 2)), 100 * G); // no timer increase: Rt stays
    assert_true(f->cc->timer_at_ps[1] == PS_NEVER);             // no notification is pending
    assert_true(f->cc->timer_at_ps[0] == 318 * US);
    cc_flow_free(f);
}

// A CNP at the time of an armed check that has not run yet must not delay the check.
static void test_armed_check_stays(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("nic", 100 * G, NULL);
    notify(f, 0);
    cnp(f, 4 * US);
    assert_true(f->cc->timer_at_ps[1] == 4 * US);
    cc_flow_run(f, 4 * US);
    assert_true(f->cc->rate_bps < 100 * G && f->cc->timer_at_ps[1] == PS_NEVER);
    cc_flow_free(f);
}

// The ticks keep their period grid through idle time in which alpha decays to 0.
static void test_ticks_keep_their_grid(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    const double keep = 255.0 / 256;
    notify(f, 0);
    notify(f, 100 * PS_PER_S + US / 2); // ticks at 1, 2, 3, 4 us: one raise from 0, three decays
    cc_flow_run(f, 100 * PS_PER_S + 4 * US);
    assert_true(seen(f, ALPHA) == keep * (keep * (keep / 256)));
    cc_flow_free(f);
}

static void test_nic_target_after_timer_increase(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("nic", 100 * G, NULL);
    notify(f, 0);
    cc_flow_run(f, 4 * US);
    uint64_t cut = f->cc->rate_bps;
    f->cc->ops->on_send(f->cc, 32767 * 1000 - 1, 0); // 32767 kB less one byte: no event yet
    assert_int_equal(f->cc->rate_bps, cut);
    f->cc->ops->on_send(f->cc, 1, 0); // a byte event recovers, but does not clamp the target
    assert_int_equal(f->cc->rate_bps, (100 * G + cut + 1) / 2);
    notify(f, 5 * US);
    cc_flow_run(f, 8 * US);
    assert_int_equal((uint64_t)seen(f, TARGET), 100 * G);
    cc_flow_run(f, 308 * US); // a timer event clamps it
    uint64_t before = f->cc->rate_bps;
    notify(f, 309 * US);
    cc_flow_run(f, 312 * US);
    assert_int_equal((uint64_t)seen(f, TARGET), before);
    assert_true(f->cc->rate_bps < before);
    cc_flow_free(f);
}

static void test_min_cut(void **state)
{
    (void)state;
    static const struct cc_preset_value half[] = {{"min_cut", "0.5"}, CC_END};
    static const struct cc_preset_value most[] = {{"min_cut", "0.8"}, CC_END};
    struct cc_flow *f = flow_new("paper", 40 * G, half);
    notify(f, 0); // alpha = 1: half exactly
    expect(f, 20 * G, 40 * G);
    cc_flow_free(f);
    f = flow_new("paper", 40 * G, most);
    notify(f, 0);
    expect(f, 32 * G, 40 * G);
    cc_flow_free(f);
}

static void test_hpcc_sim_timing(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    for (int i = 0; i < 40; i++) // CE on an ACK every 100 ns for 4 us: alpha stays 1
        notify_by_ack(f, 100 * US + i * US / 10);
    expect(f, 100 * G, 100 * G);
    cc_flow_run(f, 104 * US); // first cut 4 us after the first CE
    assert_true(seen(f, ALPHA) == 1);
    expect(f, 50 * G, 100 * G);
    cc_flow_run(f, 404 * US - 1);
    expect(f, 50 * G, 100 * G);
    cc_flow_run(f, 404 * US); // one recovery (F = 1)
    expect(f, 75 * G, 100 * G);
    notify_by_ack(f, 405 * US); // an increase happened: Rt = Rc
    cc_flow_run(f, 408 * US);
    double a = 1;
    for (int i = 0; i < 301; i++) // ticks 105 .. 405, all decays (the tick at 405 precedes the CE)
        a *= 1 - 1.0 / 256;
    a = (1 - 1.0 / 256) * a + 1.0 / 256;
    a = (1 - 1.0 / 256) * ((1 - 1.0 / 256) * a);
    assert_true(seen(f, ALPHA) == a);
    uint64_t rate = (uint64_t)(75e9 * (1 - a / 2));
    expect(f, rate, 75 * G);
    cc_flow_run(f, 708 * US); // recovery
    rate = (75 * G + rate + 1) / 2;
    expect(f, rate, 75 * G);
    cc_flow_run(f, 1008 * US); // one additive step of 20 Mb/s
    rate = (75 * G + 20 * M + rate + 1) / 2;
    expect(f, rate, 75 * G + 20 * M);
    for (uint64_t i = 1; i <= 3; i++) { // then hyper by 200 Mb/s each
        cc_flow_run(f, (1008 + 300 * (ps_t)i) * US);
        rate = (75 * G + (20 + 200 * i) * M + rate + 1) / 2;
        expect(f, rate, 75 * G + (20 + 200 * i) * M);
    }
    f->cc->ops->on_send(f->cc, 4000000000U, 0); // no byte counter
    assert_int_equal(f->cc->rate_bps, rate);
    cc_flow_free(f);
}

static void test_hpcc_sim_floor(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    for (int i = 0; i < 400; i++)
        notify_by_ack(f, i * US / 2);
    assert_int_equal(f->cc->rate_bps, 1 * G); // line / 100
    cc_flow_free(f);
}

static void test_khan2022(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("khan2022", 200 * G, NULL);
    assert_int_equal(f->cc->cwnd_bytes, 200000); // 200 Gb/s * 8 us
    for (int i = 0; i < 4; i++)
        notify(f, i * US);
    cc_flow_run(f, 4 * US);
    notify(f, 5 * US);
    cc_flow_run(f, 8 * US);
    assert_int_equal((uint64_t)seen(f, TARGET), 200 * G);
    uint64_t cut = f->cc->rate_bps;
    cc_flow_run(f, 908 * US - 1);
    assert_int_equal(f->cc->rate_bps, cut);
    cc_flow_run(f, 908 * US);
    assert_int_equal(f->cc->rate_bps, (200 * G + cut + 1) / 2);
    cc_flow_free(f);

    static const struct cc_preset_value free_of_it[] = {{"window_bdp", "0"}, CC_END};
    static const struct cc_preset_value wider[] = {{"window_bdp", "1.5"}, CC_END};
    f = flow_new("khan2022", 200 * G, free_of_it);
    assert_true(f->cc->cwnd_bytes == CC_UNLIMITED);
    cc_flow_free(f);
    f = flow_new("paper", 40 * G, wider);
    assert_int_equal(f->cc->cwnd_bytes, 60000);
    cc_flow_free(f);
}

// An increase due at the time of a cut check acts first, as in the simulator that this preset
// models.
static void test_increase_precedes_check(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("hpcc_sim", 100 * G, NULL);
    notify(f, 0);
    cc_flow_run(f, 4 * US);
    uint64_t cut = f->cc->rate_bps;
    notify(f, 301 * US);
    assert_true(f->cc->timer_at_ps[0] == 304 * US && f->cc->timer_at_ps[1] == 304 * US);
    cc_flow_run(f, 304 * US);
    assert_int_equal((uint64_t)seen(f, TARGET), (100 * G + cut + 1) / 2);
    assert_true(f->cc->rate_bps < (100 * G + cut + 1) / 2);
    cc_flow_free(f);
}

static void test_ack_and_cnp_are_one_notification(void **state)
{
    (void)state;
    struct cc_flow *by_cnp = flow_new("paper", 40 * G, NULL);
    struct cc_flow *by_ack = flow_new("paper", 40 * G, NULL);
    for (int i = 0; i < 50; i++) {
        notify(by_cnp, i * i * US);
        notify_by_ack(by_ack, i * i * US);
        assert_int_equal(by_cnp->cc->rate_bps, by_ack->cc->rate_bps);
        assert_true(seen(by_cnp, ALPHA) == seen(by_ack, ALPHA));
    }
    assert_true(by_ack->cc->rate_bps < 40 * G);
    cc_flow_free(by_cnp);
    cc_flow_free(by_ack);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silent_until_notified),
        cmocka_unit_test(test_paper_recovery_then_additive),
        cmocka_unit_test(test_paper_byte_counter_and_hyper),
        cmocka_unit_test(test_byte_counter_is_exact),
        cmocka_unit_test(test_paper_alpha),
        cmocka_unit_test(test_alpha_is_the_same_by_ticks),
        cmocka_unit_test(test_min_rate),
        cmocka_unit_test(test_scaled_steps_follow_the_line),
        cmocka_unit_test(test_idle_flow_recovers_and_falls_silent),
        cmocka_unit_test(test_nic_timing),
        cmocka_unit_test(test_armed_check_stays),
        cmocka_unit_test(test_ticks_keep_their_grid),
        cmocka_unit_test(test_nic_target_after_timer_increase),
        cmocka_unit_test(test_min_cut),
        cmocka_unit_test(test_hpcc_sim_timing),
        cmocka_unit_test(test_hpcc_sim_floor),
        cmocka_unit_test(test_khan2022),
        cmocka_unit_test(test_increase_precedes_check),
        cmocka_unit_test(test_ack_and_cnp_are_one_notification),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
