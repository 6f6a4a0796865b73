// SPDX-License-Identifier: MIT
// Trimming with RoCE's selective repeat: how many packets of two senders are trimmed, and an incast
// of 128 into a shallow buffer against the bound of its last link.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(400000000000)
enum { MTU = 4096, OVERHEAD = 64, TRIMMED = 64 };

static struct fixture f;

static struct trimming_spec trimming(int victim)
{
    return (struct trimming_spec){.enabled = true,
                                  .size_bytes = TRIMMED,
                                  .victim = victim,
                                  .control_limit_bytes = PARAM_AUTO,
                                  .control_share = 1};
}

// All packets of data have OVERHEAD bytes beyond the payload, all others TRIMMED bytes.
static void incast(uint32_t senders, uint64_t bytes, uint64_t limit_bytes, int victim,
                   ps_t delay_ps)
{
    fixture_switch(&f, senders + 1, RATE, delay_ps);
    struct dim_spec *dim = &f.spec.dims[0];
    struct roce_spec *roce = roce_spec_of(&dim->transport);
    dim->sw.pfc.enabled = false;
    dim->sw.queue_limit.bytes = limit_bytes;
    dim->sw.trimming = trimming(victim);
    roce->mtu_bytes = MTU;
    roce->recovery = RECOVERY_SELECTIVE_REPEAT;
    roce->ack_class = ACK_CLASS_CONTROL;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = OVERHEAD;
    dim->transport.overhead_ack = TRIMMED;
    for (uint32_t s = 0; s < senders; s++)
        fixture_flow(&f, s, senders, bytes, 0);
}

// While both senders transmit n packets each, in the time n D / C, the link sends x packets of data
// and t trimmed ones, x D + t h = n D, and K wait at the end: x + t + K = 2 n, so t = (n - K) / (1
// - h / D). The packet in transmission and the first arrival make up to two packets of difference.
// The link is so long that no report comes back before.
static void test_two_senders(void **state)
{
    (void)state;
    enum { N = 400, K = 50 };
    for (int victim = TRIM_NEWEST; victim <= TRIM_COIN; victim++) {
        incast(2, N * MTU, K * (MTU + OVERHEAD), victim, 500 * PS_PER_US);
        roce_spec_of(&f.spec.dims[0].transport)->bdp_cap = false;
        f.spec.duration_ps = 1100 * PS_PER_US;
        fixture_run(&f);
        double trims = (double)f.result->trimmed_packets;
        double expected = (N - K) / (1 - (double)TRIMMED / (double)(MTU + OVERHEAD));
        assert_true(fabs(trims - expected) <= 2);
        assert_int_equal(f.result->trimmed_last_hop, f.result->trimmed_packets);
        assert_int_equal(f.result->trimmed_bytes,
                         f.result->trimmed_packets * (MTU + OVERHEAD - TRIMMED));
        assert_int_equal(f.result->dropped_packets, 0);
        assert_int_equal(f.result->max_queue_bytes / (MTU + OVERHEAD), K);
        fixture_free(&f);
    }
}

// The last link must carry all data once and all trimmed headers; the first packet arrives there
// half a round trip after the start, and the last ACK half a round trip after the last packet.
// Trimming may cost one more round trip, in which the last packet is reported and sent again.
static void test_incast_of_128(void **state)
{
    (void)state;
    enum { SENDERS = 128, PACKETS = 8 };
    ps_t delay_ps = PS_PER_US;
    for (int victim = TRIM_NEWEST; victim <= TRIM_COIN; victim++) {
        incast(SENDERS, PACKETS * MTU, 200000, victim, delay_ps);
        fixture_cc(&f, "window", NULL, "bytes=16KB", NULL);
        fixture_run(&f);
        const struct result *r = f.result;
        uint64_t wire =
            (uint64_t)SENDERS * PACKETS * (MTU + OVERHEAD) + TRIMMED * r->trimmed_packets;
        ps_t drain_ps = serialization_ps(wire, RATE);
        ps_t rtt_ps = 4 * delay_ps + serialization_ps(MTU + OVERHEAD + 2 * TRIMMED, RATE);
        assert_int_equal(r->status, RUN_COMPLETED);
        assert_true(r->trimmed_packets > SENDERS);
        assert_int_equal(r->dropped_packets, 0); // no trimmed packet either
        assert_int_equal(r->timeouts, 0);
        assert_int_equal(r->retransmitted, r->trimmed_packets);
        assert_true(r->sim_time_ps >= drain_ps + rtt_ps - serialization_ps(TRIMMED, RATE));
        assert_true(r->sim_time_ps <= drain_ps + 2 * rtt_ps);
        fixture_free(&f);
    }
}

// The control class has a share s of the link while data waits: of the time that the headers of a
// burst take, the data takes (1 - s) / s.
static double data_per_header(double share)
{
    enum { SENDERS = 64, N = 30 };
    incast(SENDERS, N * MTU, 200000, TRIM_NEWEST, 500 * PS_PER_US);
    f.spec.dims[0].sw.trimming.control_share = share;
    f.spec.dims[0].sw.trimming.control_limit_bytes = 1000000;
    roce_spec_of(&f.spec.dims[0].transport)->bdp_cap = false;
    // The burst ends after N packet times; the queue of data is full until then.
    f.spec.duration_ps = 500 * PS_PER_US + serialization_ps(N * (MTU + OVERHEAD), RATE);
    fixture_run(&f);
    const struct port *port = NULL;
    for (uint32_t p = 0; p < f.sim->fabric.net.n_ports; p++)
        if (f.sim->fabric.net.ports[p].peer_node == SENDERS &&
            !node_is_rank(&f.sim->fabric.net, f.sim->fabric.net.ports[p].node))
            port = &f.sim->fabric.net.ports[p];
    assert_non_null(port);
    double bytes = (double)port->tx_bytes, packets = (double)port->tx_packets;
    double data = (bytes - (double)TRIMMED * packets) / (double)(MTU + OVERHEAD - TRIMMED);
    double headers = packets - data;
    fixture_free(&f);
    return data * (double)(MTU + OVERHEAD) / (headers * (double)TRIMMED);
}

static void test_control_share(void **state)
{
    (void)state;
    // 63 headers of 64 bytes for each packet time of 4160 bytes: strict priority leaves 3 % for
    // data.
    assert_true(data_per_header(1) < 0.2);
    assert_true(fabs(data_per_header(0.5) / 1. - 1) < 0.1);
    assert_true(fabs(data_per_header(0.25) / 3. - 1) < 0.1);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_senders),
                                       cmocka_unit_test(test_incast_of_128),
                                       cmocka_unit_test(test_control_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
