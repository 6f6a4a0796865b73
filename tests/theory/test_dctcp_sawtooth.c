// SPDX-License-Identifier: MIT
// The queue of N long DCTCP flows at one bottleneck with marking above a threshold K, against the
// sawtooth of Alizadeh et al. (SIGCOMM 2010, section 3.3). All quantities are in packets; C*RTT is
// the bandwidth-delay product of the empty path:
//   W* = (C*RTT + K)/N              window at which the queue reaches K
//   alpha^2 (1 - alpha/4) = (2 W* + 1)/(W* + 1)^2, about 2/W*
//   Qmax = K + N                    one more round trip passes before the flows react
//   A = N (W* + 1) alpha/2          their decrease, about 0.5 sqrt(2 N (C*RTT + K))
// The theory assumes synchronized flows, windows of many packets (below W* = 16 the approximations
// are off by more than a packet; at W* = 4 flows lose synchronization), and g so small that alpha
// averages over a complete cycle of A/N round trips.
//
// The queue must stay between Qmax - A and Qmax. Tolerance: one packet, since a flow's bytes in
// flight are its window rounded up to packets. A queue that oscillates too little would pass this
// check, so the amplitude is tested too. The paper marks packets that enter the queue; our switches
// (and most real ones) mark packets that leave it, so the mark is K packets fresher, K/C of the
// loop (C*RTT + K)/C. The overshoot lasts C*RTT/(C*RTT + K) of a round trip, which reduces marking:
// alpha^2 is about 2/W* C*RTT/(C*RTT + K), and the amplitude 0.5 sqrt(2 N C*RTT). Tolerance: 15 %,
// since the test uses the extremes of many cycles where the theory has the mean, and a packet is 9
// % of the smallest amplitude. Mean alpha 20 %: alpha decays by a third over a cycle, so its value
// at the cut is below the mean, and the theory determines their product. Fairness takes thousands
// of round trips, so Jain's index is only a sanity check.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "cc/registry.h"
#include "tests/support/fixture.h"

#define ACK 48

struct point {
    unsigned flows;
    double gbps, k;  // threshold in packets
    double delay_us; // of a link; two on the path
    double ms;
    double jitter_us; // of starts: flows must synchronize by themselves
    uint32_t packet;  // payload, frame and wire bytes are equal; 0 = 1000
};

static uint32_t packet_of(const struct point *pt) { return pt->packet ? pt->packet : 1000; }

static double bdp_packets(const struct point *pt)
{
    double bytes_per_us = pt->gbps * 1e3 / 8;
    return (4 * pt->delay_us * bytes_per_us + 2 * (packet_of(pt) + ACK)) / packet_of(pt);
}

// alpha of the sawtooth, without the approximation.
static double alpha_of(double window)
{
    double target = (2 * window + 1) / ((window + 1) * (window + 1)), alpha = 0;
    for (int i = 0; i < 100; i++)
        alpha = sqrt(target / (1 - alpha / 4));
    return alpha;
}

// Run with DCTCP, or with `ops` instead.
static void run(struct fixture *f, const struct point *pt, uint64_t ack_interval,
                const struct cc_ops *ops)
{
    fixture_switch(f, pt->flows + 1, (uint64_t)(pt->gbps * 1e9), (ps_t)(pt->delay_us * 1e6));
    struct dim_spec *dim = &f->spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = packet_of(pt);
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = 0;
    dim->transport.overhead_ack = ACK;
    roce_spec_of(&dim->transport)->ack_interval = ack_interval;
    dim->transport.start_jitter_ps = (ps_t)(pt->jitter_us * 1e6);
    uint64_t k_bytes = (uint64_t)(pt->k * packet_of(pt));
    dim->sw.buffer_bytes = 1 << 30; // large enough to avoid PFC, even for the first windows
    dim->sw.ecn =
        (struct ecn_spec){.mode = ECN_ON, .kmin_bytes = k_bytes, .kmax_bytes = k_bytes, .pmax = 1};
    fixture_cc(f, "dctcp", NULL, NULL);
    dim->cc = ops ? ops : dim->cc;
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(f, i, pt->flows, UINT64_C(1000000000000), 0);
    f->spec.duration_ps = (ps_t)(pt->ms * 1e9);
    static char place[32];
    static const char *at[] = {place};
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    f->spec.report.sample_ps = PS_PER_US;
    f->spec.report.sample_at = at;
    f->spec.report.n_sample_at = 1;
    fixture_run(f);
}

struct seen {
    double low, high; // of the queue
    double alpha, jain;
};

// Evaluate the second half; the first half is for convergence.
static struct seen look(const struct series *s, unsigned flows, double packet)
{
    struct seen seen = {.low = 1e300};
    size_t from = s->n_samples / 2;
    double n = (double)(s->n_samples - from), sum = 0, squares = 0;
    size_t per_flow = s->n_lines[SERIES_OBSERVE] / flows; // alpha is the first of a flow's values
    for (size_t i = from; i < s->n_samples; i++) {
        double queue = s->lines[SERIES_QUEUE][0].values[i] / packet;
        seen.low = queue < seen.low ? queue : seen.low;
        seen.high = queue > seen.high ? queue : seen.high;
        for (unsigned q = 0; q < flows; q++)
            seen.alpha += s->lines[SERIES_OBSERVE][q * per_flow].values[i] / n / flows;
    }
    for (unsigned q = 0; q < flows; q++) {
        double window = 0;
        for (size_t i = from; i < s->n_samples; i++)
            window += s->lines[SERIES_CWND][q].values[i] / n;
        sum += window;
        squares += window * window;
    }
    seen.jain = sum * sum / (flows * squares);
    return seen;
}

static void check(const struct point *pt)
{
    struct fixture f;
    run(&f, pt, 1, NULL);
    struct seen seen = look(f.result->series, pt->flows, packet_of(pt));
    double bdp = bdp_packets(pt), window = (bdp + pt->k) / pt->flows, top = pt->k + pt->flows;
    double A = pt->flows * (window + 1) * alpha_of(window) / 2;
    double fresh = bdp / (bdp + pt->k), swing = 0.5 * sqrt(2 * pt->flows * bdp);
    double alpha = sqrt(2 / window * fresh);
    print_message("N %2u at %3.0fG, K %3.0f, C*RTT %4.0f, W* %3.0f: queue %3.0f to %3.0f, "
                  "theory %5.1f to %3.0f; swing %3.0f, theory %5.1f (%+.1f %%); alpha %.3f, "
                  "theory %.3f; Jain %.4f\n",
                  pt->flows, pt->gbps, pt->k, bdp, window, seen.low, seen.high, top - A, top,
                  seen.high - seen.low, swing, 100 * ((seen.high - seen.low) / swing - 1),
                  seen.alpha, alpha, seen.jain);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->pause_frames, 0);
    assert_true(seen.high <= top + 1);
    assert_true(seen.low >= top - A - 1);
    assert_true(seen.low > 0); // so the link never idles
    assert_true(seen.high > pt->k);
    assert_true(fabs((seen.high - seen.low) / swing - 1) < 0.15);
    assert_true(fabs(seen.alpha / alpha - 1) < 0.20);
    assert_true(seen.jain > 0.95);
    fixture_free(&f);
}

static void test_queue_stays_in_the_sawtooth(void **state)
{
    (void)state;
    static const struct point points[] = {
        {2, 10, 40, 25, 60, 0, 0},     // the paper's: 10G, RTT 100 us, K 40
        {2, 10, 40, 25, 60, 30, 0},    //
        {4, 10, 40, 25, 60, 0, 0},     //
        {10, 10, 40, 25, 60, 0, 0},    //
        {8, 40, 100, 25, 60, 0, 0},    // other networks from here on
        {6, 200, 200, 5, 60, 0, 0},    //
        {6, 200, 200, 5, 60, 10, 0},   //
        {12, 400, 500, 5, 40, 0, 0},   //
        {16, 100, 300, 25, 80, 50, 0}, //
        {20, 100, 200, 25, 80, 50, 0},  {8, 800, 500, 5, 30, 0, 0},
        {8, 100, 100, 25, 60, 0, 4096}, {8, 800, 200, 5, 30, 10, 4096},
        {12, 400, 200, 5, 40, 0, 4096},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        check(&points[i]);
}

// Counts the bytes of ACKs before the policy processes them.
static double acked_bytes_seen, ce_bytes_seen;

static void count_and_forward(struct cc *cc, const struct cc_ack *ack)
{
    acked_bytes_seen += ack->acked_bytes;
    ce_bytes_seen += ack->ce_bytes;
    cc_find("dctcp")->on_ack(cc, ack);
}

// If ACKs cover many packets, F is still the marked share of packets: the receiver acknowledges
// immediately when CE changes (RFC 8257, section 3.2). F over all windows, weighted by bytes, is
// the ratio of CE bytes to acknowledged bytes in ACKs; the reference is counted at the switch. They
// differ by the data in flight at the end, 0.3 % of the total. Tolerance 5 %, for the number of
// packets.
static void test_marked_share(void **state)
{
    (void)state;
    static const unsigned flows[] = {2, 8}, intervals[] = {1, 4, 16};
    for (size_t i = 0; i < 6; i++) {
        struct point pt = {flows[i / 3], 100, 100, 5, 20, 10, 0};
        struct cc_ops ops = *cc_find("dctcp");
        struct fixture f;
        ops.on_ack = count_and_forward;
        acked_bytes_seen = ce_bytes_seen = 0;
        run(&f, &pt, intervals[i % 3], &ops);
        double packets = 0, share = ce_bytes_seen / acked_bytes_seen;
        for (unsigned q = 0; q < pt.flows; q++)
            packets += (double)f.result->flows[q].packets;
        double truth = (double)f.result->marked_packets / packets;
        print_message("N %u, an ACK for %2u packets: F %.4f, marked %.4f (%+.1f %%)\n", pt.flows,
                      intervals[i % 3], share, truth, 100 * (share / truth - 1));
        assert_true(truth > 0.01);
        assert_true(fabs(share / truth - 1) < 0.05);
        fixture_free(&f);
    }
}

// The paper's closed form against the equations that it approximates.
static void test_closed_form(void **state)
{
    (void)state;
    for (double window = 40; window < 1000; window *= 2) {
        double exact = (window + 1) * alpha_of(window) / 2, closed = 0.5 * sqrt(2 * window);
        assert_true(fabs(exact / closed - 1) < 0.04);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_marked_share),
        cmocka_unit_test(test_queue_stays_in_the_sawtooth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
