// SPDX-License-Identifier: MIT
// PowerTCP by telemetry against values computed by hand: the power of a hop and of a path, the
// window law that both policies share, records that wrap, change or end.
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

// A base RTT of 8 us: at 100G, 12 500 B a microsecond, a BDP of 100 000 wire bytes.
static struct cc_flow *flow_on(const char *policy, uint64_t line_bps, uint32_t full_wire_bytes,
                               const struct cc_preset_value *changes)
{
    struct cc_env env = {.line_bps = line_bps,
                         .base_rtt_ps = 8 * US,
                         .mtu_bytes = 1000,
                         .full_wire_bytes = full_wire_bytes};
    return cc_flow_new(policy, NULL, &env, changes);
}

static struct cc_flow *by_int(const struct cc_preset_value *changes)
{
    return flow_on("powertcp", 100 * G, 1000, changes);
}

static void receive_ack(struct cc_flow *f, uint64_t una, uint64_t nxt, const struct int_hop *hops,
                        uint8_t n_hops)
{
    struct cc_ack ack = {
        .seq = una, .snd_una = una, .snd_nxt = nxt, .hops = hops, .n_hops = n_hops};
    cc_flow_ack(f, &ack);
}

// An ACK inside the first round trip, of one hop.
static void hop(struct cc_flow *f, ps_t t_ps, uint64_t tx_bytes, uint32_t queue_bytes)
{
    struct int_hop h = {.t_ps = t_ps,
                        .tx_bytes = tx_bytes,
                        .rate_bps = 100 * G,
                        .queue_bytes = queue_bytes,
                        .port = 1};
    receive_ack(f, 1, 1000000, &h, 1);
}

static void expect(const struct cc_flow *f, double sample, double power)
{
    assert_true(fabs(cc_flow_seen(f, "sample") - sample) < 1e-12);
    assert_true(fabs(cc_flow_seen(f, "power") - power) < 1e-12);
}

static void expect_window(const struct cc_flow *f, double wire_bytes, uint64_t cwnd_bytes,
                          uint64_t rate_bps)
{
    assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - wire_bytes) < 1e-6);
    assert_int_equal(f->cc->cwnd_bytes, cwnd_bytes);
    assert_int_equal(f->cc->rate_bps, rate_bps);
}

static void post_after(struct cc_flow *f, ps_t idle_ps)
{
    struct cc_post post = {.idle_ps = idle_ps};
    f->cc->ops->on_post(f->cc, &post);
}

// ---- both ----

static void test_beginning(void **state)
{
    (void)state;
    static const char *const policies[] = {"powertcp", "powertcp_delay"};
    static const struct cc_preset_value half[] = {{"max_window", "0.5"}, CC_END};
    static const struct cc_preset_value twice[] = {{"max_window", "2"}, CC_END};
    static const struct {
        uint64_t line_bps;
        uint32_t full_wire_bytes;
        const struct cc_preset_value *changes;
        double wire_bytes;
        uint64_t cwnd_bytes, rate_bps;
    } cases[] = {
        {25 * G, 1000, NULL, 25000, 25000, 25 * G},
        {100 * G, 1000, NULL, 100000, 100000, 100 * G},
        {800 * G, 1000, NULL, 800000, 800000, 800 * G},
        {100 * G, 1250, NULL, 100000, 80000, 100 * G}, // four fifths are payload
        {100 * G, 0, NULL, 100000, 100000, 100 * G},
        {100 * G, 1250, half, 50000, 40000, 50 * G},
        {100 * G, 1000, twice, 100000, 100000, 100 * G},
    };
    for (size_t p = 0; p < 2; p++) {
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            struct cc_flow *f =
                flow_on(policies[p], cases[i].line_bps, cases[i].full_wire_bytes, cases[i].changes);
            expect_window(f, cases[i].wire_bytes, cases[i].cwnd_bytes, cases[i].rate_bps);
            expect(f, 1, 1);
            assert_true(f->cc->timer_at_ps[0] == PS_NEVER && f->cc->timer_at_ps[1] == PS_NEVER);
            cc_flow_free(f);
        }
        const struct cc_ops *ops = cc_find(policies[p]);
        assert_int_equal(ops->needs, p == 0 ? CC_NEEDS_INT | CC_NEEDS_PACING : CC_NEEDS_PACING);
        assert_false(ops->presets[0].profile.ecn);
    }
}

// ---- power ----

static void test_power_of_a_hop(void **state)
{
    (void)state;
    struct cc_flow *f = by_int(NULL);
    hop(f, 1 * US, 500, 0); // a reference only
    expect(f, 1, 1);
    hop(f, 2 * US, 13000, 0); // 12 500 B in 1 us is B, without a queue
    expect(f, 1, 1);
    // 20 000 sent and 10 000 queued in 2 us: current 30 000/25 000, voltage 110 000/100 000.
    hop(f, 4 * US, 33000, 10000);
    expect(f, 1.32, (6 + 1.32 * 2) / 8);
    // 37 500 sent in 4 us while the queue shrinks by 5000: 32 500/50 000 * 105 000/100 000.
    double power = (6 + 1.32 * 2) / 8;
    hop(f, 8 * US, 70500, 5000);
    expect(f, 0.6825, (power * 4 + 0.6825 * 4) / 8);
    // Longer than tau: all of the weight. 250 000 in 20 us with 60 000 more queued: 1.24 * 1.65.
    hop(f, 28 * US, 320500, 65000);
    expect(f, 1.24 * 1.65, 1.24 * 1.65);
    // Rounded records may give a negative number of arrived bytes.
    hop(f, 36 * US, 320500, 64000);
    expect(f, 0, 0);
    expect_window(f, 100000, 100000, 100 * G); // at its bound
    cc_flow_free(f);
}

static void test_records_that_do_not_compare(void **state)
{
    (void)state;
    struct cc_flow *f = by_int(NULL);
    hop(f, 10 * US, 100000, 0);
    hop(f, 10 * US, 125000, 9000); // the same time as before
    expect(f, 1, 1);
    hop(f, 9 * US, 90000, 0); // before: the reference of the next, which spans 4 us
    expect(f, 1, 1);
    hop(f, 13 * US, 115000, 0);
    expect(f, 0.5, 0.75);
    receive_ack(f, 2, 1000000, NULL, 0); // an ACK without records
    hop(f, 17 * US, 140000, 0);
    expect(f, 0.5, 0.625);
    cc_flow_free(f);
}

static struct int_hop wrapping(uint64_t rate_bps, ps_t t_ps, uint64_t tx_bytes)
{
    return (struct int_hop){
        .t_ps = t_ps, .tx_bytes = tx_bytes, .rate_bps = rate_bps, .port = 1, .wraps = 1};
}

static void test_wrapped_records(void **state)
{
    (void)state;
    struct cc_flow *f = by_int(NULL);
    struct int_hop h = wrapping(100 * G, INT_WRAP_PS - 1 * US, INT_WRAP_BYTES - 10000);
    receive_ack(f, 1, 1000000, &h, 1);
    h = wrapping(100 * G, 3 * US, 15000); // 25 000 B in 4 us
    receive_ack(f, 2, 1000000, &h, 1);
    expect(f, 0.5, 0.75);
    cc_flow_free(f);

    // Records further apart than half of the range of the counters: 67.1 MB, or 8389 us on a slow
    // link.
    static const struct {
        uint64_t rate_bps;
        ps_t dt_ps;
        bool compares;
    } cases[] = {
        {800 * G, 671 * US, true},        {800 * G, 672 * US, false},
        {25 * G, INT_WRAP_PS / 2, false}, {25 * G, INT_WRAP_PS / 2 - 1, true},
        {25 * G, INT_WRAP_PS - 1, false}, // negative time, so in the wrong order
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        f = by_int(NULL);
        h = wrapping(cases[i].rate_bps, 0, 0);
        receive_ack(f, 1, 1000000, &h, 1);
        h = wrapping(cases[i].rate_bps, cases[i].dt_ps, 0);
        receive_ack(f, 2, 1000000, &h, 1);
        expect(f, cases[i].compares ? 0 : 1, cases[i].compares ? 0 : 1);
        cc_flow_free(f);
    }
    // Exact records may be any time apart.
    f = by_int(NULL);
    hop(f, 0, 0, 0);
    hop(f, 20000 * US, 125000000, 0);
    expect(f, 0.5, 0.5);
    cc_flow_free(f);
}

// The hop with the largest power determines the result, with its measurement time.
static void test_power_of_a_path(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        struct cc_flow *f = by_int(NULL);
        struct int_hop a[2] = {{.rate_bps = 100 * G, .port = 5}, {.rate_bps = 400 * G, .port = 6}};
        struct int_hop b[2] = {a[0], a[1]};
        // 100G: 25 000 B in 4 us and 25 000 queued, current 1, voltage 1.25.
        b[0].t_ps = 4 * US, b[0].tx_bytes = 25000, b[0].queue_bytes = 25000;
        // 400G: 50 000 B/us, BDP 400 000: 90 000 in 2 us, of which 10 000 queued: .9 * 1.025.
        b[1].t_ps = 2 * US, b[1].tx_bytes = 80000, b[1].queue_bytes = 10000;
        if (turned) {
            struct int_hop first = a[0], second = b[0];
            a[0] = a[1], a[1] = first;
            b[0] = b[1], b[1] = second;
        }
        receive_ack(f, 1, 1000000, a, 2);
        receive_ack(f, 2, 1000000, b, 2);
        expect(f, 1.25, (4 + 1.25 * 4) / 8);
        cc_flow_free(f);
    }
}

static void test_changed_paths(void **state)
{
    (void)state;
    struct cc_flow *f = by_int(NULL);
    struct int_hop h[2] = {{.rate_bps = 100 * G, .port = 5}, {.rate_bps = 100 * G, .port = 6}};
    receive_ack(f, 1, 1000000, h, 2);
    // The second hop is another port with a huge queue: only the first, at half, is compared.
    h[0].t_ps = h[1].t_ps = 4 * US;
    h[0].tx_bytes = 25000;
    h[1].tx_bytes = 900000, h[1].queue_bytes = 800000, h[1].port = 7;
    receive_ack(f, 2, 1000000, h, 2);
    expect(f, 0.5, 0.75);
    // Both hops are new ports: nothing can be compared, and this does not end the round trip.
    h[0].t_ps = h[1].t_ps = 8 * US;
    h[0].port = 8, h[1].port = 9;
    receive_ack(f, 1000001, 2000000, h, 2);
    expect(f, 0.5, 0.75);
    expect_window(f, 100000, 100000, 100 * G);
    // The same again: 12 500 B in 2 us, and 25 000 in 2 us with 20 000 fewer queued: .2 * 8.8.
    h[0].t_ps = h[1].t_ps = 10 * US;
    h[0].tx_bytes += 12500, h[1].tx_bytes += 25000;
    h[1].queue_bytes -= 20000;
    receive_ack(f, 1000002, 2000000, h, 2);
    expect(f, 1.76, (0.75 * 6 + 1.76 * 2) / 8);
    // One hop, then two: the second hop's reference has been dropped.
    h[0].t_ps = 14 * US;
    receive_ack(f, 1000003, 2000000, h, 1);
    expect(f, 0, (0.75 * 6 + 1.76 * 2) / 16);
    h[0].t_ps = h[1].t_ps = 22 * US;
    h[0].tx_bytes += 20000, h[1].tx_bytes += 150000;
    receive_ack(f, 1000004, 2000000, h, 2);
    expect(f, 0.2, 0.2);
    cc_flow_free(f);
}

static void test_eight_hops(void **state)
{
    (void)state;
    struct cc_flow *f = by_int(NULL);
    struct int_hop h[10] = {{0}};
    for (unsigned i = 0; i < 10; i++)
        h[i] = (struct int_hop){.rate_bps = 100 * G, .port = i & 15};
    receive_ack(f, 1, 1000000, h, 10);
    for (unsigned i = 0; i < 10; i++) { // 1/10, 2/10 ... of B
        h[i].t_ps = 8 * US;
        h[i].tx_bytes = 10000 * (i + 1);
    }
    receive_ack(f, 2, 1000000, h, 10);
    expect(f, 0.8, 0.8);
    cc_flow_free(f);
}

// ---- window ----

// One round trip (which ends beyond 100 000) with a measured power of 2.
static struct cc_flow *with_power_of_two(const struct cc_preset_value *changes)
{
    struct cc_flow *f = by_int(changes);
    struct int_hop h = {.rate_bps = 100 * G, .port = 1};
    receive_ack(f, 1000, 100000, &h, 1);
    h.t_ps = 8 * US; // 100 000 B in 8 us, 25 000 more queued: 1.25 * 1.25; then 1.25 * 1.6
    h.tx_bytes = 100000, h.queue_bytes = 25000;
    receive_ack(f, 2000, 101000, &h, 1);
    expect(f, 1.5625, 1.5625);
    h.t_ps = 18 * US;
    h.tx_bytes = 221250, h.queue_bytes = 60000;
    receive_ack(f, 100000, 200000, &h, 1); // up to its end
    expect(f, 2, 2);
    expect_window(f, 64000, 64000, 64 * G); // .9 (100 000/2 + 10 000) + .1 * 100 000
    h.t_ps = 28 * US;
    h.tx_bytes = 346250; // 125 000 in 10 us, nothing more queued: voltage 1.6
    receive_ack(f, 101000, 201000, &h, 1);
    expect(f, 1.6, 1.6);
    return f;
}

// W is set at every ACK, from the W under which the packet was sent.
static void test_window_at_every_ack(void **state)
{
    (void)state;
    struct cc_flow *f = with_power_of_two(NULL);
    // .9 (100 000/1.6 + 10 000) + .1 * 100 000
    expect_window(f, 75250, 75250, UINT64_C(75250000000));
    // Now bytes 100 000 to 201 000 are acknowledged. When their first half was sent W was 87 625,
    // between 100 000 and 75 250; over half of tau, like the power: W_old = 93 812.5,
    // W = .9 (93 812.5/1.6 + 10 000) + 9 381.25
    struct int_hop h = {
        .rate_bps = 100 * G, .port = 1, .t_ps = 32 * US, .tx_bytes = 396250, .queue_bytes = 60000};
    receive_ack(f, 150500, 276250, &h, 1);
    expect(f, 1.6, 1.6);
    expect_window(f, 71150.78125, 71150, UINT64_C(71150781250));
    h.t_ps = 40 * US;
    h.tx_bytes = 496250;
    // all of W_old is new: .9 (75 250/1.6 + 10 000) + .1 * 75 250
    receive_ack(f, 201001, 276250, &h, 1);
    expect_window(f, 58853.125, 58853, UINT64_C(58853125000));
    h.t_ps = 48 * US;
    h.tx_bytes = 596250;
    // the next round trip ended with that: .9 (58 853/1.6 + ...
    receive_ack(f, 276250, 300000, &h, 1);
    expect_window(f, 0.6625 * 58853.125 + 9000, 47990, UINT64_C(47990195313));
    cc_flow_free(f);

    static const struct cc_preset_value changes[] = {
        {"gamma", "0.5"}, {"expected_flows", "4"}, CC_END};
    f = by_int(changes);
    struct int_hop first = {.rate_bps = 100 * G, .port = 1, .queue_bytes = 60000};
    receive_ack(f, 1000, 100000, &first, 1);
    first.t_ps = 8 * US;
    first.tx_bytes = 100000;
    receive_ack(f, 2000, 100000, &first, 1); // .5 (100 000/1.6 + 25 000) + .5 * 100 000
    expect_window(f, 93750, 93750, UINT64_C(93750000000));
    cc_flow_free(f);
}

// `rounds` round trips at a constant power, 1 + queue/BDP times `share` of B, with a standing
// queue.
static struct cc_flow *after_rounds(int rounds, double share, uint32_t queue_bytes,
                                    const struct cc_preset_value *changes)
{
    struct cc_flow *f = by_int(changes);
    struct int_hop h = {.rate_bps = 100 * G, .port = 1, .queue_bytes = queue_bytes};
    for (int i = 0; i <= rounds; i++) {
        receive_ack(f, 2000 * (uint64_t)i + 1, 2000 * (uint64_t)i + 2, &h, 1);
        h.t_ps += 8 * US;
        h.tx_bytes += (uint64_t)(100000 * share);
    }
    return f;
}

static void test_bounds(void **state)
{
    (void)state;
    struct cc_flow *f = after_rounds(1, 0.5, 0, NULL); // doubles the window, up to its maximum
    expect(f, 0.5, 0.5);
    expect_window(f, 100000, 100000, 100 * G);
    cc_flow_free(f);

    static const struct cc_preset_value wide[] = {{"max_window", "1000"}, CC_END};
    // .9 (200 000 + 10 000) + 10 000; the line rate limits the pace
    f = after_rounds(1, 0.5, 0, wide);
    expect_window(f, 199000, 199000, 100 * G);
    cc_flow_free(f);
    f = after_rounds(1, 0, 0, wide); // nothing arrives: power 1/1024 is used
    expect(f, 0, 0);
    expect_window(f, 92179000, 92179000, 100 * G);
    cc_flow_free(f);

    // With a huge queue W decreases to about beta, which is less than one byte of payload.
    static const struct cc_preset_value many[] = {
        {"gamma", "1"}, {"expected_flows", "1000000"}, CC_END};
    f = after_rounds(8, 1, 900000, many);
    assert_true(cc_flow_seen(f, "window_wire_bytes") < 0.2);
    assert_int_equal(f->cc->cwnd_bytes, 1);
    assert_in_range(f->cc->rate_bps, 100000, 200000); // .1 B in 8 us
    cc_flow_free(f);
}

// At equilibrium W (1 - 1/G) = beta: two flows of N = 10 that see a queue of .2 BDP hold .6 BDP
// each.
static void test_equilibrium(void **state)
{
    (void)state;
    struct cc_flow *f = after_rounds(200, 1, 20000, NULL);
    expect_window(f, 60000, 60000, 60 * G);
    cc_flow_free(f);
}

static void test_pauses(void **state)
{
    (void)state;
    static const struct cc_preset_value restart[] = {{"idle_restart", "100us"}, CC_END};
    for (int with = 0; with < 2; with++) {
        struct cc_flow *f = with_power_of_two(with ? restart : NULL);
        struct int_hop h = {.rate_bps = 100 * G,
                            .port = 1,
                            .t_ps = 32 * US,
                            .tx_bytes = 371250,
                            .queue_bytes = 60000};
        post_after(f, 8 * US); // a base RTT: records remain valid, 25 000 B in 4 us
        receive_ack(f, 102000, 201000, &h, 1);
        expect(f, 0.8, 1.2);
        double old = 100000 - 0.5 * 24750 * 2000 / 101000,
               w = 0.9 * (old / 1.2 + 10000) + 0.1 * old;
        assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - w) < 1e-6);
        post_after(f, 8 * US + 1);
        h.t_ps = 40 * US; // would be 0
        receive_ack(f, 300000, 400000, &h, 1);
        expect(f, 0.8, 1.2);
        assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - w) < 1e-6);
        h.t_ps = 48 * US; // all of B, and W for W_old, since no older window is known
        h.tx_bytes += 100000;
        receive_ack(f, 400000, 500000, &h, 1);
        expect(f, 1.6, 1.6);
        w = 0.9 * (w / 1.6 + 10000) + 0.1 * w;
        post_after(f, 100 * US - 1);
        assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - w) < 1e-6);
        post_after(f, with ? 100 * US : 1000 * PS_PER_S); // auto: never
        expect(f, with ? 1 : 1.6, with ? 1 : 1.6);
        assert_true(fabs(cc_flow_seen(f, "window_wire_bytes") - (with ? 100000 : w)) < 1e-6);
        h.t_ps = 56 * US;
        receive_ack(f, 600000, 700000, &h, 1);
        expect(f, with ? 1 : 1.6, with ? 1 : 1.6); // sets a reference again
        cc_flow_free(f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_beginning),
        cmocka_unit_test(test_power_of_a_hop),
        cmocka_unit_test(test_records_that_do_not_compare),
        cmocka_unit_test(test_wrapped_records),
        cmocka_unit_test(test_power_of_a_path),
        cmocka_unit_test(test_changed_paths),
        cmocka_unit_test(test_eight_hops),
        cmocka_unit_test(test_window_at_every_ack),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_equilibrium),
        cmocka_unit_test(test_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
