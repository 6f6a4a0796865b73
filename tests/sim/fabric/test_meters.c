// SPDX-License-Identifier: MIT
// Meters of ports against the closed form of a token bucket.
//
// A rank sends N equal frames at line rate, one each time g, to a port whose meter takes s = 4 g
// for a frame and holds B frames. The bucket is full at first, so until the last frame, (N - 1) g
// later, it has had tokens for B + (N - 1) / 4 frames. A frame passes whenever there are enough:
// floor(B + (N - 1) / 4) of them.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "switch/meter.h"
#include "tests/support/fixture.h"

enum { N = 1000, MTU = 1000, RATE_GBPS = 10, SLOWER = 4, BURST = 20 };
#define PASSED (BURST + (N - 1) / SLOWER)
#define FRAME (MTU + 24)

struct counts {
    uint64_t dropped, metered, marked, arrived;
};

// One flow from rank 0 to rank 2 through the meters; a frame is as long on the link as in a queue.
static struct counts metered(struct meter_spec *meters, size_t n, unsigned cls)
{
    static struct fixture f;
    fixture_switch(&f, 3, UINT64_C(1000000000) * RATE_GBPS, PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    roce_spec_of(&dim->transport)->recovery = RECOVERY_NONE;
    roce_spec_of(&dim->transport)->ack_class = ACK_CLASS_CONTROL;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = dim->transport.overhead_ack = FRAME - MTU;
    f.spec.duration_ps = 20 * PS_PER_MS;
    f.spec.meters = meters;
    f.spec.n_meters = n;
    fixture_flow(&f, 0, 2, (uint64_t)N * MTU, 0);
    f.jobs[0].cls = cls;
    fixture_run(&f);
    assert_int_equal(f.sim->fabric.hosts.dims[0].full.frame, FRAME);
    assert_int_equal(f.sim->fabric.hosts.dims[0].full.wire, FRAME);
    struct counts c = {.dropped = f.result->dropped_packets,
                       .metered = f.result->drops[DROP_METER],
                       .marked = f.result->marked_packets};
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strcmp(f.result->ports[i].at, "dim0.sw0->rank2") == 0)
            c.arrived = f.result->ports[i].packets;
    fixture_free(&f);
    return c;
}

static struct meter_spec meter(const char *at, enum meter_excess excess, uint64_t cls)
{
    return (struct meter_spec){.at = at,
                               .rate_bps = UINT64_C(1000000000) * RATE_GBPS / SLOWER,
                               .burst_bytes = BURST * FRAME,
                               .cls = cls,
                               .excess = (int)excess};
}

static void test_a_policer_where_packets_leave_or_enter(void **state)
{
    (void)state;
    static const char *const places[] = {"dim0.sw0->rank2", "rank0->dim0.sw0", "rank0", "*->rank2"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct meter_spec one = meter(places[i], METER_DROPS, PARAM_AUTO);
        struct counts c = metered(&one, 1, 0);
        assert_int_equal(c.arrived, PASSED);
        assert_int_equal(c.metered, N - PASSED);
        assert_int_equal(c.dropped, N - PASSED);
        assert_int_equal(c.marked, 0);
    }
}

static void test_marks_go_on(void **state)
{
    (void)state;
    struct meter_spec one = meter("dim0.sw0->rank2", METER_MARKS, PARAM_AUTO);
    struct counts c = metered(&one, 1, 0);
    assert_int_equal(c.arrived, N);
    assert_int_equal(c.dropped, 0);
    assert_int_equal(c.marked, N - PASSED);
}

static void test_classes_and_other_ports(void **state)
{
    (void)state;
    struct meter_spec other[] = {meter("dim0.sw0->rank2", METER_DROPS, 1),
                                 meter("dim0.sw0->rank1", METER_DROPS, PARAM_AUTO),
                                 meter("rank2->dim0.sw0", METER_DROPS, 0)};
    struct counts c = metered(other, 3, 0);
    assert_int_equal(c.arrived, N);
    assert_int_equal(c.metered, 0);
    other[0].cls = 3; // a lossless class has meters too
    assert_int_equal(metered(other, 1, 3).arrived, PASSED);
}

// Two meters of a port: what the first has dropped takes no tokens of the second.
static void test_one_after_the_other(void **state)
{
    (void)state;
    struct meter_spec two[] = {meter("dim0.sw0->rank2", METER_DROPS, PARAM_AUTO),
                               meter("dim0.sw0->rank2", METER_MARKS, PARAM_AUTO)};
    struct counts c = metered(two, 2, 0);
    assert_int_equal(c.arrived, PASSED);
    assert_int_equal(c.marked, 0);
    two[1].burst_bytes = FRAME; // it has one frame of burst, and the same rate
    c = metered(two, 2, 0);
    assert_int_equal(c.arrived, PASSED);
    // Of the burst every fourth frame has tokens; after it frames come as tokens do.
    assert_true(c.marked > 0 && c.marked < 2 * BURST);
}

static void refused(const char *at, const char *text)
{
    struct fixture f;
    struct err err = {0};
    struct meter_spec one = meter(at, METER_DROPS, PARAM_AUTO);
    fixture_switch(&f, 3, UINT64_C(1000000000) * RATE_GBPS, PS_PER_US);
    f.spec.meters = &one;
    f.spec.n_meters = 1;
    assert_null(sim_new(&f.spec, &err));
    assert_int_equal(err.n_errors, 1);
    assert_non_null(strstr(err.items[0].text, text));
    err_free(&err);
    fixture_free(&f);
}

static void test_no_such_port(void **state)
{
    (void)state;
    refused("rank7", "meters[0].at");
    refused("dim0.sw0->rank9", "meters[0].at");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_policer_where_packets_leave_or_enter),
        cmocka_unit_test(test_marks_go_on),
        cmocka_unit_test(test_classes_and_other_ports),
        cmocka_unit_test(test_one_after_the_other),
        cmocka_unit_test(test_no_such_port),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
