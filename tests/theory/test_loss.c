// SPDX-License-Identifier: MIT
// Random loss and its recovery. Go-back-N retransmits a full window for each lost packet, so the
// goodput is about 1 / (1 + p W) of the line rate, with p the loss probability and W the packets in
// flight, if other flows use the line while one waits. If a retransmission is lost too, the flow
// waits for the timer, since a gap causes only one NAK: for a single flow the goodput is 1 / (1 + p
// W + p^2 RTO/t), with t the time of a packet; at the default RTO of 67 ms the last term dominates
// from p = 1e-4 on. Selective repeat retransmits only the lost packet, and with several flows the
// others use the capacity while one waits: more than 95 % if W is at least 400 packets. N flows
// into one port, loss on the receiver's link.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define MS 40
#define MTU 1000

struct point {
    unsigned flows, window;
    double p;
};

// Share of the line rate that is payload delivered in order, including its headers.
static double goodput(const struct point *pt, enum recovery recovery, bool pfc)
{
    static struct fixture f;
    char window[32], place[32];
    fixture_switch(&f, pt->flows + 1, LINE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    roce_spec_of(&dim->transport)->recovery = (int)recovery;
    roce_spec_of(&dim->transport)->bdp_cap = false;
    roce_spec_of(&dim->transport)->rto_ps = 2 * PS_PER_MS;
    roce_spec_of(&dim->transport)->rto_low_ps = roce_spec_of(&dim->transport)->rto_high_ps =
        2 * PS_PER_MS;
    dim->sw.pfc.enabled = pfc;
    snprintf(window, sizeof window, "bytes=%uB", pt->window * MTU);
    snprintf(place, sizeof place, "dim0.sw0->rank%u", pt->flows);
    fixture_cc(&f, "window", NULL, window, NULL);
    struct fault_spec fault = fixture_fault(place);
    fault.one_way = true;
    fault.loss = pt->p;
    f.spec.faults = &fault;
    f.spec.n_faults = 1;
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(&f, i, pt->flows, UINT64_C(1000000000000), 0);
    f.spec.duration_ps = MS * PS_PER_MS;
    fixture_run(&f);
    assert_int_equal(f.result->summary.failed, 0);
    assert_true(f.result->drops[DROP_LINK_LOSS] > 0 &&
                f.result->drops[DROP_LINK_LOSS] == f.result->dropped_packets);
    double bytes = 0;
    for (size_t i = 0; i < f.result->n_flows; i++)
        bytes += (double)f.result->flows[i].delivered_bytes;
    double share =
        bytes * f.sim->fabric.hosts.dims[0].full.wire / MTU * 8 / (MS * 1e-3) / (double)LINE;
    double lost = (double)f.result->drops[DROP_LINK_LOSS];
    double sent =
        (double)f.sim->fabric.net.ports[node_port(&f.sim->fabric.net, pt->flows + 1, pt->flows)]
            .tx_packets;
    // the observed loss matches its probability
    assert_true(fabs(lost / sent / pt->p - 1) < 5 / sqrt(lost));
    fixture_free(&f);
    return share;
}

static void test_go_back_n(void **state)
{
    (void)state;
    static const struct point points[] = {
        {4, 400, .001}, {4, 100, .001}, {8, 50, .002}, {4, 800, .0005}, {2, 200, .003}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const struct point *pt = &points[i];
        double expected = 1 / (1 + pt->p * pt->window), got = goodput(pt, RECOVERY_GO_BACK_N, true);
        print_message("go-back-N %u flows of %u packets, p %.2f %%: %.3f of the line, theory "
                      "%.3f (%+.1f %%)\n",
                      pt->flows, pt->window, 100 * pt->p, got, expected,
                      100 * (got / expected - 1));
        assert_true(fabs(got / expected - 1) < 0.05);
    }
}

// One flow: W is the number of packets sent between the lost packet and the arrival of the NAK that
// the next one causes.
static void test_go_back_n_alone(void **state)
{
    (void)state;
    static const struct {
        double gbps, p, rto_us, ms;
        uint32_t mtu;
    } points[] = {{100, .02, 200, 200, 4096},
                  {100, .01, 500, 300, 4096},
                  {100, .02, 50, 100, 1000},
                  {400, .005, 100, 100, 1000},
                  {800, .01, 200, 50, 4096}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        static struct fixture f;
        double p = points[i].p, ms = points[i].ms;
        fixture_switch(&f, 2, (uint64_t)(points[i].gbps * 1e9), PS_PER_US);
        struct dim_spec *dim = &f.spec.dims[0];
        roce_spec_of(&dim->transport)->mtu_bytes = points[i].mtu;
        roce_spec_of(&dim->transport)->rto_ps = (ps_t)(points[i].rto_us * 1e6);
        fixture_cc(&f, "window", NULL, NULL);
        struct fault_spec fault = fixture_fault("dim0.sw0->rank1");
        fault.one_way = true;
        fault.loss = p;
        f.spec.faults = &fault;
        f.spec.n_faults = 1;
        fixture_flow(&f, 0, 1, UINT64_C(1000000000000), 0);
        f.spec.duration_ps = (ps_t)(ms * 1e9);
        fixture_run(&f);
        const struct sender *s = f.sim->fabric.hosts.senders[0];
        double wire = sender_env(s)->full_wire_bytes, t_us = wire * 8e-3 / points[i].gbps;
        double w = (double)sender_env(s)->base_rtt_ps * 1e-6 / t_us + 1;
        double expected = 1 / (1 + p * w + p * p * points[i].rto_us / t_us);
        double got = (double)f.result->flows[0].delivered_bytes / points[i].mtu * t_us / (ms * 1e3);
        print_message(
            "go-back-N alone at %3.0fG, MTU %u, p %.2f %%, RTO %.0f us, W %.0f: %.3f of the "
            "line, theory %.3f (%+.1f %%), without the timer %.3f; %llu timeouts\n",
            points[i].gbps, points[i].mtu, 100 * p, points[i].rto_us, w, got, expected,
            100 * (got / expected - 1), 1 / (1 + p * w), (unsigned long long)s->cold.timeouts);
        assert_true(s->cold.timeouts > 40);
        assert_true(fabs(got / expected - 1) < 0.04);
        fixture_free(&f);
    }
}

static void test_selective_repeat(void **state)
{
    (void)state;
    static const struct point points[] = {{4, 400, .001}, {8, 400, .001}, {4, 800, .001}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        const struct point *pt = &points[i];
        double back = goodput(pt, RECOVERY_GO_BACK_N, true);
        for (int pfc = 0; pfc < 2; pfc++) {
            double got = goodput(pt, RECOVERY_SELECTIVE_REPEAT, pfc);
            print_message("selective repeat %u flows of %u packets, p %.2f %%, PFC %s: %.3f of "
                          "the line; go-back-N %.3f\n",
                          pt->flows, pt->window, 100 * pt->p, pfc ? "on" : "off", got, back);
            assert_true(got > 0.95 && got <= 1);
        }
        assert_true(back < 0.75);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_go_back_n),
        cmocka_unit_test(test_go_back_n_alone),
        cmocka_unit_test(test_selective_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
