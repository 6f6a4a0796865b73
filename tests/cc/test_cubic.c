// SPDX-License-Identifier: MIT
// CUBIC against the equations of RFC 9438, computed here: W(t) after a loss in both forms, the Reno
// window, fast convergence, idle time, timeouts.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_pipe.h"

#define MSS 1000u
#define MS PS_PER_MS

#define RFC                                                                                        \
    {                                                                                              \
        "form", "rfc9438"                                                                          \
    }
#define QUIET                                                                                      \
    {                                                                                              \
        "hystart", "off"                                                                           \
    }
#define UNFRIENDLY                                                                                 \
    {                                                                                              \
        "friendly", "false"                                                                        \
    }

static const struct cc_preset_value linux_alone[] = {QUIET, UNFRIENDLY, CC_END};
static const struct cc_preset_value rfc_alone[] = {RFC, QUIET, UNFRIENDLY, CC_END};
static const struct cc_preset_value rfc_all[] = {RFC, QUIET, CC_END};

static struct cc_flow *flow_new(uint32_t initial, const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = UINT64_C(100000000000),
                         .base_rtt_ps = 10 * MS,
                         .mtu_bytes = MSS,
                         .full_wire_bytes = 1052,
                         .initial_window_bytes = initial * MSS};
    return cc_flow_new("cubic", NULL, &env, changes);
}

static uint64_t cwnd(const struct cc_flow *f)
{
    assert_int_equal(f->cc->cwnd_bytes % MSS, 0);
    return f->cc->cwnd_bytes / MSS;
}

static void ack(struct cc_flow *f, ps_t now, ps_t rtt, uint32_t segments)
{
    struct cc_ack a = {
        .now_ps = now, .rtt_ps = rtt, .acked_bytes = segments * MSS, .window_limited = true};
    cc_flow_ack(f, &a);
}

static void signal_at(struct cc_flow *f, enum cc_signal_kind kind, ps_t now)
{
    struct cc_signal s = {.kind = kind, .now_ps = now};
    f->cc->ops->on_signal(f->cc, &s);
}

// Acknowledge a window each `rtt`, evenly, from `now` until `until`. Returns the last time.
static ps_t drive(struct cc_flow *f, ps_t now, ps_t until, ps_t rtt)
{
    while (now < until) {
        uint64_t n = cwnd(f);
        for (uint64_t i = 1; i <= n; i++)
            ack(f, now + rtt * (ps_t)i / (ps_t)n, rtt, 1);
        now += rtt;
    }
    return now;
}

// W(t) = C (t - K)^3 + W_max with K = cbrt(W_max (1 - beta) / C), equations 1 and 2.
static double w_cubic(double t_s, double w_max, double cwnd_epoch)
{
    double k_s = cbrt((w_max - cwnd_epoch) / 0.4);
    return 0.4 * pow(t_s - k_s, 3) + w_max;
}

// The window follows W one RTT ahead; the ACK clock adds at most one RTT of delay. Between, the
// window is between W(t) and W(t + RTT), rounded down to a segment.
static void test_window_of_the_rfc(void **state)
{
    (void)state;
    static const uint32_t tops[] = {100, 1000, 10000};
    for (size_t i = 0; i < 3; i++) {
        struct cc_flow *f = flow_new(tops[i], rfc_alone);
        ps_t rtt = 50 * MS, now = PS_PER_S;
        double top = tops[i], bottom = floor(top * 717 / 1024), k_s = cbrt((top - bottom) / 0.4);
        signal_at(f, CC_SIGNAL_DUPACK, now);
        assert_int_equal(cwnd(f), (uint64_t)bottom);
        ack(f, now, rtt, 1); // begins the epoch
        assert_true(fabs(cc_flow_seen(f, "k_us") / 1e6 - k_s) < 1e-3 * k_s + 1e-6);
        assert_true(cc_flow_seen(f, "w_max_pkts") == top);
        ps_t end = now + (ps_t)(1.6 * k_s * 1e12);
        while (now < end) {
            now = drive(f, now, now + rtt, rtt);
            double t_s = (double)(now - PS_PER_S) / 1e12, here = (double)cwnd(f);
            assert_true(here >= floor(w_cubic(t_s - 0.05, top, bottom)) - 1);
            assert_true(here <= w_cubic(t_s + 0.05, top, bottom) + 1);
        }
        assert_true((double)cwnd(f) > top);
        cc_flow_free(f);
    }
}

// Form linux: W is a whole number of segments, its distance from W_max rounded down, calculated in
// ticks of 4 ms one RTT ahead. It therefore reaches W_max while C (K - t)^3 < 1, cbrt(1/C) = 1.36 s
// before K, and leaves it as late after K. The window takes an RTT and a hold of 28 ms to follow;
// at the end one segment more needs a window of ACKs.
static void test_window_of_linux(void **state)
{
    (void)state;
    static const uint32_t tops[] = {100, 251, 1000};
    for (size_t i = 0; i < 3; i++) {
        struct cc_flow *f = flow_new(tops[i], linux_alone);
        ps_t rtt = 20 * MS, now = PS_PER_S, reached = 0, left = 0;
        double top = tops[i], bottom = floor(top * 717 / 1024);
        double k_s = cbrt((top - bottom) / 0.4), flat_s = cbrt(1 / 0.4);
        signal_at(f, CC_SIGNAL_DUPACK, now);
        while (left == 0) {
            now = drive(f, now, now + rtt, rtt);
            if (reached == 0 && (double)cwnd(f) >= top)
                reached = now;
            if ((double)cwnd(f) > top)
                left = now;
            double t_s = (double)(now - PS_PER_S) / 1e12, here = (double)cwnd(f);
            if (t_s < k_s - flat_s) {
                assert_true(here <= ceil(w_cubic(t_s + 0.024, top, bottom)));
                assert_true(here >= floor(w_cubic(t_s - 0.07, top, bottom)) - 1);
            }
        }
        double reached_s = (double)(reached - PS_PER_S) / 1e12;
        print_message("W_max %4.0f: reached after %.3f s, K - 1.357 s = %.3f s, K = %.3f s\n", top,
                      reached_s, k_s - flat_s, k_s);
        assert_true(fabs(reached_s - (k_s - flat_s)) < 0.08);
        cc_flow_free(f);
    }
}

// At the plateau the window grows by one segment per 100 windows of ACKs only.
static void test_plateau_of_linux(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(100, linux_alone);
    signal_at(f, CC_SIGNAL_DUPACK, 0);
    double k_s = cbrt((100 - 70) / 0.4), flat_s = cbrt(1 / 0.4);
    ps_t now = drive(f, 0, (ps_t)((k_s - flat_s + 0.2) * 1e12), 20 * MS);
    assert_int_equal(cwnd(f), 100);
    drive(f, now, (ps_t)((k_s + flat_s - 0.1) * 1e12), 20 * MS);
    assert_in_range(cwnd(f), 100, 101); // 2.4 s are 120 windows
    cc_flow_free(f);
}

// Section 4.3: where the cubic function is slow, W_est grows by alpha segments per round trip: in
// the form rfc9438 alpha = 3 (1 - beta) / (1 + beta) = 0.529 up to the window before the loss, then
// 1; in the form linux 8/15 always, which the window follows in steps: it is held for 28 ms, six
// round trips here, and needs two more.
static void test_reno_friendly_region(void **state)
{
    (void)state;
    static const struct cc_preset_value linux_all[] = {QUIET, CC_END};
    struct {
        const struct cc_preset_value *changes;
        double below, above;
    } forms[] = {{rfc_all, 3 * 0.3 / 1.7, 1}, {linux_all, 8.0 / 15, 8.0 / 15}};
    for (size_t i = 0; i < 2; i++) {
        struct cc_flow *f = flow_new(40, forms[i].changes);
        ps_t rtt = 5 * MS; // 620 round trips in K = 3.1 s
        signal_at(f, CC_SIGNAL_DUPACK, 0);
        assert_int_equal(cwnd(f), 28);
        double to_top = 12 / forms[i].below, expected = 28;
        for (ps_t now = 0; now < 100 * rtt;) {
            now = drive(f, now, now + rtt, rtt);
            double n = (double)(now / rtt);
            expected += n <= to_top ? forms[i].below : forms[i].above;
            assert_true((double)cwnd(f) <= expected + 1);
            if (i == 0 || n > 8)
                assert_true((double)cwnd(f) >= expected - (i == 0 ? 3 : 6));
        }
        assert_true(cwnd(f) > 70);
        cc_flow_free(f);
    }
    // Without it the cubic function alone hardly moves.
    struct cc_flow *f = flow_new(40, rfc_alone);
    signal_at(f, CC_SIGNAL_DUPACK, 0);
    drive(f, 0, 100 * MS, MS);
    assert_true(fabs((double)cwnd(f) - floor(w_cubic(0.1, 40, 28))) <= 1);
    cc_flow_free(f);
}

// Section 4.6: beta is 717/1024, rounded down, at least 2; a mark counts like a loss.
static void test_reductions(void **state)
{
    (void)state;
    static const enum cc_signal_kind kinds[] = {CC_SIGNAL_DUPACK, CC_SIGNAL_ECE};
    for (uint32_t before = 1; before < 300; before++)
        for (size_t k = 0; k < 2; k++) {
            struct cc_flow *f = flow_new(before, NULL);
            uint64_t expected = before * 717 / 1024 > 2 ? before * 717 / 1024 : 2;
            signal_at(f, kinds[k], 0);
            assert_int_equal(cwnd(f), expected);
            assert_true(cc_flow_seen(f, "ssthresh_bytes") == (double)expected * MSS);
            cc_flow_free(f);
        }
    static const struct cc_preset_value half[] = {{"beta", "0.5"}, CC_END};
    struct cc_flow *f = flow_new(101, half);
    signal_at(f, CC_SIGNAL_DUPACK, 0);
    assert_int_equal(cwnd(f), 50);
    cc_flow_free(f);
}

// Section 4.7: a second loss below W_max sets it to (1 + beta) / 2 of the window.
static void test_fast_convergence(void **state)
{
    (void)state;
    static const struct cc_preset_value off[] = {{"fast_convergence", "false"}, CC_END};
    for (int i = 0; i < 2; i++) {
        struct cc_flow *f = flow_new(100, i ? off : NULL);
        signal_at(f, CC_SIGNAL_DUPACK, 0);
        assert_true(cc_flow_seen(f, "w_max_pkts") == 100);
        signal_at(f, CC_SIGNAL_DUPACK, 0);
        assert_int_equal(cwnd(f), 70 * 717 / 1024);
        assert_true(cc_flow_seen(f, "w_max_pkts") == (i ? 70 : 70 * (1024 + 717) / 2048));
        ack(f, 0, 10 * MS, 1);
        double origin = i ? 70 : 59, k_s = cbrt((origin - 49) / 0.4);
        assert_true(fabs(cc_flow_seen(f, "k_us") / 1e6 - k_s) < 1e-6);
        cc_flow_free(f);
    }
}

// Section 4.8: a timeout discards W_max; when slow start has reached the threshold the window grows
// from K = 0, in the form linux by at least one segment per 20 acknowledged.
static void test_timeout(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(1000, linux_alone);
    signal_at(f, CC_SIGNAL_DUPACK, 0);
    signal_at(f, CC_SIGNAL_TIMEOUT, MS);
    assert_int_equal(cwnd(f), 1);
    assert_true(cc_flow_seen(f, "w_max_pkts") == 0);
    uint64_t threshold = 700 * 717 / 1024;
    for (uint64_t i = 1; i < threshold; i++)
        ack(f, 2 * MS, 10 * MS, 1);
    assert_int_equal(cwnd(f), threshold);
    assert_true(cc_flow_seen(f, "slow_start") == 0);
    for (int i = 0; i < 200; i++)
        ack(f, 3 * MS, 10 * MS, 1);
    assert_int_equal(cwnd(f), threshold + 10);
    assert_true(cc_flow_seen(f, "k_us") == 0);
    cc_flow_free(f);
}

// Far from W_max growth is at most one segment per two acknowledged (form linux), or half a window
// per round trip (form rfc9438: 1.5 windows are the most that is aimed at).
static void test_limits_of_growth(void **state)
{
    (void)state;
    static const struct cc_preset_value *const forms[] = {linux_alone, rfc_alone};
    for (size_t i = 0; i < 2; i++) {
        struct cc_flow *f = flow_new(20, forms[i]);
        signal_at(f, CC_SIGNAL_DUPACK, 0);
        ack(f, 0, 10 * MS, 1);
        for (uint32_t n = 0; n < 14; n++) // long after K: the target is far above
            ack(f, 100 * PS_PER_S, 10 * MS, 1);
        assert_in_range(cwnd(f), 14 + 6, 14 + 7);
        cc_flow_free(f);
    }
}

// Idle time does not count: after it the window continues where it was (Linux; RFC 9438, section
// 5.8 of RFC 8312 says the same of application-limited time).
static void test_idle_time_shifts_the_epoch(void **state)
{
    (void)state;
    static const struct cc_preset_value *const forms[] = {linux_alone, rfc_alone};
    for (size_t i = 0; i < 2; i++) {
        struct cc_flow *busy = flow_new(1000, forms[i]), *paused = flow_new(1000, forms[i]);
        ps_t rtt = 20 * MS, shift = 100 * PS_PER_S;
        signal_at(busy, CC_SIGNAL_DUPACK, 0);
        signal_at(paused, CC_SIGNAL_DUPACK, 0);
        ps_t now = drive(busy, 0, PS_PER_S, rtt);
        assert_int_equal(drive(paused, 0, PS_PER_S, rtt), now);
        struct cc_post post = {.now_ps = now + shift, .idle_ps = shift};
        paused->cc->ops->on_post(paused->cc, &post);
        for (int n = 0; n < 100; n++, now += rtt) {
            drive(busy, now, now + rtt, rtt);
            drive(paused, now + shift, now + shift + rtt, rtt);
            assert_in_range(cwnd(paused) + 1, cwnd(busy), cwnd(busy) + 2);
        }
        assert_true(cwnd(busy) > 850);
        cc_flow_free(busy);
        cc_flow_free(paused);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_of_the_rfc),
        cmocka_unit_test(test_window_of_linux),
        cmocka_unit_test(test_plateau_of_linux),
        cmocka_unit_test(test_reno_friendly_region),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_fast_convergence),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_limits_of_growth),
        cmocka_unit_test(test_idle_time_shifts_the_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
