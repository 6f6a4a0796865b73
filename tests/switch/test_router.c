// SPDX-License-Identifier: MIT
// Tests of the routers of ranks: transit packets alternate with the rank's own packets at its
// ports, and pass buffer, marking and PFC as in any switch; the rank's own packets do not.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/random.h"

#define RATE UINT64_C(100000000000)
#define BYTES 1000000

static uint32_t port_named(const struct sim *sim, const char *name)
{
    char buf[2 * GRAPH_NAME];
    for (uint32_t p = 0; p < sim->fabric.graph.n_ports; p++)
        if (strcmp(graph_port_name(&sim->fabric.graph, p, buf), name) == 0)
            return p;
    fail_msg("%s", name);
    return GRAPH_NONE;
}

#define LOG_MAX 8192

// Data packets that leave by one port, in order.
struct log {
    const struct sim *sim;
    uint32_t port;
    size_t n;
    struct {
        uint32_t src;
        bool marked;
    } packets[LOG_MAX];
};

static void on_start(void *ctx, uint32_t port, const struct packet *p, ps_t start_ps, ps_t end_ps)
{
    (void)start_ps, (void)end_ps;
    struct log *log = ctx;
    if (port != log->port || p->kind != PACKET_DATA)
        return;
    assert_true(log->n < LOG_MAX);
    log->packets[log->n].src = log->sim->fabric.hosts.flows.ids[p->flow].src;
    log->packets[log->n++].marked = p->flags & PACKET_CE;
}

static void run_logged(struct fixture *f, struct log *log, const char *port)
{
    struct err err = {0};
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    *log = (struct log){.sim = f->sim, .port = port_named(f->sim, port)};
    f->sim->fabric.net.tap = (struct tap){.seen = on_start, .ctx = log};
    network_tap_port(&f->sim->fabric.net, log->port);
    sim_run(f->sim, NULL);
    f->result = sim_result(f->sim);
}

static const struct port_result *port_result(const struct fixture *f, const char *at)
{
    return &f->result->ports[port_named(f->sim, at)];
}

static const struct switch_result *router_result(const struct fixture *f, const char *at)
{
    for (size_t i = 0; i < f->result->n_switches; i++)
        if (strcmp(f->result->switches[i].at, at) == 0)
            return &f->result->switches[i];
    fail_msg("%s", at);
    return NULL;
}

// From the first transit packet to the last own one the port alternates between them, whatever else
// uses the link: with `back` rank 2 sends too, and ACKs of both ranks wait in the queue of the
// transit packets.
static void check_turns(bool back)
{
    struct fixture f;
    static struct log log;
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    fixture_flow(&f, 0, 2, BYTES, 0);
    fixture_flow(&f, 1, 2, BYTES, 0);
    for (uint32_t dst = 0; back && dst < 2; dst++)
        fixture_flow(&f, 2, dst, BYTES, 0);
    run_logged(&f, &log, "rank1->rank2");
    size_t first = 0, last = log.n - 1;
    while (log.packets[first].src == 1)
        first++;
    while (log.packets[last].src == 0)
        last--;
    assert_true(last - first > BYTES / 4096); // nearly all packets of both
    for (size_t i = first; i <= last; i++)
        assert_int_equal(log.packets[i].src, (i - first) % 2);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    fixture_free(&f);
}

static void test_transit_and_own_in_turn(void **state)
{
    (void)state;
    check_turns(false);
    check_turns(true);
}

// Ranks 0, 1 and 2 of a line each send B bytes to rank 3. Over the last link rank 2 gets half of
// the rate, so it ends at 2B/R, when the others have sent half of their bytes; they end at 3B/R.
// Within 2 %.
static void test_parking_lot(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "mesh", 4, RATE, PS_PER_US);
    for (uint32_t src = 0; src < 3; src++)
        fixture_flow(&f, src, 3, BYTES, 0);
    fixture_run(&f);
    double alone = (double)BYTES * 8e12 / (double)RATE * (4096 + 82) / 4096;
    static const double ends[] = {3, 3, 2};
    for (int i = 0; i < 3; i++)
        assert_true(fabs((double)f.result->flows[i].delivered_ps / alone - ends[i]) <
                    0.02 * ends[i] + 3e6 / alone); // plus the latency of the path
    assert_int_equal(f.result->pause_frames, 0);
    fixture_free(&f);
}

// The packets that a rank sends itself, ACKs included, use no router's buffer.
static void test_own_packets_take_no_buffer(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    fixture_flow(&f, 1, 2, BYTES, 0);
    fixture_flow(&f, 2, 1, BYTES, 0);
    fixture_run(&f);
    assert_int_equal(f.result->n_switches, 1); // the ends of a line forward nothing
    const struct switch_result *s = router_result(&f, "rank1:dim0");
    assert_int_equal(s->max_ingress_bytes + s->max_buffer_bytes + s->max_headroom_bytes, 0);
    assert_true(port_result(&f, "rank1->rank2")->max_queue_bytes > 0); // ACKs wait behind data
    assert_int_equal(f.result->markable_packets, 0);
    fixture_free(&f);
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    fixture_flow(&f, 0, 2, BYTES, 0);
    fixture_flow(&f, 1, 2, BYTES, 0);
    fixture_run(&f);
    assert_true(router_result(&f, "rank1:dim0")->max_ingress_bytes > 0);
    assert_true(f.result->markable_packets >= BYTES / 4096); // the transit packets
    fixture_free(&f);
}

// A full router pauses the neighbour that sent the queued packets, and loses nothing.
static void test_pfc(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    fixture_flow(&f, 0, 2, BYTES, 0);
    fixture_flow(&f, 1, 2, BYTES, 0);
    f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, 60000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_int_equal(f.result->n_pfc_ports, 1);
    assert_string_equal(f.result->pfc_ports[0].at, "rank0->rank1");
    const struct switch_result *s = router_result(&f, "rank1:dim0");
    assert_in_range(s->max_headroom_bytes, 1, s->headroom_limit_bytes);
    fixture_free(&f);
}

// The same along the second dimension of a torus: a rank has one router per dimension, and only the
// full one sends XOFF.
static void test_pfc_in_an_outer_dimension(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    fixture_flow(&f, 0, 2, BYTES, 0);
    f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, 60000);
    f.lists[0].list.n = 0;
    f.spec.n_dims = 2;
    f.spec.dims[1] = f.spec.dims[0];
    fixture_kind(&f.spec.dims[0], "ring");
    fixture_flow(&f, 0, 6, BYTES, 0);
    fixture_flow(&f, 3, 6, BYTES, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_int_equal(f.result->n_switches, 9 + 3);
    assert_int_equal(f.result->n_pfc_ports, 1);
    assert_string_equal(f.result->pfc_ports[0].at, "rank0->rank3");
    assert_true(f.result->resume_frames > 0);
    assert_true(router_result(&f, "rank3:dim1")->max_headroom_bytes > 0);
    assert_int_equal(router_result(&f, "rank3:dim0")->max_ingress_bytes, 0);
    fixture_free(&f);
}

// Only transit packets are marked at the queue of a router.
static void test_marking(void **state)
{
    (void)state;
    struct fixture f;
    static struct log log;
    fixture_direct(&f, "mesh", 3, RATE, PS_PER_US);
    f.spec.dims[0].sw.ecn = (struct ecn_spec){
        .mode = ECN_ON, .kind = MARKING_RED, .kmin_bytes = 1, .kmax_bytes = 2, .pmax = 1};
    fixture_flow(&f, 0, 2, BYTES, 0);
    fixture_flow(&f, 1, 2, BYTES, 0);
    run_logged(&f, &log, "rank1->rank2");
    for (size_t i = 0; i < log.n; i++)
        assert_int_equal(log.packets[i].marked, log.packets[i].src == 0);
    assert_int_equal(port_result(&f, "rank1->rank2")->counters.marked, f.result->markable_packets);
    assert_true(port_result(&f, "rank1->rank2")->from_switch);
    assert_false(port_result(&f, "rank0->rank1")->from_switch);
    fixture_free(&f);
}

// In a ring where every rank sends to the third one after it, buffers wait for each other in a
// cycle. The run must report the deadlock.
static void test_a_ring_may_deadlock(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "ring", 7, RATE, PS_PER_US);
    for (uint32_t src = 0; src < 7; src++)
        fixture_flow(&f, src, (src + 3) % 7, 10 * BYTES, 0);
    f.spec.dims[0].sw.buffer_bytes = fixture_buffer_for(&f, 60000);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_true(f.result->n_waiting >= 7 + 7); // every flow and every link of the cycle
    fixture_free(&f);
}

// Both directions to the far side are used, each flow uses one of them, and queues at routers are
// alike.
static void test_both_ways_round(void **state)
{
    (void)state;
    struct fixture f;
    fixture_direct(&f, "ring", 4, RATE, PS_PER_US);
    for (int i = 0; i < 40; i++)
        fixture_flow(&f, 0, 2, 4096, i * 10 * PS_PER_US);
    fixture_run(&f);
    uint64_t left = port_result(&f, "rank0->rank3")->packets,
             right = port_result(&f, "rank0->rank1")->packets;
    assert_int_equal(left + right, 40);
    assert_in_range(left, 8, 32); // within 4 sigma of a fair choice
    assert_int_equal(port_result(&f, "rank3->rank2")->packets, left);
    assert_int_equal(port_result(&f, "rank1->rank2")->packets, right);
    for (int i = 0; i < 40; i++)
        assert_true(llabs(f.result->flows[i].fct_ps - f.result->flows[i].ideal_ps) <= 1);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transit_and_own_in_turn),    cmocka_unit_test(test_parking_lot),
        cmocka_unit_test(test_own_packets_take_no_buffer), cmocka_unit_test(test_pfc),
        cmocka_unit_test(test_pfc_in_an_outer_dimension),  cmocka_unit_test(test_marking),
        cmocka_unit_test(test_a_ring_may_deadlock),        cmocka_unit_test(test_both_ways_round),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
