// SPDX-License-Identifier: MIT
// Slices and cells of the shared buffer against exact counts, and the headroom of 800G links.
//
// Two ranks send n equal packets each at line rate to a third. In each packet time two packets
// arrive and one leaves, so n - K packets are dropped where the buffer holds K.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

enum { N = 400, MTU = 1000, FRAME = 1024, BUFFER = 200000 };

static struct fixture f;

// Sends N packets from ranks `a` and `b` to rank `to`. Only the buffer limits the queue.
static uint64_t held(uint32_t a, uint32_t b, uint32_t to, uint64_t slices, uint64_t cell_bytes)
{
    fixture_switch(&f, 4, UINT64_C(10000000000), PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.pfc.enabled = false;
    dim->sw.buffer_bytes = BUFFER;
    dim->sw.reserve_bytes = 0;
    dim->sw.lossy_alpha = 1000;
    dim->sw.slices = slices;
    dim->sw.cell_bytes = cell_bytes;
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    roce_spec_of(&dim->transport)->recovery = RECOVERY_NONE;
    roce_spec_of(&dim->transport)->ack_class = ACK_CLASS_CONTROL;
    dim->transport.overhead = OVERHEAD_CUSTOM; // so that the first packet is as long as the others
    dim->transport.overhead_data = dim->transport.overhead_ack = FRAME - MTU;
    f.spec.duration_ps = 20 * PS_PER_MS;
    fixture_flow(&f, a, to, (uint64_t)N * MTU, 0);
    fixture_flow(&f, b, to, (uint64_t)N * MTU, 0);
    fixture_run(&f);
    uint64_t dropped = f.result->drops[DROP_LOSSY_THRESHOLD];
    assert_int_equal(f.result->dropped_packets, dropped);
    assert_true(f.result->switches[0].max_buffer_bytes <= f.result->switches[0].shared_bytes);
    assert_int_equal(f.result->switches[0].shared_bytes, BUFFER / slices);
    fixture_free(&f);
    return N - dropped;
}

static void test_cells(void **state)
{
    (void)state;
    static const uint64_t cells[] = {1, 2, 128, 256, 1000, 1024, 1025, 2048, 9000};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        uint64_t occupied = (FRAME + cells[i] - 1) / cells[i] * cells[i];
        assert_int_equal(held(0, 1, 2, 1, cells[i]), BUFFER / occupied);
    }
}

// Ports of even and odd numbers have different slices: senders of one slice share its half.
static void test_slices(void **state)
{
    (void)state;
    assert_int_equal(held(0, 2, 1, 2, 1), BUFFER / 2 / FRAME);
    assert_int_equal(held(0, 1, 2, 2, 1), 2 * (BUFFER / 2 / FRAME));
    assert_int_equal(held(0, 3, 1, 3, 1), BUFFER / 3 / FRAME);
    assert_int_equal(held(0, 1, 2, 4, 1), 2 * (BUFFER / 4 / FRAME));
    assert_int_equal(held(0, 1, 2, 4, 256), 2 * (BUFFER / 4 / 1024));
}

// Eight ranks send to one over 800G and 400 m of fibre. After it has sent XOFF, an ingress still
// receives what its link carries during the propagation delay of both directions, and up to two
// packets. In that time the switch forwards 1/8 of it, the share of one of eight senders. The
// automatic headroom must be enough for the rest; it includes the latency of the switch and the
// rounding to cells.
static void headroom(ps_t latency_ps, int forwarding, uint64_t cell_bytes)
{
    const uint64_t rate = UINT64_C(800000000000);
    fixture_switch(&f, 9, rate, 2 * PS_PER_US);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.buffer_bytes = 64000000;
    dim->sw.latency_ps = latency_ps;
    dim->sw.forwarding = forwarding;
    dim->sw.cell_bytes = cell_bytes;
    for (uint32_t s = 0; s < 8; s++)
        fixture_flow(&f, s, 8, 10000000, 0);
    fixture_run(&f);
    const struct switch_result *sw = &f.result->switches[0];
    const struct packet_sizes full = f.sim->fabric.hosts.dims[0].full;
    uint64_t occupied = (full.frame + cell_bytes - 1) / cell_bytes * cell_bytes;
    double wire = (double)bytes_in_ps(4 * PS_PER_US + latency_ps, rate) * 7 / 8;
    double used = wire * (double)occupied / full.wire;
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->pause_frames > 0);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_true(sw->max_headroom_bytes <= sw->headroom_limit_bytes);
    assert_true((double)sw->max_headroom_bytes >= used - (double)occupied);
    assert_true((double)sw->max_headroom_bytes <= used + 3. * (double)occupied);
    fixture_free(&f);
}

static void test_headroom_at_800g(void **state)
{
    (void)state;
    headroom(0, FORWARDING_STORE, 1);
    headroom(600 * PS_PER_NS, FORWARDING_STORE, 1);
    headroom(600 * PS_PER_NS, FORWARDING_CUT, 1);
    headroom(0, FORWARDING_STORE, 256);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cells), cmocka_unit_test(test_slices),
                                       cmocka_unit_test(test_headroom_at_800g)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
