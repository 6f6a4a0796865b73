// SPDX-License-Identifier: MIT
// Tally by table: shares from hints, the correction of every second round trip, losses, and paths.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/cc_lab.h"

#define US PS_PER_US

// BDP 100 KB, packets of 1000 bytes (1082 on the wire: 86.56 ns).
static const struct cc_env env = {.line_bps = UINT64_C(100000000000),
                                  .base_rtt_ps = 8 * US,
                                  .global_rtt_ps = 8 * US,
                                  .mtu_bytes = 1000,
                                  .full_wire_bytes = 1082,
                                  .hops = 4};

static struct cc_flow *flow_new(void) { return cc_flow_new("tally", NULL, &env, NULL); }

static void post(struct cc_flow *f, uint64_t bytes, ps_t idle_ps, uint32_t out, uint32_t in,
                 uint32_t turn)
{
    const struct cc_post p = {.bytes = bytes, .idle_ps = idle_ps, .hint = {out, in, turn}};
    f->cc->ops->on_post(f->cc, &p);
}

// The last ACK of a round trip: `seq` acknowledged, the next byte to send is a round later.
static void round_trip(struct cc_flow *f, unsigned number, ps_t delay_ps, uint32_t marked)
{
    const struct cc_ack ack = {.now_ps = (ps_t)(number + 1) * 8 * US,
                               .rtt_ps = env.base_rtt_ps + delay_ps,
                               .seq = (number + 1) * UINT64_C(1000),
                               .snd_una = (number + 1) * UINT64_C(1000),
                               .snd_nxt = (number + 2) * UINT64_C(1000),
                               .acked_bytes = 1000,
                               .inflight_bytes = 1000,
                               .ce_bytes = marked,
                               .window_limited = true};
    cc_flow_ack(f, &ack);
}

static void test_shares_of_hints(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t out, in;
        uint64_t window, gbps;
    } cases[] = {
        {10000000, 0, 0, 110000, 100}, // no hint: 1.1 BDP at the line's rate
        {10000000, 1, 1, 110000, 100}, // alone
        {10000000, 1, 10, 11000, 11},  // the larger count
        {10000000, 20, 10, 5500, 0},   // 5.5 Gb/s
        {10000000, 1, 1000, 1000, 0},  // never less than a packet; 110 Mb/s
        {39999, 1, 10, 110000, 100},   // 400 KB in all: four BDPs
        {40001, 1, 10, 11000, 11},     // more
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct cc_flow *f = flow_new();
        post(f, cases[i].bytes, 0, cases[i].out, cases[i].in, 0);
        assert_int_equal(f->cc->cwnd_bytes, cases[i].window);
        if (cases[i].gbps > 0)
            assert_int_equal(f->cc->rate_bps / 1000000000, cases[i].gbps);
        else
            assert_true(f->cc->rate_bps < UINT64_C(6000000000) && f->cc->rate_bps > 100000000);
        cc_flow_free(f);
    }
}

// A busy flow takes the hint of a larger message only; an idle one every hint, with the full share.
static void test_which_hint_holds(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new();
    post(f, 10000000, 1, 1, 1, 0);
    assert_int_equal(f->cc->cwnd_bytes, 110000);
    post(f, 9000000, 0, 1, 100, 0); // 10 MB are left
    assert_int_equal(f->cc->cwnd_bytes, 110000);
    post(f, 30000000, 0, 1, 100, 0); // more than the 19 MB that are left
    assert_int_equal(f->cc->cwnd_bytes, 1100);
    for (unsigned i = 0; i < 2; i++) // a loss halves the share once per round trip
        f->cc->ops->on_signal(f->cc, &(struct cc_signal){.kind = CC_SIGNAL_NACK});
    assert_int_equal(f->cc->cwnd_bytes, 1000);
    assert_int_equal(f->cc->rate_bps, UINT64_C(550000000));
    post(f, 10000000, US, 1, 2, 0);
    assert_int_equal(f->cc->cwnd_bytes, 55000);
    cc_flow_free(f);
}

// n = 10: T = 8 us + 10 packets = 8.866 us, E = 0.4 us + 4 packets = 0.746 us. The first round trip
// is judged, then every second one.
static void test_corrections(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new();
    post(f, 100000000, 1, 10, 1, 0);
    assert_int_equal(f->cc->cwnd_bytes, 11000);
    unsigned r = 0;
    round_trip(f, r++, 5 * US, 0); // settles
    assert_int_equal(f->cc->cwnd_bytes, 11000);
    round_trip(f, r++, 5 * US, 0); // between E and T: s = 1 + 1/16
    assert_int_equal(f->cc->cwnd_bytes, 11688);
    round_trip(f, r++, 0, 0);
    round_trip(f, r++, 0, 0); // below E: s = 1.0625 + 0.5
    assert_int_equal(f->cc->cwnd_bytes, 17188);
    round_trip(f, r++, 0, 0);
    round_trip(f, r++, 0, 0); // + 1
    assert_int_equal(f->cc->cwnd_bytes, 28188);
    round_trip(f, r++, 40 * US, 0);
    round_trip(f, r++, 40 * US, 0); // far above T: half of it
    assert_int_equal(f->cc->cwnd_bytes, 14094);
    round_trip(f, r++, 10 * US, 0);
    round_trip(f, r++, 10 * US, 0); // (8 + 8.8656) / (8 + 10)
    assert_in_range(f->cc->cwnd_bytes, 13205, 13207);
    for (unsigned i = 0; i < 20; i++)
        round_trip(f, r++, 40 * US, 0); // at least a quarter of the share: 2750
    assert_int_equal(f->cc->cwnd_bytes, 2750);
    for (unsigned i = 0; i < 20; i++)
        round_trip(f, r++, 0, 0); // at most all
    assert_int_equal(f->cc->cwnd_bytes, 110000);
    assert_true(f->cc->rate_bps == env.line_bps);
    cc_flow_free(f);
}

static void test_paths(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new();
    assert_int_equal(f->cc->path, 0);
    post(f, 100000000, 1, 1, 1, 7);
    assert_int_equal(f->cc->path, 7); // its turn
    post(f, 100000000, 0, 1, 1, 9);
    assert_int_equal(f->cc->path, 7); // which it keeps
    unsigned r = 0, changed[3] = {0}, n = 0;
    uint32_t before = f->cc->path;
    round_trip(f, r++, 0, 500); // exactly half of the bytes are marked: no
    assert_int_equal(f->cc->path, 7);
    for (unsigned i = 0; i < 20 && n < 3; i++) {
        round_trip(f, r++, 0, 501);
        if (f->cc->path != before)
            changed[n++] = i;
        assert_int_not_equal(f->cc->path, 0);
        before = f->cc->path;
    }
    assert_int_equal(n, 3); // at once, after 2 round trips, after 4
    assert_int_equal(changed[0], 0);
    assert_int_equal(changed[1], 3);
    assert_int_equal(changed[2], 8);
    cc_flow_free(f);
    // near the end of a message it waits for the next one
    f = flow_new();
    post(f, 700000, 1, 1, 1, 3);
    round_trip(f, 0, 0, 1000);
    assert_int_equal(f->cc->path, 3);
    post(f, 700000, 0, 1, 1, 3);
    assert_int_equal(f->cc->path, 3);
    post(f, 700000, US, 1, 1, 3);
    assert_int_not_equal(f->cc->path, 3);
    before = f->cc->path;
    f->cc->ops->on_signal(f->cc, &(struct cc_signal){.kind = CC_SIGNAL_TIMEOUT});
    assert_int_not_equal(f->cc->path, before);
    cc_flow_free(f);
    // a flow without a turn too
    f = flow_new();
    post(f, 700000, 1, 0, 0, 0);
    round_trip(f, 0, 0, 1000);
    post(f, 700000, US, 0, 0, 0);
    assert_int_not_equal(f->cc->path, 0);
    cc_flow_free(f);
    // not at all
    static const struct cc_preset_value off[] = {{"paths", "false"}, {NULL, NULL}};
    f = cc_flow_new("tally", NULL, &env, off);
    post(f, 100000000, 1, 1, 1, 7);
    round_trip(f, 0, 0, 1000);
    assert_int_equal(f->cc->path, 0);
    cc_flow_free(f);
}

// Every residue of a path's number is reached, so every path where the number is one.
static void test_paths_are_spread(void **state)
{
    (void)state;
    unsigned seen[4] = {0};
    struct cc_flow *f = flow_new();
    post(f, UINT64_C(1000000000), 1, 1, 1, 5);
    for (unsigned i = 0; i < 64; i++) {
        f->cc->ops->on_signal(f->cc, &(struct cc_signal){.kind = CC_SIGNAL_TIMEOUT});
        assert_int_not_equal(f->cc->path, 0);
        seen[f->cc->path % 4]++;
    }
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(seen[i], 6, 28);
    cc_flow_free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares_of_hints),  cmocka_unit_test(test_which_hint_holds),
        cmocka_unit_test(test_corrections),      cmocka_unit_test(test_paths),
        cmocka_unit_test(test_paths_are_spread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
