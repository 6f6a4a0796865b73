// SPDX-License-Identifier: MIT
// Messages striped over the planes of a switch: faster by the number of planes, with the same
// bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

// Seconds of an operation over 4 ranks on a switch of three planes.
static double seconds(enum coll_op op, const char *algorithm, uint64_t bytes, bool stripe,
                      size_t *messages)
{
    struct fixture f;
    fixture_switch(&f, 4, RATE, 100 * PS_PER_NS);
    struct err err = {0};
    const struct topology_kind *kind = f.spec.dims[0].kind;
    struct param planes = param_find(kind->params, kind->n_params, "planes");
    assert_int_equal(param_set(&planes, f.spec.dims[0].params, "3", "planes", &err), 0);
    f.spec.dims[0].transport.stripe = stripe;
    fixture_collective(&f, op, algorithm, bytes, 1);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, f.sim->workload.total_bytes);
    const struct collective_result *c = &f.result->collectives[0];
    double s = (double)(c->end_ps - c->start_ps) * 1e-12;
    *messages = f.result->n_flows;
    fixture_free(&f);
    return s;
}

static void test_three_planes(void **state)
{
    (void)state;
    static const struct {
        enum coll_op op;
        const char *algorithm;
    } cases[] = {
        {COLL_SEND_RECV, "ring"}, {COLL_ALL_REDUCE, "ring"}, {COLL_ALL_REDUCE, "halving_doubling"}};
    for (size_t i = 0; i < 3; i++) {
        size_t one, three;
        double whole = seconds(cases[i].op, cases[i].algorithm, 30000000, false, &one);
        double cut = seconds(cases[i].op, cases[i].algorithm, 30000000, true, &three);
        print_message("%s: %.3f times as fast\n", cases[i].algorithm, whole / cut);
        // Data shares its plane with the ACKs of a flow in the other direction, 84 wire bytes for
        // every 4178. A message that is not striped may use a plane without such ACKs; a striped
        // one has them on every plane. Half a percent is left for the latency of the steps, which
        // striping does not shorten.
        double least = 3 / (1 + 84. / 4178) * 0.995;
        assert_true(whole / cut > least && whole / cut < 3.03);
        assert_int_equal(three, one); // one record per message
    }
}

// Messages of 0 bytes and of 1 byte are not striped.
static void test_small_messages(void **state)
{
    (void)state;
    size_t one, cut;
    seconds(COLL_BARRIER, "direct", 0, false, &one);
    seconds(COLL_BARRIER, "direct", 0, true, &cut);
    assert_int_equal(one, cut);
    seconds(COLL_ALL_REDUCE, "direct", 5, true, &cut); // segments of 1 and 2 bytes
    assert_int_equal(cut, 24);
}

// A raw flow over 4 planes takes a quarter of the serialization: each plane carries its packets one
// after another; the first has RETH and so occupies the second link longest; then the last ACK
// crosses the switch. 80 ps a byte.
static void test_raw_flow(void **state)
{
    (void)state;
    const ps_t hop = 100 * PS_PER_NS;
    static const struct {
        uint64_t bytes, packets; // of the message, in all its parts
        uint64_t part;           // bytes of a part
        uint32_t planes;
    } cases[] = {{4000000, 4000, 1000000, 4},
                 {4000000, 4000, 4000000, 1},
                 {8000, 8, 2000, 4},
                 {6000, 8, 1500, 4},
                 {3000, 4, 750, 4},
                 {2, 2, 1, 4}, // no part is empty
                 {1, 1, 1, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct err err = {0};
        char planes[8] = {(char)('0' + cases[i].planes), '\0'};
        fixture_switch(&f, 4, RATE, hop);
        const struct topology_kind *kind = f.spec.dims[0].kind;
        struct param p = param_find(kind->params, kind->n_params, "planes");
        assert_int_equal(param_set(&p, f.spec.dims[0].params, planes, "planes", &err), 0);
        struct transport_spec *t = &f.spec.dims[0].transport;
        roce_spec_of(t)->mtu_bytes = 1000;
        fixture_flow(&f, 0, 2, cases[i].bytes, 0);
        fixture_run(&f);
        const struct flow_record *flow = &f.result->flows[0];
        const struct packet_sizes full = roce_data_sizes(t, 1000, false), ack = roce_ack_sizes(t);
        uint64_t part = cases[i].part, n = (part + 999) / 1000;
        ps_t first = roce_data_sizes(t, n > 1 ? 1000 : (uint32_t)part, true).wire;
        ps_t last = roce_data_sizes(t, (uint32_t)(part - (n - 1) * 1000), false).wire;
        ps_t bytes = n > 1 ? first + (ps_t)(n - 2) * full.wire + last : first; // on one plane
        ps_t delivered = 80 * (first + bytes) + 2 * hop;
        assert_int_equal(f.result->n_flows, 1);
        assert_int_equal(f.result->summary.count, 1);
        assert_int_equal(flow->id, 0);
        assert_int_equal(flow->bytes, cases[i].bytes);
        assert_int_equal(flow->delivered_bytes, cases[i].bytes);
        assert_int_equal(flow->packets, cases[i].packets);
        assert_true(llabs(flow->delivered_ps - delivered) <= PS_PER_NS);
        assert_true(llabs(flow->fct_ps - (delivered + 2 * 80 * (ps_t)ack.wire + 2 * hop)) <=
                    PS_PER_NS);
        assert_true(llabs(flow->fct_ps - flow->ideal_ps) <= PS_PER_NS);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_three_planes),
                                       cmocka_unit_test(test_small_messages),
                                       cmocka_unit_test(test_raw_flow)};
    return cmocka_run_group_tests_name("stripes", tests, NULL, NULL);
}
