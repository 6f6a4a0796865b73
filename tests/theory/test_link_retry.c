// SPDX-License-Identifier: MIT
// Link-level retry: the time of listed losses, exactly, and the goodput of a link that corrupts
// packets at random.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
enum { MTU = 4096, DATA = 4160, ACK = 64 };

static struct fixture f;

static double ps(double bytes) { return bytes * 8 * 1e12 / (double)RATE; }

static void begin(const struct fault_spec *fault, uint64_t packets, ps_t delay_ps)
{
    fixture_switch(&f, 2, RATE, delay_ps);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.llr = true;
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = DATA - MTU;
    dim->transport.overhead_ack = ACK;
    f.faults[0] = *fault;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_flow(&f, 0, 1, packets * MTU, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_int_equal(f.result->retransmitted, 0);
    assert_int_equal(f.result->naks + f.result->timeouts,
                     0); // order is kept: go-back-N sees no gap
}

// A loss takes a packet and the link's round trip, L / C + 2 d; a packet that is lost three times
// three of them. Nothing is lost for the transport.
static void test_listed(void **state)
{
    (void)state;
    static uint64_t packets[] = {1, 7, 50};
    const ps_t d = 2 * PS_PER_US;
    for (uint64_t times = 1; times <= 3; times++) {
        struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
        fault.one_way = true;
        fault.packets = packets;
        fault.n_packets = 3;
        fault.times = times;
        begin(&fault, 60, d);
        double round = ps(DATA) + 2. * (double)d, more = 3. * (double)times * round;
        double fct = (double)f.result->flows[0].ideal_ps + more;
        assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= 8);
        assert_int_equal(f.result->retried_packets, 3);
        assert_int_equal(f.result->retries, 3 * times);
        assert_true(fabs((double)f.result->retry_ps - more) <= 8);
        fixture_free(&f);
    }
}

// Each packet has p / (1 - p) lost attempts in the mean, of W = 1 + 2 d C / L packet times each: a
// packet takes (1 + W p / (1 - p)) L / C. Over n packets the relative error is about W sqrt(p / n).
static void test_goodput(void **state)
{
    (void)state;
    static const double corruption[] = {0.001, 0.01, 0.1};
    enum { N = 20000 };
    const ps_t d = 200 * PS_PER_NS;
    for (size_t i = 0; i < sizeof corruption / sizeof *corruption; i++) {
        struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
        double p = corruption[i], w = 1 + 2. * (double)d / ps(DATA);
        fault.one_way = true;
        fault.corruption = p;
        begin(&fault, N, d);
        double expected = 1 / (1 + w * p / (1 - p));
        double goodput = (double)N * ps(DATA) / (double)f.result->flows[0].fct_ps;
        assert_true(fabs(goodput / expected - 1) < 4 * w * sqrt(p / (double)N));
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_listed),
                                       cmocka_unit_test(test_goodput)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
