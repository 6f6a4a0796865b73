// SPDX-License-Identifier: MIT
// Links that lose lanes, against the time of each packet, and links that flap.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
enum { MTU = 4096, DATA = 4160, ACK = 64, N = 300 };

static struct fixture f;

static double ps(double bytes) { return bytes * 8 * 1e12 / (double)RATE; }

static struct dim_spec *prepare(const struct fault_spec *fault)
{
    fixture_switch(&f, 2, RATE, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    roce_spec_of(&dim->transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce_spec_of(&dim->transport)->bdp_cap = false;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = DATA - MTU;
    dim->transport.overhead_ack = ACK;
    f.faults[0] = *fault;
    f.spec.faults = f.faults;
    f.spec.n_faults = 1;
    fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
    return dim;
}

static void run(void)
{
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
}

static void begin(const struct fault_spec *fault)
{
    prepare(fault);
    run();
}

// While a link has `share` of its rate a packet takes L / (share C) on it; a packet that has
// started keeps its time. Packets follow each other, so the last one starts when all others have
// been sent.
static void test_lanes(void **state)
{
    (void)state;
    static const double shares[] = {0.75, 0.5, 0.125, 1};
    const ps_t from = 20 * PS_PER_US + 1, to = 60 * PS_PER_US + 1;
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        for (int back = 0; back < 2; back++) {
            struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
            fault.one_way = true;
            fault.rate_share = shares[i];
            fault.rate_ps = from;
            fault.rate_end_ps = back ? to : PS_NEVER;
            begin(&fault);
            double start = 0, length = 0, busy = 0;
            for (int n = 0; n < N; n++) {
                start += length;
                bool slow = start >= (double)from && !(back && start >= (double)to);
                length = ps(DATA) / (slow ? shares[i] : 1);
                busy += length;
            }
            double fct = start + length + ps(DATA) + 2 * ps(ACK) + 4. * PS_PER_US;
            assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= (double)N);
            double used = f.result->ports[0].utilization * (double)f.result->sim_time_ps;
            assert_string_equal(f.result->ports[0].at, "rank0->dim0.sw0");
            assert_true(fabs(used - busy) <= (double)N);
            assert_true(f.result->flows[0].ideal_ps <= f.result->flows[0].fct_ps);
            assert_int_equal(f.result->n_changes, shares[i] < 1 ? 1 + back : 0);
            assert_int_equal(f.result->dropped_packets, 0);
            fixture_free(&f);
        }
}

// Lanes that are lost from the start on lose no packet: that which has started by then keeps its
// time, and its start is not taken for one before the link was up.
static void test_lanes_from_the_start(void **state)
{
    (void)state;
    struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
    fault.one_way = true;
    fault.rate_share = 0.25;
    fault.rate_ps = 0;
    fault.rate_end_ps = PS_NEVER;
    begin(&fault);
    double fct = N * ps(DATA) / 0.25 + ps(DATA) + 2 * ps(ACK) + 4. * PS_PER_US;
    assert_int_equal(f.result->dropped_packets, 0);
    assert_true((double)f.result->flows[0].fct_ps <= fct + N);
    assert_true((double)f.result->flows[0].fct_ps >= fct - ps(DATA) * 3 - N);
    fixture_free(&f);
}

// What waits for a port whose link has a quarter of its rate may be limited to a quarter, and
// marked from a quarter on: of 16 and 12 packets of 4096 B, 4 and 3. Without scale_buffers both are
// as before.
static void test_scaled_buffers(void **state)
{
    (void)state;
    enum { FRAME = DATA };
    for (int scaled = 0; scaled < 2; scaled++) {
        struct fault_spec fault = fixture_fault("dim0.sw0->rank1");
        fault.one_way = true;
        fault.rate_share = 0.25;
        fault.rate_end_ps = PS_NEVER;
        fault.scale_buffers = scaled;
        struct dim_spec *dim = prepare(&fault);
        dim->sw.pfc.enabled = false;
        dim->sw.queue_limit.bytes = 16 * FRAME;
        dim->sw.ecn = (struct ecn_spec){.mode = ECN_ON, .kmin_bytes = 12 * FRAME, .pmax = 1};
        dim->sw.ecn.kmax_bytes = dim->sw.ecn.kmin_bytes;
        run();
        uint64_t limit = (scaled ? 4 : 16) * FRAME;
        assert_true(f.result->drops[DROP_QUEUE_LIMIT] > 0);
        assert_true(f.result->marked_packets > 0); // none where only the limit has been scaled
        uint64_t longest = f.result->max_queue_bytes;
        print_message("scaled %d: longest %llu of %llu\n", scaled, (unsigned long long)longest,
                      (unsigned long long)limit);
        assert_true(longest <= limit && longest + FRAME > limit);
        fixture_free(&f);
    }
}

// A link that flaps is down for 5 us in each 40 us. It loses what is sent to it in that time and
// what is on it when it goes down: 5 us and a microsecond of propagation, in packets.
static void test_flap(void **state)
{
    (void)state;
    enum { FLAPS = 2 };
    struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
    fault.one_way = true;
    fault.flap_ps = 10 * PS_PER_US;
    fault.flap_period_ps = 40 * PS_PER_US;
    fault.flap_down_ps = 5 * PS_PER_US;
    fault.flap_count = FLAPS;
    begin(&fault);
    assert_int_equal(f.result->n_changes, 2 * FLAPS);
    for (size_t i = 0; i < 2 * FLAPS; i++) {
        ps_t at = fault.flap_ps + (ps_t)(i / 2) * fault.flap_period_ps;
        assert_int_equal(f.result->changes[i].at_ps, at + (i % 2 ? fault.flap_down_ps : 0));
        assert_string_equal(f.result->changes[i].what, i % 2 ? "up" : "down");
    }
    double lost = (double)FLAPS * 6 * PS_PER_US / ps(DATA);
    assert_true(fabs((double)f.result->drops[DROP_LINK_DOWN] - lost) <= 2 * (double)FLAPS);
    assert_int_equal(f.result->dropped_packets, f.result->drops[DROP_LINK_DOWN]);
    fixture_free(&f);
}

// Each time the link goes down or comes up, routes are computed again `detect` later.
static void test_flap_is_detected(void **state)
{
    (void)state;
    struct fault_spec fault = fixture_fault("rank0->dim0.sw0");
    fault.flap_ps = 10 * PS_PER_US;
    fault.flap_period_ps = 40 * PS_PER_US;
    fault.flap_down_ps = 5 * PS_PER_US;
    fault.flap_count = 2;
    fault.detect_ps = PS_PER_US;
    begin(&fault);
    size_t rerouted = 0;
    for (size_t i = 0; i < f.result->n_changes; i++) {
        bool routes = strcmp(f.result->changes[i].what, "rerouted") == 0;
        rerouted += routes;
        if (routes)
            assert_int_equal(f.result->changes[i].at_ps,
                             f.result->changes[i - 1].at_ps + fault.detect_ps);
    }
    assert_int_equal(rerouted, 4);
    assert_int_equal(f.result->n_changes, 8);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes), cmocka_unit_test(test_lanes_from_the_start),
        cmocka_unit_test(test_scaled_buffers), cmocka_unit_test(test_flap),
        cmocka_unit_test(test_flap_is_detected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
