// SPDX-License-Identifier: MIT
// HPCC, N flows into one port (Li et al., SIGCOMM 2019, sections 3.2 and 5): every flow starts with
// one BDP of wire bytes, so at most N - 1 BDPs and one packet per flow queue. The excess drains
// within N - 1 base RTTs, and the queue stays below 0.2 BDP after 2 N base RTTs. Then the link
// carries eta of its rate, of which the payload share is goodput (plus half of the flows' additive
// steps), shared fairly and without a pause. Without additive stages (hpcc_sim) the flows' shares
// are a random walk on which W_AI has little effect, so Jain's index stays near 0.92 however long
// the run is. Tested with exact records, with the 8-byte encoding of the prototype, and with PINT's
// one byte.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define MTU 1000u
#define INT_BYTES 42u

struct point {
    const char *preset;
    int encoding;
    unsigned flows;
    uint64_t line_bps;
    ps_t delay_ps;
    double eta;
    double jain; // minimum
};

static void incast(struct fixture *f, const struct point *pt)
{
    static const char *at[] = {NULL};
    static char place[32], eta[32];
    fixture_switch(f, pt->flows + 1, pt->line_bps, pt->delay_ps);
    struct dim_spec *dim = &f->spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    dim->transport.start_jitter_ps = PS_PER_US / 10; // identical ranks would remain synchronized
    dim->sw.int_encoding = pt->encoding;
    snprintf(eta, sizeof eta, "eta=%g", pt->eta);
    fixture_cc(f, "hpcc", pt->preset, eta, NULL);
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(f, i, pt->flows, UINT64_C(1000000000000), 0);
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    at[0] = place;
    f->spec.duration_ps = 80 * PS_PER_MS;
    f->spec.report.sample_ps = 2 * PS_PER_US;
    f->spec.report.sample_at = at;
    f->spec.report.n_sample_at = 1;
    fixture_run(f);
}

static void check(const struct point *pt)
{
    struct fixture f;
    incast(&f, pt);
    bool pint = strcmp(pt->preset, "pint") == 0;
    uint32_t telemetry = pint ? 1 : INT_BYTES;
    double frame = MTU + 62 + telemetry, wire = frame + 20; // headers, ICRC, FCS; preamble and gap
    const struct cc_env *env = sender_env(f.sim->fabric.hosts.senders[0]);
    double rtt = (double)env->base_rtt_ps, bdp = (double)pt->line_bps / 8e12 * rtt;
    // Before the first ACK every flow sends one BDP, in full packets, while one BDP leaves.
    double bound = (pt->flows * ceil(bdp / wire) - floor(bdp / wire) + pt->flows) * frame;
    const struct series *s = f.result->series;
    const double *queue = s->lines[SERIES_QUEUE][0].values;
    size_t settled = (size_t)(2 * pt->flows * rtt / (double)(2 * PS_PER_US)) + 1,
           half = s->n_samples / 2;
    double after = 0, goodput = 0, squares = 0;
    for (size_t i = settled; i < s->n_samples; i++)
        after = queue[i] > after ? queue[i] : after;
    for (unsigned q = 0; q < pt->flows; q++) {
        const struct series_line *rate = &s->lines[SERIES_RATE][q];
        double mean = 0;
        for (size_t i = half; i < s->n_samples; i++)
            mean += rate->values[i] / (double)(s->n_samples - half);
        goodput += mean;
        squares += mean * mean;
    }
    double jain = goodput * goodput / (pt->flows * squares);
    double delivered = 0;
    for (size_t i = 0; i < f.result->n_flows; i++)
        delivered += (double)f.result->flows[i].delivered_bytes;
    delivered *= 8 / 80e-3;
    double expected = pt->eta * (double)pt->line_bps * MTU / wire;
    print_message("%-8s enc %d N %2u at %3.0fG: max queue %6.1f KB (bound %6.1f), later %5.1f "
                  "KB (0.2 BDP %5.1f), goodput %.2f Gb/s (theory %.2f, %+.2f %%), Jain %.4f\n",
                  pt->preset, pt->encoding, pt->flows, (double)pt->line_bps / 1e9,
                  (double)f.result->max_queue_bytes / 1e3, bound / 1e3, after / 1e3,
                  0.2 * bdp / 1e3, delivered / 1e9, expected / 1e9,
                  100 * (delivered / expected - 1), jain);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->pause_frames, 0);
    assert_true((double)f.result->max_queue_bytes <= bound);
    assert_true(after < 0.2 * bdp);
    assert_true(fabs(delivered / expected - 1) < 0.03);
    assert_true(jain > pt->jain);
    fixture_free(&f);
}

static void test_points(void **state)
{
    (void)state;
    static const struct point points[] = {
        {"paper", INT_ENCODING_EXACT, 8, UINT64_C(100000000000), 2 * PS_PER_US, .95, .95},
        {"paper", INT_ENCODING_EXACT, 16, UINT64_C(100000000000), 4 * PS_PER_US, .95, .95},
        {"paper", INT_ENCODING_EXACT, 4, UINT64_C(25000000000), 3 * PS_PER_US, .90, .95},
        {"paper", INT_ENCODING_EXACT, 12, UINT64_C(400000000000), PS_PER_US, .95, .95},
        {"paper", INT_ENCODING_HPCC64, 8, UINT64_C(100000000000), 2 * PS_PER_US, .95, .95},
        {"hpcc_sim", INT_ENCODING_EXACT, 8, UINT64_C(100000000000), 2 * PS_PER_US, .95, .85},
        {"pint", INT_ENCODING_EXACT, 8, UINT64_C(100000000000), 2 * PS_PER_US, .95, .95},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        check(&points[i]);
}

/* ---- fair, and at its utilization, at every size of packets and every base RTT ---- */

struct cell {
    double gbps, rtt_us;
    uint32_t mtu;
    unsigned flows;
    double ms;
};

// The default preset. W_AI = (1 - eta) max(BDP/100, L), with L a packet. For n flows with W (1 -
// eta/U) = W_AI and windows that sum to U BDP, U = eta + n W_AI/BDP, which is the utilization of
// the link if it is below 1. Records have a resolution of one packet, so if n is not small against
// the number of packets in a BDP, U oscillates by more than its distance from 1, and the link is
// idle at times. So the utilization is at least eta - 0.5 % and at most U + 1 %; Jain's index of
// the bytes delivered in the second half is above .95.
static void check_cell(const struct cell *c, double nearest)
{
    struct fixture f;
    static const char *at[] = {NULL};
    static char place[32];
    double wire = c->mtu + 82 + INT_BYTES, ack = 86 + INT_BYTES, byte_us = 8e-3 / c->gbps;
    double delay_us = (c->rtt_us - 2 * (wire + ack) * byte_us) / 4;
    fixture_switch(&f, c->flows + 1, (uint64_t)(c->gbps * 1e9), (ps_t)(delay_us * 1e6));
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = c->mtu;
    f.spec.dims[0].transport.start_jitter_ps = PS_PER_US / 10;
    fixture_cc(&f, "hpcc", NULL, NULL);
    for (unsigned i = 0; i < c->flows; i++)
        fixture_flow(&f, i, c->flows, UINT64_C(1000000000000), 0);
    snprintf(place, sizeof place, "*->rank%u", c->flows);
    at[0] = place;
    f.spec.duration_ps = (ps_t)(c->ms * 1e9);
    f.spec.report.sample_ps = f.spec.duration_ps / 2000;
    f.spec.report.sample_at = at;
    f.spec.report.n_sample_at = 1;
    fixture_run(&f);
    const struct series *s = f.result->series;
    size_t half = s->n_samples / 2;
    double sum = 0, squares = 0, largest = 0;
    for (unsigned q = 0; q < c->flows; q++) {
        double rate = 0; // sum of pacing rates, at which HPCC sends
        for (size_t i = half; i < s->n_samples; i++)
            rate += s->lines[SERIES_RATE][q].values[i] / (double)(s->n_samples - half);
        sum += rate;
        squares += rate * rate;
        largest = rate > largest ? rate : largest;
    }
    const struct port *port =
        &f.sim->fabric.net.ports[node_port(&f.sim->fabric.net, c->flows + 1, c->flows)];
    double used = (double)port->tx_bytes * 8 / (c->ms * 1e-3) / (c->gbps * 1e9);
    double bdp = c->gbps * 1e3 / 8 * c->rtt_us, ai = .05 * (bdp / 100 > wire ? bdp / 100 : wire);
    double most = .95 + c->flows * ai / bdp, jain = sum * sum / (c->flows * squares);
    print_message(
        "%3.0fG, RTT %2.0f us, MTU %4u, N %2u: used %.4f (U %.4f), Jain %.4f, the fastest %.2f "
        "Gb/s of %.2f\n",
        c->gbps, c->rtt_us, c->mtu, c->flows, used, most, jain, largest / 1e9, c->gbps / c->flows);
    assert_true(used > .945 && used < most + .01);
    assert_true(jain > .95);
    assert_true(largest < sum / c->flows * nearest);
    fixture_free(&f);
}

static void test_grid(void **state)
{
    (void)state;
    static const double rtts[] = {3, 12, 70};
    static const uint32_t mtus[] = {1000, 4096};
    static const unsigned flows[] = {2, 4, 16, 64};
    for (size_t i = 0; i < 24; i++) {
        double rtt = rtts[i / 8];
        check_cell(&(struct cell){100, rtt, mtus[i / 4 % 2], flows[i % 4], rtt > 20 ? 16 : 8}, 1.5);
    }
    static const struct cell fast[] = {
        {400, 3, 4096, 4, 4}, {400, 12, 1000, 16, 4}, {800, 3, 4096, 16, 2}, {800, 12, 4096, 2, 4}};
    for (size_t i = 0; i < 4; i++)
        check_cell(&fast[i], 1.5);
}

// Four flows with default parameters: each is near (eta + 4 W_AI/BDP)/4 of the line rate.
static void test_four_flows(void **state)
{
    (void)state;
    check_cell(&(struct cell){100, 4 + 2 * (4220 + 128) * .08e-3, 4096, 4, 30}, 1.10);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points),
        cmocka_unit_test(test_grid),
        cmocka_unit_test(test_four_flows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
