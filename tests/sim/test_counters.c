// SPDX-License-Identifier: MIT
// Counters and what is derived from them, in runs so small that every value follows by hand. A data
// packet is 1000 + 36 B on the wire, an ACK 48 B, links are 100 Gb/s (80 ps a byte) and 1 us: a
// packet takes D = 82.88 ns and an ACK A = 3.84 ns of a link.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define D 82880
#define A 3840

static struct fixture f;

static void star(uint32_t ranks)
{
    fixture_switch(&f, ranks, UINT64_C(100000000000), PS_PER_US);
    struct transport_spec *t = &f.spec.dims[0].transport;
    roce_spec_of(t)->mtu_bytes = 1000;
    t->overhead = OVERHEAD_CUSTOM;
    t->overhead_data = 36;
    t->overhead_ack = 48;
}

static const struct port_result *port_at(const char *at)
{
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strcmp(f.result->ports[i].at, at) == 0)
            return &f.result->ports[i];
    fail_msg("no port %s", at);
    return NULL;
}

static void assert_near(double value, double want)
{
    if (fabs(value - want) > 1e-9 * (fabs(want) + 1))
        fail_msg("%.12g, not %.12g", value, want);
}

// One flow of two packets. The last packet arrives after 2 D at its NIC, 1 us, D, 1 us; its ACK
// takes A, 1 us, A, 1 us.
static void test_one_flow(void **state)
{
    (void)state;
    const ps_t delivered = 3 * D + 2 * PS_PER_US, end = delivered + 2 * A + 2 * PS_PER_US;
    star(2);
    fixture_flow(&f, 0, 1, 2000, 0);
    fixture_run(&f);
    const struct flow_record *flow = &f.result->flows[0];
    assert_int_equal(flow->fct_ps, end);
    assert_int_equal(flow->delivered_ps, delivered);
    assert_int_equal(flow->ideal_ps, end);
    assert_int_equal(flow->packets, 2);
    assert_int_equal(flow->retransmitted, 0);
    assert_int_equal(flow->delivered_bytes, 2000);
    assert_int_equal(f.result->sim_time_ps, end);
    const struct port_result *there = port_at("rank0->dim0.sw0"),
                             *back = port_at("rank1->dim0.sw0");
    assert_int_equal(there->packets, 2);
    assert_int_equal(there->bytes, 2 * 1036);
    assert_near(there->utilization, 2. * D / (double)end);
    assert_int_equal(back->packets, 2);
    assert_int_equal(back->bytes, 2 * 48);
    assert_near(back->utilization, 2. * A / (double)end);
    assert_int_equal(port_at("dim0.sw0->rank1")->bytes, 2 * 1036);
    assert_int_equal(f.result->packet_hops, 8);
    assert_int_equal(f.result->max_queue_bytes, 0); // each starts at once
    assert_int_equal(f.result->summary.bytes, 2000);
    fixture_free(&f);
}

// A full packet, then one of 1 B: 37 B, which take 2.96 ns, less than an ACK. The second ACK waits
// at the NIC for the first one and follows it closely: the first has arrived after 2 D, 4 us and 2
// A.
static void test_small_last_packet(void **state)
{
    (void)state;
    star(2);
    fixture_flow(&f, 0, 1, 1001, 0);
    fixture_run(&f);
    assert_int_equal(f.result->flows[0].delivered_ps, 2 * D + 37 * 80 + 2 * PS_PER_US);
    assert_int_equal(f.result->flows[0].fct_ps, 2 * D + 3 * A + 4 * PS_PER_US);
    assert_int_equal(f.result->flows[0].ideal_ps, 2 * D + 3 * A + 4 * PS_PER_US);
    assert_int_equal(port_at("dim0.sw0->rank1")->bytes, 1036 + 37);
    fixture_free(&f);
}

// Two packets reach the switch at the same time: one waits for D. The mean queue over the run is
// 1036 B * D / end, and the completion times differ by D.
static void test_two_flows(void **state)
{
    (void)state;
    const ps_t first = 2 * D + 2 * A + 4 * PS_PER_US, end = first + D;
    star(3);
    fixture_flow(&f, 0, 2, 1000, 0);
    fixture_flow(&f, 1, 2, 1000, 0);
    fixture_run(&f);
    const struct result *r = f.result;
    const struct port_result *out = port_at("dim0.sw0->rank2");
    assert_int_equal(r->sim_time_ps, end);
    assert_int_equal(out->max_queue_bytes, 1036);
    assert_int_equal(r->max_queue_bytes, 1036);
    assert_near(out->mean_queue_bytes, 1036. * D / (double)end);
    assert_int_equal(r->switches[0].max_queue_bytes, 1036);
    assert_near(r->switches[0].mean_queue_bytes, 1036. * D / (double)end);
    assert_int_equal(r->switches[0].max_ingress_bytes, 1036);
    assert_int_equal(r->switches[0].max_buffer_bytes, 0); // within the reserve of 4 KB
    assert_int_equal(r->summary.fct_ns.min, ns_of_ps(first));
    assert_int_equal(r->summary.fct_ns.p50, ns_of_ps(first)); // of two the lower
    assert_int_equal(r->summary.fct_ns.p95, ns_of_ps(end));
    assert_int_equal(r->summary.fct_ns.max, ns_of_ps(end));
    double a = 1. / (double)first, b = 1. / (double)end; // goodputs, up to a factor
    assert_near(r->summary.jain, (a + b) * (a + b) / (2 * (a * a + b * b)));
    assert_near(r->summary.slowdown.max, (double)end / (double)first);
    fixture_free(&f);
}

// A run that is cut while a packet is on the wire counts only the time that has passed: 1 us and a
// half packet after the start of two packets back to back, the NIC has sent for 2 D, the switch for
// D / 2.
static void test_cut_transmission(void **state)
{
    (void)state;
    const ps_t end = PS_PER_US + D + D / 2;
    star(2);
    fixture_flow(&f, 0, 1, 2000, 0);
    f.spec.duration_ps = end;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_near(port_at("rank0->dim0.sw0")->utilization, 2. * D / (double)end);
    assert_near(port_at("dim0.sw0->rank1")->utilization, D / 2. / (double)end);
    assert_int_equal(f.result->summary.running, 1);
    assert_int_equal(f.result->flows[0].fct_ps, -1);
    assert_int_equal(f.result->flows[0].delivered_bytes, 0);
    fixture_free(&f);
}

// Marks at arrival are a share of the packets that have arrived, although some of them are still
// queued at the end of the run: with a threshold of 0 it is 1.
static void test_marks_at_arrival(void **state)
{
    (void)state;
    star(3);
    f.spec.dims[0].sw.ecn = (struct ecn_spec){.mode = ECN_ON, .at = ECN_AT_ARRIVAL};
    f.spec.duration_ps = PS_PER_US + 10 * D;
    fixture_flow(&f, 0, 2, 100000, 0);
    fixture_flow(&f, 1, 2, 100000, 0);
    fixture_run(&f);
    assert_in_range(f.result->marked_packets, 16, 20); // of two senders, in 10 packet times
    assert_int_equal(f.result->markable_packets, f.result->marked_packets);
    fixture_free(&f);
}

// A threshold in packets marks the same number of packets whatever their size. Two senders at the
// line rate share the receiver's link, so every second packet waits: all but the first seven of 80
// packets find at least three waiting, and are marked.
static void test_marks_by_packets(void **state)
{
    (void)state;
    for (uint32_t part = 1; part <= 2; part++) {
        star(3);
        roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 1000 / part;
        f.spec.dims[0].sw.ecn =
            (struct ecn_spec){.mode = ECN_ON, .at = ECN_AT_ARRIVAL, .kmin_packets = 4, .pmax = 1};
        f.spec.dims[0].sw.ecn.kmax_packets = PARAM_AUTO;
        fixture_flow(&f, 0, 2, 40000 / part, 0);
        fixture_flow(&f, 1, 2, 40000 / part, 0);
        fixture_run(&f);
        print_message("%u of %u\n", (unsigned)f.result->marked_packets,
                      (unsigned)f.result->markable_packets);
        assert_int_equal(f.result->markable_packets, 80);
        assert_int_equal(f.result->marked_packets, 73);
        fixture_free(&f);
    }
}

// Every pause of a port ends with one XON if no pause expires; refreshes are XOFF frames only. The
// totals are the sums over ports.
static void test_pause_frames(void **state)
{
    (void)state;
    uint64_t pauses = 0, marked = 0;
    ps_t paused = 0;
    double mean = 0;
    star(9);
    f.spec.dims[0].sw.buffer_bytes = 1000000;
    f.spec.dims[0].sw.pfc.quanta = 200; // 1 us: refreshed at half
    for (uint32_t i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, 400000, 0);
    fixture_cc(&f, "dcqcn", NULL, NULL);
    f.spec.dims[0].sw.ecn =
        (struct ecn_spec){.mode = ECN_ON, .kmin_bytes = 20000, .kmax_bytes = 100000, .pmax = 0.5};
    fixture_run(&f);
    const struct result *r = f.result;
    for (size_t i = 0; i < r->n_pfc_ports; i++) {
        pauses += r->pfc_ports[i].pauses;
        paused += r->pfc_ports[i].paused_ps;
        assert_int_equal(r->pfc_ports[i].cls, 3);
        assert_int_equal(strncmp(r->pfc_ports[i].at, "rank", 4), 0); // only NICs
    }
    for (size_t i = 0; i < r->n_ports; i++) {
        marked += r->ports[i].counters.marked;
        mean += r->ports[i].from_switch ? r->ports[i].mean_queue_bytes : 0;
    }
    assert_true(pauses > 0);
    assert_int_equal(r->resume_frames, pauses);
    assert_true(r->pause_frames > r->resume_frames); // refreshes
    assert_int_equal(r->paused_ps, paused);
    assert_int_equal(r->marked_packets, marked);
    assert_int_equal(r->marked_packets, port_at("dim0.sw0->rank8")->counters.marked);
    assert_int_equal(r->markable_packets, 8 * 400); // data packets, once through the switch
    assert_near(r->switches[0].mean_queue_bytes, mean);
    assert_true(r->switches[0].max_headroom_bytes > 0);
    assert_true(r->switches[0].max_headroom_bytes < r->switches[0].headroom_limit_bytes);
    fixture_free(&f);
}

// Lossy: the number of drops equals the difference between received and sent, in packets and in
// bytes.
static void test_drops(void **state)
{
    (void)state;
    star(3);
    f.spec.dims[0].sw.pfc.enabled = false;
    f.spec.dims[0].sw.buffer_bytes = 100000;
    f.spec.dims[0].sw.lossy_alpha = 0.1;
    roce_spec_of(&f.spec.dims[0].transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 100 * PS_PER_US;
    fixture_flow(&f, 0, 2, 100000, 0);
    fixture_flow(&f, 1, 2, 100000, 0);
    fixture_run(&f);
    const struct result *r = f.result;
    uint64_t in = port_at("rank0->dim0.sw0")->packets + port_at("rank1->dim0.sw0")->packets;
    uint64_t lost = in - port_at("dim0.sw0->rank2")->packets;
    assert_true(lost > 0);
    assert_int_equal(r->dropped_packets, lost);
    assert_int_equal(r->dropped_bytes, lost * 1036);
    assert_int_equal(r->drops[DROP_LOSSY_THRESHOLD], lost);
    assert_int_equal(r->drops[DROP_HEADROOM], 0);
    assert_int_equal(port_at("dim0.sw0->rank2")->dropped_packets, lost);
    assert_int_equal(r->retransmitted, in - 200);
    assert_int_equal(r->flows[0].packets + r->flows[1].packets, in);
    assert_int_equal(r->flows[0].retransmitted + r->flows[1].retransmitted, in - 200);
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_flow),         cmocka_unit_test(test_small_last_packet),
        cmocka_unit_test(test_two_flows),        cmocka_unit_test(test_cut_transmission),
        cmocka_unit_test(test_marks_at_arrival), cmocka_unit_test(test_marks_by_packets),
        cmocka_unit_test(test_pause_frames),     cmocka_unit_test(test_drops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
