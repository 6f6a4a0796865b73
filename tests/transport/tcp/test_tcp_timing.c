// SPDX-License-Identifier: MIT
// Tables for TCP's clocks: delays on a timer wheel, and the retransmission timeout after sequences
// of RTT samples.
//
// The wheel of Linux (kernel/time/timer.c): a delay of d ticks ends at the first tick after it, and
// from 63 * 8^k ticks on at the next multiple of 8^(k+1) ticks.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "transport/tcp/tcp.h"

#define MS PS_PER_MS

static void test_wheel(void **state)
{
    (void)state;
    static const struct {
        ps_t tick, delay, now, at; // at: absolute time
    } rows[] = {
        {0, 12345, 99, 99 + 12345},  // exact
        {4 * MS, 1 * MS, 0, 8 * MS}, // one tick, and the first tick after it
        {4 * MS, 4 * MS, 0, 8 * MS},
        {4 * MS, 4 * MS, 3 * MS, 8 * MS},
        {4 * MS, 4 * MS + 1, 0, 12 * MS},
        {4 * MS, 40 * MS, 4 * MS, 48 * MS}, // a delayed ACK
        {4 * MS, 200 * MS, 0, 204 * MS},    // 50 ticks
        {4 * MS, 248 * MS, 0, 252 * MS},    // 62 ticks
        {4 * MS, 252 * MS, 0, 256 * MS},    // 63 ticks: multiples of 32 ms
        {4 * MS, 248 * MS, 8 * MS, 260 * MS},
        {4 * MS, 252 * MS, 4 * MS, 288 * MS},
        {4 * MS, 260 * MS, 0, 288 * MS},
        {4 * MS, 1000 * MS, 4 * MS, 1024 * MS}, // 250 ticks
        {4 * MS, 2012 * MS, 0, 2016 * MS},      // 503 ticks
        {4 * MS, 2016 * MS, 0, 2048 * MS},      // 504 ticks: multiples of 256 ms
        {4 * MS, 3000 * MS, 0, 3072 * MS},
        {1 * MS, 5000 * MS, 0, 5120 * MS}, // 5000 ticks: multiples of 512
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rows[i].now + tcp_tick_delay(rows[i].tick, rows[i].delay, rows[i].now),
                         rows[i].at);
    // never before the delay is over, never later than a step and a tick
    for (ps_t delay = 0; delay < 40000; delay += 7)
        for (ps_t now = 0; now < 30; now += 3) {
            ps_t got = tcp_tick_delay(10, delay, now), step = 10;
            for (ps_t level = 63; (delay + 9) / 10 >= level; level *= 8)
                step *= 8;
            assert_true(got >= delay && got <= delay + step + 10);
        }
}

struct flow {
    struct transport_dim dim;
    struct sender *s;
};

static void flow_open(struct flow *flow, ps_t rto_min, ps_t tick)
{
    *flow = (struct flow){.s = calloc(1, sizeof(struct sender) + sizeof(struct tcp_sender))};
    tcp_spec_of(&flow->dim.spec)->rto_min_ps = rto_min;
    tcp_spec_of(&flow->dim.spec)->tick_ps = tick;
    flow->s->dim = &flow->dim;
    tcp_of(flow->s)->rto_ps = 1000 * MS;
}

static void test_rtt(void **state)
{
    (void)state;
    struct flow flow;
    flow_open(&flow, 200 * MS, 0);
    struct tcp_sender *t = tcp_of(flow.s);
    assert_int_equal(tcp_rto_ps(flow.s), 1000 * MS);
    tcp_rtt_sample(flow.s, 80 * MS); // SRTT = R, RTTVAR = R / 2, here 4 * RTTVAR < rto_min
    assert_int_equal(t->srtt_ps, 80 * MS);
    assert_int_equal(t->mdev_ps, 160 * MS);
    assert_int_equal(tcp_rto_ps(flow.s), 280 * MS);
    tcp_rtt_sample(flow.s, 160 * MS); // SRTT += 1/8 of 80, 4 * deviation += 80 - 160 / 4
    assert_int_equal(t->srtt_ps, 90 * MS);
    assert_int_equal(t->mdev_ps, 200 * MS);
    tcp_rtt_sample(flow.s, 400 * MS); // 310 above: 90 + 310 / 8, 200 + 310 - 50
    assert_int_equal(t->srtt_ps, 90 * MS + 310 * MS / 8);
    assert_int_equal(t->mdev_ps, 460 * MS);
    assert_int_equal(tcp_rto_ps(flow.s), t->srtt_ps + 460 * MS);
    // a fall of the RTT raises the deviation eight times more slowly
    ps_t srtt = t->srtt_ps, excess = srtt - 1 * MS - 115 * MS;
    tcp_rtt_sample(flow.s, 1 * MS);
    assert_int_equal(t->mdev_ps, 460 * MS + excess / 8);
    free(flow.s);
}

// Each timeout doubles the timeout, up to 120 s; a sample ends that.
static void test_backoff(void **state)
{
    (void)state;
    struct flow flow;
    flow_open(&flow, 200 * MS, 4 * MS);
    tcp_rtt_sample(flow.s, 10 * MS + 1);
    assert_int_equal(tcp_rto_ps(flow.s), 212 * MS); // a whole number of ticks
    for (uint32_t n = 0; n < 40; n++) {
        tcp_of(flow.s)->backoff = n;
        ps_t want = n < 10 && 212 * MS << n < 120 * PS_PER_S ? 212 * MS << n : 120 * PS_PER_S;
        assert_int_equal(tcp_rto_ps(flow.s), want);
    }
    tcp_rtt_sample(flow.s, 10 * MS);
    assert_int_equal(tcp_of(flow.s)->backoff, 0);
    free(flow.s);
}

// With equal samples RTTVAR decays by a quarter of its distance per round trip, to rto_min.
static void test_decay(void **state)
{
    (void)state;
    struct flow flow;
    flow_open(&flow, 1 * MS, 0);
    struct tcp_sender *t = tcp_of(flow.s);
    tcp_rtt_sample(flow.s, 100 * MS);
    assert_int_equal(t->rttvar_ps, 200 * MS);
    ps_t before = t->rttvar_ps;
    for (unsigned round = 0; round < 60; round++) {
        flow.s->una = ++flow.s->nxt;
        flow.s->nxt++;
        tcp_rtt_sample(flow.s, 100 * MS);
        assert_true(t->rttvar_ps <= before && t->rttvar_ps >= 1 * MS);
        before = t->rttvar_ps;
    }
    assert_true(t->rttvar_ps < 2 * MS);
    assert_int_equal(t->srtt_ps, 100 * MS);
    free(flow.s);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wheel),
        cmocka_unit_test(test_rtt),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_decay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
