// SPDX-License-Identifier: MIT
// DCQCN with PI marking (Zhu et al., CoNEXT 2016, section 6): the mean queue is at the reference
// for any number of flows, whereas with RED it grows with the number of flows (see
// test_dcqcn_fixed_point: more than threefold from 6 to 24 flows). The queue oscillates around its
// mean, earlier than the fluid model predicts; the mean over 200 ms varies by 10 % of the reference
// for this reason.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(40000000000)

struct point {
    unsigned flows;
    double qref;
};

static double mean_queue(const struct point *pt, enum marking_kind kind)
{
    struct fixture f;
    fixture_switch(&f, pt->flows + 1, LINE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_ack = 48;
    // limits the burst at the start, which must not dominate the controller's integral
    dim->sw.buffer_bytes = 3000000;
    dim->sw.ecn.mode = ECN_ON;
    dim->sw.ecn.kind = (int)kind;
    dim->sw.ecn.qref_bytes = (uint64_t)pt->qref;
    dim->sw.ecn.kmin_bytes = 5000;
    dim->sw.ecn.kmax_bytes = 2000000;
    dim->sw.ecn.pmax = 0.1;
    fixture_cc(&f, "dcqcn", "paper", NULL);
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(&f, i, pt->flows, UINT64_C(1000000000000), 0);
    char place[32];
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    const char *at[] = {place};
    f.spec.duration_ps = 400 * PS_PER_MS;
    f.spec.report.sample_ps = 20 * PS_PER_US;
    f.spec.report.sample_at = at;
    f.spec.report.n_sample_at = 1;
    fixture_run(&f);
    assert_int_equal(f.result->dropped_packets, 0);
    const struct series *s = f.result->series;
    double mean = 0, sent = 0;
    for (size_t i = s->n_samples / 2; i < s->n_samples; i++)
        mean += s->lines[SERIES_QUEUE][0].values[i] / (double)(s->n_samples - s->n_samples / 2);
    for (size_t p = 0; p < f.result->n_ports; p++)
        sent = f.result->ports[p].utilization > sent ? f.result->ports[p].utilization : sent;
    print_message("%s N %2u: mean queue %6.1f KB, busiest link %.3f\n",
                  kind == MARKING_PI ? "pi " : "red", pt->flows, mean / 1e3, sent);
    assert_true(sent > 0.95); // the controller limits the queue, not a lack of traffic
    fixture_free(&f);
    return mean;
}

static void test_queue_stays_at_the_reference(void **state)
{
    (void)state;
    static const struct point points[] = {{2, 200e3},  {10, 200e3}, {64, 200e3},
                                          {24, 200e3}, {6, 120e3},  {32, 300e3}};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) {
        double mean = mean_queue(&points[i], MARKING_PI);
        assert_true(fabs(mean / points[i].qref - 1) < 0.10);
    }
}

static void test_red_grows(void **state)
{
    (void)state;
    const struct point few = {6, 0}, many = {24, 0};
    assert_true(mean_queue(&many, MARKING_RED) > 3 * mean_queue(&few, MARKING_RED));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_stays_at_the_reference),
        cmocka_unit_test(test_red_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
