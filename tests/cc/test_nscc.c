// SPDX-License-Identifier: MIT
// NSCC against events that uet-htsim has recorded: every ACK and NACK of one flow of an incast of 8
// at 100 Gb/s, with the average delay, the base RTT and the window after it. Then what no event of
// the record reaches: fast increase, timeouts, the parameters' defaults.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/cc_lab.h"

#define G UINT64_C(1000000000)
#define US PS_PER_US
#define PACKET 4150
#define PAYLOAD 4086

// The network of the record: an RTT of 9.34848 us, 100 Gb/s, so a BDP of 116,856 B.
static struct cc_flow *flow_new(const char *policy, uint64_t line_bps, bool trims)
{
    struct cc_env env = {.line_bps = line_bps,
                         .base_rtt_ps = 9348480,
                         .global_rtt_ps = 9348480,
                         .mtu_bytes = PAYLOAD,
                         .full_wire_bytes = PACKET,
                         .hops = 4,
                         .trims = trims};
    return cc_flow_new(policy, NULL, &env, NULL);
}

static uint32_t payload_of(long wire) { return (uint32_t)(wire * PAYLOAD / PACKET); }

static void ack(struct cc_flow *f, ps_t at, long bytes, ps_t rtt_ps, bool ce, long inflight)
{
    struct cc_ack ack = {.now_ps = at,
                         .rtt_ps = rtt_ps,
                         .acked_bytes = payload_of(bytes),
                         .ce_bytes = ce ? payload_of(bytes) : 0,
                         .ce = ce,
                         .inflight_bytes = payload_of(inflight)};
    cc_flow_ack(f, &ack);
}

static void trim(struct cc_flow *f, ps_t at, long bytes, ps_t rtt_ps, bool last_hop, long inflight)
{
    struct cc_signal signal = {.now_ps = at,
                               .kind = CC_SIGNAL_TRIM,
                               .bytes = payload_of(bytes),
                               .rtt_ps = rtt_ps,
                               .last_hop = last_hop,
                               .inflight_bytes = payload_of(inflight)};
    f->cc->ops->on_signal(f->cc, &signal);
}

static long wire_window(const struct cc_flow *f)
{
    return (long)cc_flow_seen(f, "window_wire_bytes");
}

static void test_record(void **state)
{
    (void)state;
    struct cc_flow *f = flow_new("nscc", 100 * G, true);
    char path[512];
    snprintf(path, sizeof path, "%s/uet-htsim/nscc_incast8_100.csv", getenv("COLLWIRE_DATA"));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    char kind, line[256];
    int n = 0, acks = 0;
    while (fgets(line, sizeof line, file)) {
        long long at, delay, mean, base;
        long bytes, flag, inflight, window;
        assert_int_equal(sscanf(line, "%c,%lld,%ld,%lld,%ld,%lld,%lld,%ld,%ld", &kind, &at, &bytes,
                                &delay, &flag, &mean, &base, &inflight, &window),
                         9);
        if (kind == 'A')
            ack(f, at, bytes, delay + base, flag, inflight);
        else
            trim(f, at, bytes, delay, false, inflight);
        acks += kind == 'A';
        n++;
        if (wire_window(f) != window ||
            cc_flow_seen(f, "base_rtt_us") != (double)base / (double)US ||
            cc_flow_seen(f, "mean_delay_us") != (double)mean / (double)US)
            fail_msg("event %d: window %ld is not %ld, base %f, mean %f", n, wire_window(f), window,
                     cc_flow_seen(f, "base_rtt_us"), cc_flow_seen(f, "mean_delay_us"));
    }
    fclose(file);
    assert_int_equal(n, 511);
    assert_int_equal(acks, 473);
    cc_flow_free(f);
}

// Destination flow control: a penalty of p in all ACKs of a window leaves 1 - p / 128 of it, to a
// packet, and it does not grow; 127 leads to one packet; when the receiver takes packets at once,
// the window is back.
static void test_penalty(void **state)
{
    (void)state;
    static const uint8_t penalties[] = {32, 64, 96, 127};
    for (size_t i = 0; i < sizeof penalties; i++) {
        struct cc_flow *f = flow_new("nscc", 100 * G, true);
        long first = wire_window(f);
        struct cc_ack a = {.rtt_ps = 9348480, .acked_bytes = PAYLOAD, .penalty = penalties[i]};
        for (long acked = 0; acked + PACKET <= first; acked += PACKET) {
            a.now_ps += 100 * PS_PER_NS;
            a.inflight_bytes = payload_of(wire_window(f)) - PAYLOAD;
            cc_flow_ack(f, &a);
        }
        double want = (1 - penalties[i] / 128.) * (double)first;
        assert_true(labs(wire_window(f) - (long)want) <= 2 * PACKET);
        a.penalty = 0; // packets still wait at the receiver
        a.rtt_ps = 9348480 * 3;
        cc_flow_ack(f, &a);
        assert_true(wire_window(f) < first / 2 + first / 3);
        a.restore = true;
        cc_flow_ack(f, &a);
        assert_true(labs(wire_window(f) - first) < PACKET);
        cc_flow_free(f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_record),
                                       cmocka_unit_test(test_penalty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
