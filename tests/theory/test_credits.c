// SPDX-License-Identifier: MIT
// Flow control by credits: the rate of a link whose credit is below its round trip, and buffers
// that are never exceeded.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "net/credit_balance.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
enum { MTU = 4096, DATA = 4160, ACK = 64, N = 120 }; // DATA is 65 blocks of 64 bytes

static struct fixture f;

static double ps(double bytes) { return bytes * 8 * 1e12 / (double)RATE; }

static void begin(uint32_t ranks, ps_t delay_ps, uint64_t credit_bytes)
{
    fixture_switch(&f, ranks, RATE, delay_ps);
    struct dim_spec *dim = &f.spec.dims[0];
    dim->sw.flow_control = FLOW_CONTROL_CREDIT;
    dim->sw.credit_bytes = credit_bytes;
    roce_spec_of(&dim->transport)->mtu_bytes = MTU;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = DATA - MTU;
    dim->transport.overhead_ack = ACK;
}

// A packet's credit is back L / R + 2 d after its start: the switch sends it on at once, and gives
// its place up. With k packets of credit and k L / R below that, packet i + k starts then, and the
// rate is k L / (L / R + 2 d). The remainder of a credit that is no multiple of a packet is of no
// use.
static void test_rate(void **state)
{
    (void)state;
    const ps_t d = 4 * PS_PER_US;
    const double round = ps(DATA) + 2. * (double)d;
    for (uint32_t k = 1; k <= 24; k += k < 4 ? 1 : 5) {
        begin(2, d, (uint64_t)k * DATA + (k % 2) * 640);
        fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
        fixture_run(&f);
        double last = floor((N - 1) / (double)k) * round + ((N - 1) % k) * ps(DATA); // its start
        double fct = last + 2 * ps(DATA + ACK) + 4. * (double)d;
        assert_true(k * ps(DATA) < round);
        assert_true(fabs((double)f.result->flows[0].fct_ps - fct) <= 8);
        assert_true(f.result->credit_waited_ps > 0);
        assert_int_equal(f.result->pause_frames, 0);
        fixture_free(&f);
    }
}

// The automatic credit never stops a link that the switch keeps free.
static void test_automatic_credit(void **state)
{
    (void)state;
    for (ps_t delay_ps = 1; delay_ps <= 10 * PS_PER_US; delay_ps *= 10) {
        begin(2, delay_ps, PARAM_AUTO);
        fixture_flow(&f, 0, 1, (uint64_t)N * MTU, 0);
        fixture_run(&f);
        assert_true(f.result->flows[0].fct_ps - f.result->flows[0].ideal_ps <= 8);
        assert_int_equal(f.result->n_credit_ports, 0);
        fixture_free(&f);
    }
}

// An incast over two tiers: the last link is always busy, nothing is dropped, and no ingress holds
// more than its credit.
static void incast(struct fault_spec *fault)
{
    fixture_leaf_spine(&f, 16, 4, 2, (struct link_spec){.rate_bps = RATE, .delay_ps = PS_PER_US},
                       (struct link_spec){.rate_bps = RATE, .delay_ps = 2 * PS_PER_US});
    f.spec.dims[0].sw.flow_control = FLOW_CONTROL_CREDIT;
    for (uint32_t s = 0; s < 15; s++)
        fixture_flow(&f, s, 15, 400000, 0);
    if (fault) {
        f.faults[0] = *fault;
        f.spec.faults = f.faults;
        f.spec.n_faults = 1;
        roce_spec_of(&f.spec.dims[0].transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
    }
    fixture_run(&f);
    const struct result *r = f.result;
    assert_int_equal(r->status, RUN_COMPLETED);
    assert_int_equal(r->dropped_packets, r->drops[DROP_LINK_LOSS]);
    assert_int_equal(r->pause_frames, 0);
    assert_true(r->credit_waits > 0);
    for (size_t i = 0; i < r->n_switches; i++)
        assert_true(r->switches[i].max_headroom_bytes <= r->switches[i].headroom_limit_bytes);
}

static void test_incast(void **state)
{
    (void)state;
    incast(NULL);
    const struct transport_dim *dim = &f.sim->fabric.hosts.dims[0];
    double wire = 15. * (98 * dim->full.wire); // 97.7 packets each
    assert_true((double)f.result->sim_time_ps < 1.02 * ps(wire) + 20. * PS_PER_US);
    fixture_free(&f);
}

// A NIC that has no credit is stopped, and the reason is credit, not PFC, with admission too: with
// its clear-to-send packets a NIC has one more queue.
static void test_time_is_credit(void **state)
{
    (void)state;
    for (int admission = ADMISSION_NONE; admission <= ADMISSION_CTS; admission++) {
        begin(9, 4 * PS_PER_US, 8 * DATA);
        struct transport_spec *t = &f.spec.dims[0].transport;
        t->admission = (uint8_t)admission;
        t->channels = 1;
        t->slots = 8;
        t->slot_bytes = 65536;
        for (uint32_t s = 0; s < 8; s++)
            fixture_flow(&f, s, (s + 1) % 8, (uint64_t)N * MTU, 0);
        fixture_run(&f);
        const struct critical_result *path = &f.result->slowest->critical;
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_true(path->parts[PATH_CREDIT] > 0);
        assert_int_equal(path->parts[PATH_PAUSED], 0);
        for (uint32_t s = 0; s < 8; s++)
            assert_true(
                hosts_nic(&f.sim->fabric.hosts, f.sim->fabric.net.first_port[s], 3)->needs_credit);
        fixture_free(&f);
    }
}

// The credit of packets that links lose comes back: at the end every port has all of it.
static void test_losses(void **state)
{
    (void)state;
    struct fault_spec fault = fixture_fault("*->*");
    fault.loss = 0.01;
    incast(&fault);
    assert_true(f.result->dropped_packets > 20);
    for (uint32_t p = 0; p < f.sim->fabric.net.n_ports; p++)
        for (unsigned cls = 0; cls < NET_CLASSES; cls++)
            if (port_has_credits(&f.sim->fabric.net, p, cls)) {
                const struct credit_port *c = &f.sim->fabric.net.credits[p];
                uint32_t blocks = c->blocks[cls];
                for (uint32_t i = 0; i < c->n; i++) // on their way back
                    blocks += c->returns[(c->first + i) & (c->cap - 1)].blocks;
                assert_int_equal(blocks, c->limit_blocks);
            }
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rate), cmocka_unit_test(test_automatic_credit),
        cmocka_unit_test(test_incast), cmocka_unit_test(test_time_is_credit),
        cmocka_unit_test(test_losses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
