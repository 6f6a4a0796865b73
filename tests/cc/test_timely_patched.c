// SPDX-License-Identifier: MIT
// Patched TIMELY against values computed by hand, and its fixed point with a fluid queue.
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
    return timely_flow("timely_patched", preset, line_bps, changes);
}

// beta 0.2, so that its effect is visible.
static struct cc_flow *plain_new(void)
{
    static const struct cc_preset_value plain[] = {TIMELY_PLAIN, {"beta", "0.2"}, CC_END};
    return flow_new(NULL, 100 * G, plain);
}

static void test_start(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new(NULL, 100 * G, NULL);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    assert_true(f->cc->cwnd_bytes == CC_UNLIMITED);
    assert_int_equal(f->cc->ops->needs, CC_NEEDS_PACING);
    assert_non_null(f->cc->ops->check);
    for (size_t i = 0; i < f->cc->ops->n_presets; i++)
        assert_false(f->cc->ops->presets[i].profile.ecn);
    cc_flow_free(f);
}

// w = 2 g + 1/2 within [0, 1].
static void test_weight(void **state)
{
    (void)state;
    static const struct {
        ps_t from_ps, to_ps;
        double gradient, weight;
    } rows[] = {
        {100 * US, 100 * US, 0, 0.5},     // g = 0.5 * (to - from) / 25 us
        {100 * US, 105 * US, 0.1, 0.7},   //
        {100 * US, 95 * US, -0.1, 0.3},   //
        {100 * US, 112500 * NS, 0.25, 1}, // the corners
        {100 * US, 87500 * NS, -0.25, 0}, //
        {100 * US, 112 * US, 0.24, 0.98}, // just inside
        {100 * US, 88 * US, -0.24, 0.02}, //
        {100 * US, 200 * US, 2, 1},       // beyond
        {200 * US, 100 * US, -2, 0},      //
        {105 * US, 108125 * NS, 0.0625, 0.625},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct cc_flow *f = plain_new();
        timely_net(f, rows[i].from_ps);
        timely_net(f, rows[i].to_ps);
        timely_near(cc_flow_seen(f, "gradient"), rows[i].gradient);
        timely_near(cc_flow_seen(f, "weight"), rows[i].weight);
        cc_flow_free(f);
    }
}

static void test_between_thresholds(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new();
    timely_net(f, 100 * US);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    timely_net(f, 100 * US); // w = 1/2, error 60/40: 0.2/2 Gb/s + R (1 - 0.2 * 0.5 * 1.5)
    assert_int_equal(f->cc->rate_bps, 85100 * M);
    timely_net(f, 112500 * NS); // w = 1, error 72.5/40: R (1 - 0.2 * 1.8125)
    assert_int_equal(f->cc->rate_bps, UINT64_C(54251250000));
    timely_net(f, 60 * US); // g = 0.125 - 1.05 = -0.925, w = 0: + delta
    assert_int_equal(f->cc->rate_bps, UINT64_C(54451250000));
    timely_net(f, 80 * US); // g = -0.4625 + 0.4 = -0.0625, w = 0.375, error 1
    assert_int_equal(f->cc->rate_bps, UINT64_C(54451250000) * 37 / 40 + 125 * M);
    cc_flow_free(f);
}

static void test_thresholds(void **state)
{
    (void)state;
    struct cc_flow *f = plain_new();
    timely_net(f, 500 * US);
    timely_net(f, 500 * US); // above: 1 - 0.2 (1 - 400/500)
    assert_int_equal(f->cc->rate_bps, 96 * G);
    timely_near(cc_flow_seen(f, "weight"), 0);
    timely_net(f, 400 * US); // t_high itself: g = -2, w = 0: + delta
    assert_int_equal(f->cc->rate_bps, 96200 * M);
    timely_net(f, 400 * US + 1); // above: 1 - 0.2 / (4e8 + 1)
    assert_int_equal(f->cc->rate_bps, UINT64_C(96199999952));
    timely_net(f, 400 * US); // g = -0.5 about, w = 0
    timely_near(cc_flow_seen(f, "weight"), 0);
    assert_int_equal(f->cc->rate_bps, UINT64_C(96399999952));
    for (int i = 0; i < 5; i++)
        timely_net(f, 20 * US); // below: + delta, whatever g is
    assert_int_equal(f->cc->rate_bps, UINT64_C(97399999952));
    timely_net(f, 40 * US - 1); // still below, though g > 1/4 would forbid any increase
    timely_net(f, 20 * US);
    timely_net(f, 40 * US - 1);
    assert_int_equal(f->cc->rate_bps, UINT64_C(97999999952));
    cc_flow_free(f);

    f = plain_new();
    timely_net(f, 500 * US);
    timely_net(f, 500 * US);
    for (int i = 0; i < 17; i++) // below, while g decays to -9.22 / 2^16
        timely_net(f, 39 * US);
    assert_int_equal(f->cc->rate_bps, 99400 * M);
    timely_net(f, 40 * US); // t_low itself: g = 0.02, w = 0.54, and the error is 0
    assert_in_range(f->cc->rate_bps, 99492 * M, 99492 * M + 30000);
    cc_flow_free(f);
}

static void test_bounds(void **state)
{
    (void)state;
    static const struct cc_preset_value strong[] = {TIMELY_PLAIN, {"beta", "1"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, strong);
    for (int i = 0; i < 3; i++)
        timely_net(f, 10 * US);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    timely_net(f, 120 * US); // w = 1, error 2: R (1 - 2) < 0
    assert_int_equal(f->cc->rate_bps, 100 * M);
    cc_flow_free(f);

    static const struct cc_preset_value halves[] = {
        TIMELY_PLAIN, {"beta", "1"}, {"min_cut", "0.5"}, CC_END};
    f = flow_new(NULL, 100 * G, halves);
    timely_net(f, 40 * US);
    timely_net(f, 120 * US);
    assert_int_equal(f->cc->rate_bps, 50 * G);
    timely_net(f, 2000 * US); // 1 - 0.8
    assert_int_equal(f->cc->rate_bps, 25 * G);
    cc_flow_free(f);
}

// An elapsed step scales increase and decrease alike.
static void test_elapsed_step(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {
        TIMELY_PLAIN, {"beta", "0.2"}, {"step", "elapsed"}, CC_END};
    const ps_t rtt_ps = 100 * US + 100 * NS;
    struct cc_flow *f = flow_new(NULL, 100 * G, changes);
    timely_ack(f, 0, rtt_ps, 1000);
    timely_ack(f, 5 * US, rtt_ps, 1000); // a fifth of + 0.1 - 15 Gb/s
    assert_int_equal(f->cc->rate_bps, 97020 * M);
    timely_ack(f, 30 * US, rtt_ps, 1000); // a full step: + 0.1 - 14.553
    assert_int_equal(f->cc->rate_bps, 82567 * M);
    cc_flow_free(f);
}

static void test_idle_and_cap(void **state)
{
    (void)state;
    static const struct cc_preset_value changes[] = {
        TIMELY_PLAIN, {"beta", "0.2"}, {"idle_restart", "90us"}, {"window_bdp", "1"}, CC_END};
    struct cc_flow *f = flow_new(NULL, 100 * G, changes);
    assert_int_equal(f->cc->cwnd_bytes, 100000);
    timely_net(f, 100 * US);
    timely_net(f, 100 * US);
    assert_int_equal(f->cc->rate_bps, 85100 * M);
    timely_post(f, 8 * US);
    timely_near(cc_flow_seen(f, "rtt_us"), 100);
    timely_post(f, 8 * US + 1);
    timely_near(cc_flow_seen(f, "rtt_us"), 0);
    timely_net(f, 300 * US); // only the reference
    assert_int_equal(f->cc->rate_bps, 85100 * M);
    timely_post(f, 90 * US - 1);
    assert_int_equal(f->cc->rate_bps, 85100 * M);
    timely_post(f, 90 * US);
    assert_int_equal(f->cc->rate_bps, 100 * G);
    timely_near(cc_flow_seen(f, "weight"), 0);
    cc_flow_free(f);
}

static void test_scaled_and_paper(void **state)
{
    (void)state;
    static const uint64_t lines[] = {25, 100, 800};
    for (size_t i = 0; i < 3; i++) {
        ps_t at = 0, packet_ps = serialization_ps(1250, lines[i] * G);
        struct cc_flow *f = flow_new(NULL, lines[i] * G, NULL);
        timely_segments(f, 2, &at, 116 * US + packet_ps); // t_low 58: error 1, w 1/2
        // line (1 + 0.001 * 0.5 - 0.008 * 0.5)
        assert_int_equal(f->cc->rate_bps, lines[i] * 996500 * 1000);
        timely_segments(f, 1, &at, 58 * US - 1 + packet_ps); // below: + line / 1000
        assert_int_equal(f->cc->rate_bps, lines[i] * 997500 * 1000);
        timely_segments(f, 1, &at, 635 * US + packet_ps); // t_high 508: 1 - 0.008 * 0.2
        assert_int_equal(f->cc->rate_bps, lines[i] * 995904 * 1000);
        cc_flow_free(f);
    }
    ps_t at = 0;
    struct cc_flow *f = flow_new("paper", 20 * G, NULL); // absolute: 50 us; a packet takes 0.5 us
    timely_segments(f, 2, &at, 100 * US + 500 * NS);     // 20 G (1 - 0.004) + 5 Mb/s
    assert_int_equal(f->cc->rate_bps, 19925 * M);
    timely_segments(f, 1, &at, 49 * US);
    assert_int_equal(f->cc->rate_bps, 19935 * M);
    cc_flow_free(f);
}

// ---- N flows with a fluid queue ----

enum { FLUID_FLOWS = 8, FLUID_HISTORY = 1024 };

struct fluid {
    struct cc_flow *flows[FLUID_FLOWS];
    uint64_t n, line_bps;
    double queue_bytes, rtt_us[FLUID_HISTORY]; // RTT of a packet that enters in this microsecond
};

// One microsecond: rates fill the queue, and ACKs report the queue of one RTT ago.
static void fluid_step(struct fluid *fluid, int64_t us)
{
    const double base_us = 8; // an empty path
    double in_bps = 0;
    for (uint64_t i = 0; i < fluid->n; i++)
        in_bps += (double)fluid->flows[i]->cc->rate_bps;
    fluid->queue_bytes += (in_bps - (double)fluid->line_bps) / 8e6;
    if (fluid->queue_bytes < 0)
        fluid->queue_bytes = 0;
    double rtt_us = base_us + fluid->queue_bytes * 8e6 / (double)fluid->line_bps;
    fluid->rtt_us[us % FLUID_HISTORY] = rtt_us;
    int64_t sent = us - (int64_t)rtt_us;
    if (sent < 0 || rtt_us >= (double)FLUID_HISTORY)
        return;
    for (uint64_t i = 0; i < fluid->n; i++) {
        struct cc_flow *f = fluid->flows[i];
        timely_ack(f, us * US, (ps_t)(fluid->rtt_us[sent % FLUID_HISTORY] * 1e6),
                   (uint32_t)(f->cc->rate_bps / 8000000));
    }
}

// q* = C (t_low (1 + N delta / (beta C)) - the RTT of an empty queue), and each flow gets C / N.
static void check_fixed_point(uint64_t line_bps, uint64_t n, const struct cc_preset_value *changes,
                              double delta_over_line, double beta)
{
    struct fluid fluid = {.n = n, .line_bps = line_bps};
    for (uint64_t i = 0; i < n; i++) { // from shares of 1 : 2 : ... : n
        fluid.flows[i] = flow_new(NULL, line_bps, changes);
        fluid.flows[i]->cc->rate_bps = line_bps * (i + 1) * 2 / (n * (n + 1));
    }
    const int64_t end_us = 300000, settled_us = 250000;
    double sum_bytes = 0;
    for (int64_t us = 0; us < end_us; us++) {
        fluid_step(&fluid, us);
        if (us >= settled_us)
            sum_bytes += fluid.queue_bytes;
    }
    double own_us = 1250 * 8e6 / (double)line_bps; // not included in a sample
    double rtt_us = (8 + 50) * (1 + (double)n * delta_over_line / beta);
    double want_bytes = (rtt_us - (8 - own_us)) * (double)line_bps / 8e6;
    double got_bytes = sum_bytes / (double)(end_us - settled_us);
    if (got_bytes < 0.97 * want_bytes || got_bytes > 1.03 * want_bytes)
        fail_msg("queue %.0f B, not %.0f", got_bytes, want_bytes);
    for (uint64_t i = 0; i < n; i++) {
        assert_in_range(fluid.flows[i]->cc->rate_bps, line_bps / n / 100 * 97,
                        line_bps / n / 100 * 103);
        cc_flow_free(fluid.flows[i]);
    }
}

static void test_fixed_point(void **state)
{
    (void)state;
    static const struct cc_preset_value steep[] = {{"delta", "100Mbps"}, {"beta", "0.02"}, CC_END};
    static const struct cc_preset_value full[] = {{"step", "full"}, CC_END};
    check_fixed_point(100 * G, 8, NULL, 0.001, 0.008); // 58 us * 2
    // the size of steps does not change the fixed point
    check_fixed_point(100 * G, 5, full, 0.001, 0.008);
    check_fixed_point(40 * G, 3, steep, 0.0025, 0.02); // 58 us * 1.375
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_weight),
        cmocka_unit_test(test_between_thresholds),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_elapsed_step),
        cmocka_unit_test(test_idle_and_cap),
        cmocka_unit_test(test_scaled_and_paper),
        cmocka_unit_test(test_fixed_point),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
