// SPDX-License-Identifier: MIT
// NewReno against the equations of its RFCs: slow start, one segment per window, losses and marks,
// timeouts, idle time; the sawtooth of one flow against its closed form; and dctcp's slow start,
// which follows the same rules.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_pipe.h"

#define MSS 1448u
#define MS PS_PER_MS

static struct cc_flow *flow_new(const char *policy, uint32_t initial)
{
    struct cc_env env = {.line_bps = UINT64_C(10000000000),
                         .base_rtt_ps = 10 * MS,
                         .mtu_bytes = MSS,
                         .full_wire_bytes = 1500,
                         .initial_window_bytes = initial * MSS};
    return cc_flow_new(policy, NULL, &env, NULL);
}

static uint64_t cwnd(const struct cc_flow *f)
{
    assert_int_equal(f->cc->cwnd_bytes % MSS, 0);
    return f->cc->cwnd_bytes / MSS;
}

static double ssthresh(const struct cc_flow *f) { return cc_flow_seen(f, "ssthresh_bytes") / MSS; }

static void ack(struct cc_flow *f, uint32_t bytes)
{
    struct cc_ack a = {.rtt_ps = 10 * MS, .acked_bytes = bytes, .window_limited = true};
    cc_flow_ack(f, &a);
}

static void signal_kind(struct cc_flow *f, enum cc_signal_kind kind, bool again)
{
    struct cc_signal s = {.kind = kind, .again = again};
    f->cc->ops->on_signal(f->cc, &s);
}

static void idle(struct cc_flow *f, uint32_t rtos)
{
    struct cc_post post = {.idle_ps = rtos * 200 * MS, .idle_rtos = rtos};
    f->cc->ops->on_post(f->cc, &post);
}

// A flow in congestion avoidance with this window: slow start, then a reduction.
static struct cc_flow *avoiding(const char *policy, uint64_t segments)
{
    struct cc_flow *f = flow_new(policy, (uint32_t)(2 * segments));
    signal_kind(f, CC_SIGNAL_DUPACK, false);
    assert_int_equal(cwnd(f), segments);
    return f;
}

// RFC 5681, equation 2 with RFC 3465: the window grows by what is acknowledged, whatever the number
// of ACKs; parts of segments are not lost.
static void test_slow_start(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("newreno", 10);
    assert_int_equal(cwnd(f), 10);
    assert_true(f->cc->rate_bps == f->env.line_bps && ssthresh(f) == 0);
    for (int i = 0; i < 5; i++) // delayed ACKs
        ack(f, 2 * MSS);
    assert_int_equal(cwnd(f), 20);
    for (int i = 0; i < 20; i++)
        ack(f, MSS);
    assert_int_equal(cwnd(f), 40);
    ack(f, 40 * MSS); // one ACK for all
    assert_int_equal(cwnd(f), 80);
    for (int i = 0; i < 7; i++) // quarters of segments: 7/4 of a segment, then 8/4
        ack(f, MSS / 4);
    assert_int_equal(cwnd(f), 81);
    ack(f, MSS / 4);
    assert_int_equal(cwnd(f), 82);
    cc_flow_free(f);
}

// Growth needs a flow that uses all of its window, and no recovery (RFC 7661; RFC 6582).
static void test_no_growth(void **state)
{
    (void)state;
    static const char *const policies[] = {"newreno", "cubic", "dctcp"};
    for (size_t i = 0; i < 3; i++) {
        struct cc_flow *f = flow_new(policies[i], 10);
        struct cc_ack a = {.rtt_ps = 10 * MS, .acked_bytes = 2 * MSS, .snd_una = 1, .snd_nxt = 9};
        cc_flow_ack(f, &a);
        assert_int_equal(cwnd(f), 10);
        a.window_limited = a.recovering = true;
        cc_flow_ack(f, &a);
        assert_int_equal(cwnd(f), 10);
        a.recovering = false;
        cc_flow_ack(f, &a);
        assert_int_equal(cwnd(f), 12);
        cc_flow_free(f);
    }
}

// RFC 5681, section 3.1: ssthresh = max(cwnd / 2, 2) whole segments, for losses and marks alike.
static void test_reductions(void **state)
{
    (void)state;
    static const enum cc_signal_kind kinds[] = {CC_SIGNAL_DUPACK, CC_SIGNAL_ECE, CC_SIGNAL_NACK};
    for (uint32_t before = 1; before < 40; before++)
        for (size_t k = 0; k < 3; k++) {
            struct cc_flow *f = flow_new("newreno", before);
            uint64_t expected = before / 2 > 2 ? before / 2 : 2;
            signal_kind(f, CC_SIGNAL_CNP, false);
            assert_int_equal(cwnd(f), before);
            signal_kind(f, kinds[k], false);
            assert_int_equal(cwnd(f), expected);
            assert_true(ssthresh(f) == (double)expected);
            assert_true(cc_flow_seen(f, "slow_start") == 0);
            cc_flow_free(f);
        }
}

// One segment for each window of acknowledged bytes: after n round trips cwnd + n, with any ACKs.
static void test_congestion_avoidance(void **state)
{
    (void)state;
    for (uint32_t per_ack = 1; per_ack <= 4; per_ack++) {
        struct cc_flow *f = avoiding("newreno", 20);
        uint64_t acked = 0, expected = 20, needed = 20;
        for (int i = 0; i < 1000; i++) {
            ack(f, per_ack * MSS);
            for (acked += per_ack; acked >= needed; needed = ++expected)
                acked -= needed;
            assert_int_equal(cwnd(f), expected);
        }
        assert_true(expected > 20);
        cc_flow_free(f);
    }
}

// The excess of an ACK over the threshold counts for congestion avoidance.
static void test_slow_start_ends_at_the_threshold(void **state)
{
    (void)state;
    struct cc_flow *f = avoiding("newreno", 20);
    signal_kind(f, CC_SIGNAL_TIMEOUT, false);
    assert_int_equal(cwnd(f), 1);
    assert_true(ssthresh(f) == 10);
    ack(f, 8 * MSS); // 9
    ack(f, 5 * MSS); // one to the threshold of 10, then 4 of the next 10
    assert_int_equal(cwnd(f), 10);
    ack(f, 5 * MSS); // 9 of 10
    assert_int_equal(cwnd(f), 10);
    ack(f, MSS);
    assert_int_equal(cwnd(f), 11);
    cc_flow_free(f);
}

// A timeout of data that has timed out before does not lower the threshold again.
static void test_timeouts(void **state)
{
    (void)state;
    static const char *const policies[] = {"newreno", "cubic"};
    for (size_t i = 0; i < 2; i++) {
        struct cc_flow *f = flow_new(policies[i], 100);
        uint64_t expected = i == 0 ? 100 / 2 : 100 * 717 / 1024;
        signal_kind(f, CC_SIGNAL_TIMEOUT, false);
        assert_int_equal(cwnd(f), 1);
        assert_true(ssthresh(f) == (double)expected);
        signal_kind(f, CC_SIGNAL_TIMEOUT, true);
        signal_kind(f, CC_SIGNAL_TIMEOUT, true);
        assert_int_equal(cwnd(f), 1);
        assert_true(ssthresh(f) == (double)expected);
        ack(f, MSS); // growth begins with the first ACK
        assert_int_equal(cwnd(f), 2);
        signal_kind(f, CC_SIGNAL_TIMEOUT, false);
        assert_true(ssthresh(f) == 2);
        cc_flow_free(f);
    }
}

// RFC 2861: the window is halved for each timeout of idle time, not below the initial window or, if
// it is smaller, the window itself; the threshold is at least 3/4 of the window before.
static void test_idle(void **state)
{
    (void)state;
    static const char *const policies[] = {"newreno", "cubic"};
    for (size_t i = 0; i < 2; i++)
        for (uint32_t rtos = 0; rtos < 7; rtos++) {
            struct cc_flow *f = flow_new(policies[i], 10);
            for (int n = 0; n < 150; n++) // 160 segments: HyStart is quiet, the RTT does not change
                ack(f, MSS);
            assert_int_equal(cwnd(f), 160);
            uint64_t expected = 160u >> rtos > 10 ? 160u >> rtos : 10;
            idle(f, rtos);
            assert_int_equal(cwnd(f), expected);
            assert_true(ssthresh(f) == 0); // no threshold is higher than any
            signal_kind(f, CC_SIGNAL_ECE, false);
            uint64_t reduced = cwnd(f);
            idle(f, 9);
            assert_int_equal(cwnd(f), reduced < 10 ? reduced : 10);
            assert_true(ssthresh(f) == (double)reduced); // above 3/4 of the window
            cc_flow_free(f);
        }
    struct cc_flow *f = flow_new("newreno", 10);
    ack(f, 30 * MSS);
    signal_kind(f, CC_SIGNAL_DUPACK, false);
    for (int n = 0; n < 1000; n++)
        ack(f, MSS);
    uint64_t before = cwnd(f);
    assert_true(before > 40);
    idle(f, 2);
    assert_int_equal(cwnd(f), before / 4 > 10 ? before / 4 : 10);
    assert_true(ssthresh(f) == (double)(before / 2 + before / 4));
    assert_true(cc_flow_seen(f, "slow_start") == 1);
    cc_flow_free(f);
}

// ---- one flow over a queue ----

struct teeth {
    uint64_t n, top;
    ps_t at_ps, period_ps;
};

static void tooth(struct cc_pipe *pipe, const struct cc_flow *f, void *ctx)
{
    struct teeth *t = ctx;
    (void)f;
    if (!pipe->signalled)
        return;
    t->period_ps = pipe->now_ps - t->at_ps;
    t->at_ps = pipe->now_ps;
    t->top = pipe->cwnd_before / MSS;
    t->n++;
}

// A drop-tail queue of q packets before a line of rate C with a propagation RTT D. The window W
// grows by one segment per round trip from half its peak; the peak is what line and queue hold, W =
// C D + q, and one more, which is lost. While W > C D the line is busy and a round trip lasts W /
// C; below, where the queue is empty, D. The period is the sum of these round trips and one more at
// the peak, in which the loss is repaired. Until the loss is noticed the window may grow once more:
// up to one more round trip at the peak.
static void test_sawtooth(void **state)
{
    (void)state;
    static const uint64_t queues[] = {21, 42, 83, 167};
    const double packet_s = 1500 * 8 / 50e6, rtt_s = 0.02;
    for (size_t i = 0; i < 4; i++) {
        struct teeth teeth = {0};
        struct cc_pipe pipe = {.rate_bps = 50000000,
                               .delay_ps = 10 * MS,
                               .back_ps = 10 * MS,
                               .wire_bytes = 1500,
                               .mss = MSS,
                               .per_ack = 2,
                               .limit_pkts = queues[i],
                               .packets = 100000,
                               .watch = tooth,
                               .ctx = &teeth};
        struct cc_flow *f = flow_new("newreno", 10);
        cc_pipe_run(&pipe, f);
        double holds = rtt_s / packet_s + (double)queues[i], top = floor(holds) + 1;
        double least_s = rtt_s + packet_s, period_s = top * packet_s;
        for (double w = ceil(top / 2); w <= top; w++)
            period_s += w * packet_s > least_s ? w * packet_s : least_s;
        print_message("queue %3u: peak %u, theory %.1f; period %.1f ms, theory %.1f ms\n",
                      (unsigned)queues[i], (unsigned)teeth.top, top, (double)teeth.period_ps / 1e9,
                      period_s * 1e3);
        assert_true(teeth.n > 3);
        assert_in_range(teeth.top, (uint64_t)top, (uint64_t)top + 1);
        double late_s = (double)teeth.period_ps / 1e12 - period_s;
        assert_true(late_s > -0.001 && late_s < top * packet_s);
        cc_flow_free(f);
    }
}

// ---- dctcp with an initial window ----

static void mark(struct cc_flow *f, uint64_t una, uint64_t nxt, uint32_t acked, uint32_t ce)
{
    struct cc_ack a = {.rtt_ps = 10 * MS,
                       .snd_una = una * MSS,
                       .snd_nxt = nxt * MSS,
                       .acked_bytes = acked * MSS,
                       .ce_bytes = ce * MSS,
                       .window_limited = true};
    cc_flow_ack(f, &a);
}

// RFC 8257: slow start as in TCP until the first mark, which cuts by alpha/2 = 1/2.
static void test_dctcp_slow_start(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("dctcp", 10);
    assert_int_equal(cwnd(f), 10);
    mark(f, 10, 20, 10, 0);
    assert_int_equal(cwnd(f), 20);
    mark(f, 30, 50, 20, 0);
    assert_int_equal(cwnd(f), 40);
    mark(f, 32, 72, 2, 2);
    assert_true(cc_flow_seen(f, "alpha") == 15.0 / 16); // one window without marks has ended
    double window = 40.0 * MSS * (1 - 15.0 / 32);
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)window);
    mark(f, 73, 93, 41, 0); // past the cut: congestion avoidance, MSS * acked / W
    assert_int_equal(f->cc->cwnd_bytes, (uint64_t)(window + (double)MSS * 41 * MSS / window));
    cc_flow_free(f);
}

// A loss halves; a timeout starts slowly up to half the window; two segments are the least.
static void test_dctcp_losses(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("dctcp", 64);
    signal_kind(f, CC_SIGNAL_ECE, false); // the marked bytes count instead
    assert_int_equal(cwnd(f), 64);
    signal_kind(f, CC_SIGNAL_DUPACK, false);
    assert_int_equal(cwnd(f), 32);
    signal_kind(f, CC_SIGNAL_TIMEOUT, false);
    assert_int_equal(cwnd(f), 1);
    signal_kind(f, CC_SIGNAL_TIMEOUT, true);
    for (uint64_t i = 1; i <= 15; i++)
        mark(f, i, i, 1, 0);
    assert_int_equal(cwnd(f), 16); // the threshold
    mark(f, 16, 16, 1, 0);
    assert_int_equal(f->cc->cwnd_bytes, 16 * MSS + MSS / 16);
    cc_flow_free(f);

    f = flow_new("dctcp", 3);
    signal_kind(f, CC_SIGNAL_DUPACK, false);
    assert_int_equal(cwnd(f), 2);
    cc_flow_free(f);
}

static void test_dctcp_idle(void **state)
{
    (void)state;
    for (uint32_t rtos = 0; rtos < 6; rtos++) {
        struct cc_flow *f = flow_new("dctcp", 10);
        for (uint64_t i = 1; i <= 70; i++)
            mark(f, i, i, 1, 0);
        idle(f, rtos);
        assert_int_equal(cwnd(f), 80u >> rtos > 10 ? 80u >> rtos : 10u);
        mark(f, 71, 71, 1, 0);
        assert_int_equal(cwnd(f), (80u >> rtos > 10 ? 80u >> rtos : 10u) + 1); // still slow start
        cc_flow_free(f);
    }
}

// Policies of RoCE that run with an initial window: they begin with their own window.
static void test_swift_and_window(void **state)
{
    (void)state;
    static const char *const policies[] = {"swift", "window"};
    for (size_t i = 0; i < 2; i++) {
        struct cc_flow *with = flow_new(policies[i], 10), *without = flow_new(policies[i], 0);
        assert_int_equal(with->cc->cwnd_bytes, without->cc->cwnd_bytes);
        cc_flow_free(with);
        cc_flow_free(without);
    }
    // Swift does not grow while a loss is being repaired.
    struct cc_flow *f = flow_new("swift", 10);
    uint64_t before = f->cc->cwnd_bytes;
    struct cc_ack a = {.rtt_ps = 10 * MS, .acked_bytes = MSS, .recovering = true};
    cc_flow_ack(f, &a);
    assert_int_equal(f->cc->cwnd_bytes, before);
    a.recovering = false;
    for (int n = 0; n < 1000; n++)
        cc_flow_ack(f, &a);
    assert_true(f->cc->cwnd_bytes > before);
    cc_flow_free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slow_start),
        cmocka_unit_test(test_no_growth),
        cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_congestion_avoidance),
        cmocka_unit_test(test_slow_start_ends_at_the_threshold),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_idle),
        cmocka_unit_test(test_sawtooth),
        cmocka_unit_test(test_dctcp_slow_start),
        cmocka_unit_test(test_dctcp_losses),
        cmocka_unit_test(test_dctcp_idle),
        cmocka_unit_test(test_swift_and_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
