// SPDX-License-Identifier: MIT
// HyStart's rules one by one, and CUBIC over a closed model of a path against measured runs of
// Linux.
//
// The measured runs: Linux 6.18.44, tcp_cubic, one flow over a wire of exact timing (drop-tail
// queue, packets of 1500 B with 1448 B of payload, initial window 10). The figures are medians of
// three.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cc/hystart.h"
#include "tests/support/cc_pipe.h"

#define MSS 1448u
#define MS PS_PER_MS
#define US PS_PER_US

static const struct cc_env env_100m = {.line_bps = 100000000,
                                       .base_rtt_ps = 40 * MS,
                                       .mtu_bytes = MSS,
                                       .full_wire_bytes = 1500,
                                       .initial_window_bytes = 10 * MSS};

// ---- the rules ----

// One ACK of a round that begins with data 1000 and RTT 100 ms.
static bool classic(struct hystart *h, ps_t now, ps_t rtt, uint32_t cwnd)
{
    struct cc_ack a = {.now_ps = now, .rtt_ps = rtt, .snd_una = 500, .snd_nxt = 2000};
    hystart_rtt(h, rtt);
    return hystart_classic(h, &env_100m, &a, cwnd);
}

// By delay: the ninth sample of a round decides, if the least exceeds the path's least by an eighth
// of it, at least by 4 ms and at most by 16 ms.
static void test_classic_delay(void **state)
{
    (void)state;
    static const struct {
        ps_t least, threshold;
    } cases[] = {{10 * MS, 4 * MS},        {32 * MS, 4 * MS},   {80 * MS, 10 * MS},
                 {100 * MS, 100 * MS / 8}, {128 * MS, 16 * MS}, {400 * MS, 16 * MS}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (ps_t more = 0; more <= 1; more++) {
            struct hystart h;
            ps_t now = 0, rtt = cases[i].least + cases[i].threshold + more;
            hystart_begin(&h, 1000, now);
            hystart_rtt(&h, cases[i].least);
            for (int n = 1; n <= 20; n++) { // gaps of 3 ms: no train
                bool over = classic(&h, now += 3 * MS, rtt, 16);
                assert_true(over == (n >= 9 && more > 0));
                if (over)
                    break;
            }
        }
    struct hystart h; // below 16 segments nothing counts
    hystart_begin(&h, 1000, 0);
    hystart_rtt(&h, 10 * MS);
    for (ps_t n = 1; n < 50; n++)
        assert_false(classic(&h, n * 3 * MS, 50 * MS, 15));
    assert_false(classic(&h, 150 * MS, 50 * MS, 16));
}

// By the train: ACKs not more than 2 ms apart, for more than half of the least RTT and the slack.
// Slack: four bursts of 64 KB at two windows per RTT, at most 1 ms.
static void test_classic_train(void **state)
{
    (void)state;
    ps_t rtt = 40 * MS;
    for (int gap = 0; gap < 2; gap++) {
        struct hystart h;
        bool over = false;
        ps_t now = 0;
        hystart_begin(&h, 1000, now);
        for (; !over && now < 2 * rtt; now += 2 * MS + gap)
            over = classic(&h, now, rtt, 16);
        // 262 144 B at 2 * 16 * 1448 B per 40 ms are 226 ms, so the slack is 1 ms: 20.5 ms
        assert_true(over == (gap == 0));
        if (over)
            assert_true(now - 2 * MS == 22 * MS);
    }
    struct hystart h;
    ps_t now = 0, step = 100 * US, slack = 0;
    uint32_t cwnd = 100000; // 262 144 B at 2 * 1e5 * 1448 B per 40 ms
    slack = (ps_t)(262144.0 / (2.0 * cwnd * MSS) * (double)rtt);
    assert_true(slack < MS);
    hystart_begin(&h, 1000, now);
    while (!classic(&h, now, rtt, cwnd))
        now += step;
    assert_true(now > (rtt + slack) / 2 && now - step <= (rtt + slack) / 2);
}

// RFC 9406: eight samples; the round's least RTT against that of the round before; then a quarter
// of the growth for five rounds, or back to slow start if the RTT falls below that of the
// beginning.
static void test_rfc9406(void **state)
{
    (void)state;
    for (int falls = 0; falls < 2; falls++) {
        struct hystart h;
        uint64_t end = 0;
        int rounds = 0;
        bool over = false;
        hystart_begin(&h, 0, 0);
        for (int round = 0; round < 12 && !over; round++) {
            // 40 ms twice, then 44.9 (less than 40 + 5), then 50 (more than 44.9 + 5.6: no: 49.9 +
            // ..)
            static const ps_t rtts[] = {40 * MS, 40 * MS, 449 * MS / 10, 51 * MS};
            ps_t rtt = rtts[round < 3 ? round : 3];
            if (falls && round >= 5)
                rtt -= MS;
            for (int n = 1; n <= 10 && !over; n++) {
                struct cc_ack a = {.rtt_ps = rtt, .snd_una = end, .snd_nxt = end + 10};
                over = hystart_plus(&h, &a);
                a.snd_una = end + (uint64_t)n;
                bool expected = round > 3 || (round == 3 && n >= 8);
                if (falls && (round > 5 || (round == 5 && n >= 8)))
                    expected = false;
                if (!over)
                    assert_true(h.conservative == expected);
                uint64_t bytes = hystart_growth_bytes(&h, &env_100m, 4 * MSS);
                assert_int_equal(bytes, h.conservative ? MSS : 4 * MSS);
            }
            end += 10;
            rounds = round;
        }
        assert_true(over == !falls);
        if (over)
            assert_int_equal(rounds, 3 + 5); // conservative from round 3 on, which counts
        assert_int_equal(hystart_growth_bytes(&(struct hystart){0}, &env_100m, 20 * MSS), 8 * MSS);
    }
}

// ---- measured runs ----

struct seen {
    uint64_t exit_cwnd, exit_acked;
    ps_t exit_ps;
    uint64_t n, first_top, first_cut, top, cut;
    ps_t at_ps, period_ps;
    bool slow_before;
};

static void watch(struct cc_pipe *pipe, const struct cc_flow *f, void *ctx)
{
    struct seen *s = ctx;
    bool slow = cc_flow_seen(f, "slow_start") > 0;
    if (s->exit_ps == 0 && !slow) {
        s->exit_ps = pipe->now_ps;
        s->exit_cwnd = f->cc->cwnd_bytes / MSS;
        s->exit_acked = pipe->acked;
    }
    if (!pipe->signalled)
        return;
    s->top = pipe->cwnd_before / MSS;
    s->cut = f->cc->cwnd_bytes / MSS;
    if (s->n++ == 0) {
        s->first_top = s->top;
        s->first_cut = s->cut;
    }
    s->period_ps = pipe->now_ps - s->at_ps;
    s->at_ps = pipe->now_ps;
}

// The hosts' own time: the least RTT that Linux saw was 60 us above that of the wire (from its
// smoothed RTTs after the first ACKs).
#define HOSTS (60 * US)

static struct seen run_cubic(const struct cc_preset_value *changes, uint64_t rate_bps,
                             ps_t delay_ps, uint64_t per_ack, uint64_t limit, uint64_t packets)
{
    struct seen seen = {0};
    struct cc_pipe pipe = {.rate_bps = rate_bps,
                           .delay_ps = delay_ps,
                           .back_ps = delay_ps + HOSTS,
                           .wire_bytes = 1500,
                           .mss = MSS,
                           .per_ack = per_ack,
                           .limit_pkts = limit,
                           .packets = packets,
                           .watch = watch,
                           .ctx = &seen};
    struct cc_flow *f = cc_flow_new("cubic", NULL, &env_100m, changes);
    cc_pipe_run(&pipe, f);
    cc_flow_free(f);
    return seen;
}

// Slow start at 100 Mb/s and 40 ms, no queue limit: the ACK train ends it.
static void test_exit_of_slow_start(void **state)
{
    (void)state;
    static const struct {
        uint64_t per_ack, cwnd, acked;
        double at_ms;
    } measured[] = {{2, 494, 486, 262.8}, {1, 492, 483, 261.9}};
    for (size_t i = 0; i < 2; i++) {
        struct seen s = run_cubic(NULL, 100000000, 20 * MS, measured[i].per_ack, 0, 2000);
        print_message("an ACK per %u: exit at %.2f ms, window %u; measured %.1f ms, %u\n",
                      (unsigned)measured[i].per_ack, (double)s.exit_ps / 1e9, (unsigned)s.exit_cwnd,
                      measured[i].at_ms, (unsigned)measured[i].cwnd);
        assert_int_equal(s.exit_cwnd, measured[i].cwnd);
        assert_int_equal(s.exit_acked, measured[i].acked);
        assert_true(fabs((double)s.exit_ps / 1e9 - measured[i].at_ms) < 0.3);
    }
    static const struct cc_preset_value off[] = {{"hystart", "off"}, CC_END};
    struct seen s = run_cubic(off, 100000000, 20 * MS, 2, 0, 2000);
    assert_int_equal(s.exit_ps, 0); // as measured: slow start to the end
}

// The steady state at 50 Mb/s and 20 ms with queues of 42 and 167 packets: peak, reduction, period.
// The repair of losses is idealized here, which changes the period by some ACKs.
static void test_steady_state(void **state)
{
    (void)state;
    static const struct {
        uint64_t limit, first, first_cut, top, cut;
        double period_ms;
    } measured[] = {{42, 130, 91, 126, 88, 1902.0}, {167, 263, 184, 251, 175, 4482.3}};
    for (size_t i = 0; i < 2; i++) {
        struct seen s = run_cubic(NULL, 50000000, 10 * MS, 2, measured[i].limit, 150000);
        double period_ms = (double)s.period_ps / 1e9;
        print_message("queue %3u: peak %u, cut to %u, period %.1f ms; measured %u, %u, %.1f ms\n",
                      (unsigned)measured[i].limit, (unsigned)s.top, (unsigned)s.cut, period_ms,
                      (unsigned)measured[i].top, (unsigned)measured[i].cut, measured[i].period_ms);
        assert_in_range(s.first_top, measured[i].first, measured[i].first + 1);
        assert_in_range(s.first_cut, measured[i].first_cut, measured[i].first_cut + 1);
        assert_int_equal(s.top, measured[i].top);
        assert_int_equal(s.cut, measured[i].cut);
        assert_true(fabs(period_ms / measured[i].period_ms - 1) < 0.01);
    }
    // The real numbers of the RFC have another period: W reaches W_max only at K.
    static const struct cc_preset_value rfc[] = {
        {"form", "rfc9438"}, {"hystart", "rfc9406"}, CC_END};
    struct seen s = run_cubic(rfc, 50000000, 10 * MS, 2, 167, 150000);
    double k_s = cbrt((251 - 175) / 0.4);
    print_message("rfc9438: period %.1f ms, K %.1f ms\n", (double)s.period_ps / 1e9, k_s * 1e3);
    assert_true(fabs((double)s.period_ps / 1e12 / k_s - 1) < 0.05);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classic_delay), cmocka_unit_test(test_classic_train),
        cmocka_unit_test(test_rfc9406),       cmocka_unit_test(test_exit_of_slow_start),
        cmocka_unit_test(test_steady_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
