// SPDX-License-Identifier: MIT
// Mean queue of N long DCQCN flows at one bottleneck against the fixed point of the fluid model
// (Zhu et al., CoNEXT 2016, section 3): q* = Kmin + (p*/Pmax)(Kmax - Kmin), each flow at C/N, where
// p* is the root of A^2 a* / ((b+d)(c+e)) = tau^2 Rai Rc. Tolerance 10 %; 20 % at N = 2 (the queue
// empties) and at N = 64: in the model cuts follow one another at the rate of marks, while the
// notification point keeps them at least tau apart. With p tau Rc = 0.23 there are then about 3.4
// timer events per cut where the model has 3.3, and a tenth more additive ones, so the simulation
// needs a higher p. (Pmax 1 keeps the queue, which is also the delay of the loop, short there.)
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/support/dcqcn_fluid.h"
#include "tests/support/fixture.h"

struct point {
    unsigned flows;
    double line_bps, kmin, kmax, pmax;
    double tolerance;
    double seconds;
};

#define PACKET 1000.0 // wire bytes

static double fixed_point_queue(const struct point *pt)
{
    struct dcqcn_fluid m = {pt->flows, pt->line_bps, PACKET, pt->kmin, pt->kmax, pt->pmax, 40e6};
    return dcqcn_fixed_point(&m);
}

static void run(struct fixture *f, const struct point *pt)
{
    fixture_switch(f, pt->flows + 1, (uint64_t)pt->line_bps, PS_PER_US);
    struct dim_spec *dim = &f->spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->transport.overhead = OVERHEAD_CUSTOM; // so that wire, frame and payload bytes are equal
    dim->transport.overhead_data = 0;
    dim->transport.overhead_ack = 48;
    dim->sw.ecn = (struct ecn_spec){.mode = ECN_ON,
                                    .kmin_bytes = (uint64_t)pt->kmin,
                                    .kmax_bytes = (uint64_t)pt->kmax,
                                    .pmax = pt->pmax};
    fixture_cc(f, "dcqcn", "paper", NULL);
    for (unsigned i = 0; i < pt->flows; i++)
        fixture_flow(f, i, pt->flows, UINT64_C(1000000000000), 0);
    f->spec.duration_ps = (ps_t)(pt->seconds * 1e12);
    static const char *at[] = {NULL};
    static char place[32];
    snprintf(place, sizeof place, "*->rank%u", pt->flows);
    at[0] = place;
    // more values than are kept would leave out flows
    f->spec.report.sample_ps = (pt->flows > 32 ? 200 : pt->flows > 16 ? 50 : 5) * PS_PER_US;
    f->spec.report.sample_at = at;
    f->spec.report.n_sample_at = 1;
    fixture_run(f);
}

static void check(const struct point *pt)
{
    struct fixture f;
    run(&f, pt);
    const struct series *s = f.result->series;
    size_t from = s->n_samples / 3, n = s->n_samples - from;
    double mean = 0, rate[64] = {0}, sum = 0, squares = 0;
    for (size_t i = from; i < s->n_samples; i++) {
        mean += s->lines[SERIES_QUEUE][0].values[i] / (double)n;
        for (unsigned q = 0; q < pt->flows; q++)
            rate[q] += s->lines[SERIES_RATE][q].values[i] / (double)n;
    }
    double expected = fixed_point_queue(pt);
    for (unsigned q = 0; q < pt->flows; q++) {
        sum += rate[q];
        squares += rate[q] * rate[q];
    }
    double jain = sum * sum / (pt->flows * squares);
    print_message("N %2u at %3.0fG: mean queue %7.1f KB, theory %7.1f KB (%+.1f %%), Jain %.4f, "
                  "sum of rates %.3f C\n",
                  pt->flows, pt->line_bps / 1e9, mean / 1e3, expected / 1e3,
                  100 * (mean / expected - 1), jain, sum / pt->line_bps);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_true(fabs(mean / expected - 1) < pt->tolerance);
    assert_true(jain > 0.99);
    for (unsigned q = 0; q < pt->flows; q++)
        assert_true(fabs(rate[q] * pt->flows / pt->line_bps - 1) < 0.15);
    fixture_free(&f);
}

static void test_points(void **state)
{
    (void)state;
    static const struct point points[] = {
        {2, 40e9, 5e3, 2000e3, .1, .20, .4},  {10, 40e9, 5e3, 2000e3, .1, .10, .4},
        {16, 40e9, 5e3, 2000e3, .1, .10, .4}, {6, 40e9, 5e3, 1000e3, .1, .10, .4},
        {24, 40e9, 5e3, 2000e3, .2, .10, .4}, {32, 40e9, 5e3, 2000e3, .2, .10, .4},
        {64, 40e9, 5e3, 2000e3, 1, .20, .4},
    };
    for (size_t i = 0; i < sizeof points / sizeof *points; i++)
        check(&points[i]);
}

// Expected values of the paper's equations, computed by other means.
static void test_equations(void **state)
{
    (void)state;
    const struct point a = {2, 40e9, 5e3, 2000e3, .1, 0, 0}, b = {10, 40e9, 5e3, 2000e3, .1, 0, 0};
    assert_true(fabs(fixed_point_queue(&a) - 20.5e3) < 100);
    assert_true(fabs(fixed_point_queue(&b) - 125.3e3) < 100);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equations),
        cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
