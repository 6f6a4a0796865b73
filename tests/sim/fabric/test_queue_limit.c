// SPDX-License-Identifier: MIT
// Fixed limits of the output queues of lossy classes, against exact counts.
//
// Two ranks send n equal packets each at line rate to a third. In each packet time two packets
// arrive and one leaves, so after n times n packets have been started, min(n, K) wait, and all
// others, n - K, were dropped. The packet in transmission is not among the K that wait.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

enum { N = 500, MTU = 1000 };

struct counts {
    uint64_t dropped, over_limit, max_queue, frame;
};

static struct counts two_to_one(struct queue_limit_spec limit, unsigned cls, uint64_t buffer_bytes)
{
    static struct fixture f;
    fixture_switch(&f, 3, UINT64_C(10000000000), PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.queue_limit = limit;
    dim->sw.buffer_bytes = buffer_bytes;
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    roce_spec_of(&dim->transport)->recovery = RECOVERY_NONE;
    roce_spec_of(&dim->transport)->ack_class = ACK_CLASS_CONTROL;
    dim->transport.overhead = OVERHEAD_CUSTOM; // so that the first packet is as long as the others
    dim->transport.overhead_data = dim->transport.overhead_ack = 24;
    f.spec.duration_ps = 20 * PS_PER_MS;
    fixture_flow(&f, 0, 2, (uint64_t)N * MTU, 0);
    fixture_flow(&f, 1, 2, (uint64_t)N * MTU, 0);
    f.jobs[0].cls = cls;
    fixture_run(&f);
    struct counts counts = {.dropped = f.result->dropped_packets,
                            .over_limit = f.result->drops[DROP_QUEUE_LIMIT],
                            .max_queue = f.result->max_queue_bytes,
                            .frame = f.sim->fabric.hosts.dims[0].full.frame};
    fixture_free(&f);
    return counts;
}

static struct queue_limit_spec packets(uint64_t n)
{
    return (struct queue_limit_spec){.packets = n, .bytes = PARAM_AUTO};
}

static struct queue_limit_spec bytes(uint64_t n)
{
    return (struct queue_limit_spec){.packets = PARAM_AUTO, .bytes = n};
}

#define BUFFER 32000000

static void test_packets(void **state)
{
    (void)state;
    static const uint64_t limits[] = {1, 2, 42, N - 1, N, N + 1};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        uint64_t k = limits[i] < N ? limits[i] : N;
        struct counts c = two_to_one(packets(limits[i]), 0, BUFFER);
        assert_int_equal(c.over_limit, N - k);
        assert_int_equal(c.dropped, N - k);
        assert_int_equal(c.max_queue, k * c.frame);
    }
}

// A packet that would exceed the limit by one byte is dropped.
static void test_bytes(void **state)
{
    (void)state;
    uint64_t frame = two_to_one(packets(1), 0, BUFFER).frame;
    assert_int_equal(two_to_one(bytes(42 * frame), 0, BUFFER).over_limit, N - 42);
    assert_int_equal(two_to_one(bytes(42 * frame - 1), 0, BUFFER).over_limit, N - 41);
    assert_int_equal(two_to_one(bytes(42 * frame + 1), 0, BUFFER).over_limit, N - 42);
}

// The dynamic threshold has no effect where a limit is given; the buffer has.
static void test_the_buffer_remains_a_bound(void **state)
{
    (void)state;
    struct counts c = two_to_one(packets(N), 0, 100000);
    assert_int_equal(c.over_limit, 0);
    assert_true(c.dropped > N - 100000 / MTU && c.dropped < N);
    c = two_to_one(packets(60), 0, 100000); // the threshold would hold half of what is free
    assert_int_equal(c.dropped, N - 60);
}

static void test_lossless_classes_are_exempt(void **state)
{
    (void)state;
    struct counts c = two_to_one(packets(2), NET_CLASS_DATA, BUFFER);
    assert_int_equal(c.dropped, 0);
    assert_int_equal(c.max_queue, N * c.frame);
}

// Returns the drops by the limit where switches named by `at` have it, and ranks 1 and 2, under two
// leaves, send to rank 0.
static uint64_t over_limit_at(const char *at)
{
    static struct fixture f;
    struct link_spec link = {.rate_bps = UINT64_C(10000000000), .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, 4, 2, 1, link, link);
    f.spec.dims[0].sw.queue_limit = packets(42);
    f.spec.dims[0].sw.queue_limit.at = at;
    f.spec.dims[0].sw.buffer_bytes = BUFFER;
    roce_spec_of(&f.spec.dims[0].transport)->recovery = RECOVERY_NONE;
    f.spec.duration_ps = 20 * PS_PER_MS;
    fixture_flow(&f, 1, 0, N * MTU, 0);
    fixture_flow(&f, 2, 0, N * MTU, 0);
    f.jobs[0].cls = 0;
    fixture_run(&f);
    uint64_t over = f.result->drops[DROP_QUEUE_LIMIT];
    fixture_free(&f);
    return over;
}

static void test_named_switches(void **state)
{
    (void)state;
    uint64_t everywhere = over_limit_at("");
    assert_true(everywhere > 0);
    assert_int_equal(over_limit_at("spine0, leaf0"), everywhere);
    assert_int_equal(over_limit_at("leaf1,spine*"),
                     0); // no queue there, and a share of the buffer at leaf0
}

static void test_a_name_that_no_switch_has(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = {0};
    fixture_switch(&f, 3, UINT64_C(10000000000), PS_PER_US);
    f.spec.dims[0].sw.queue_limit = packets(42);
    f.spec.dims[0].sw.queue_limit.at = "dim0.sw0,dim0.sw1";
    assert_null(sim_new(&f.spec, &err));
    assert_int_equal(err.n_errors, 1);
    assert_string_equal(err.items[0].text,
                        "switch.queue_limit.at: no switch of dimension 0 is called \"dim0.sw1\"");
    err_free(&err);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packets),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_the_buffer_remains_a_bound),
        cmocka_unit_test(test_lossless_classes_are_exempt),
        cmocka_unit_test(test_named_switches),
        cmocka_unit_test(test_a_name_that_no_switch_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
