// SPDX-License-Identifier: MIT
// One flow on an empty path against the store-and-forward recurrence, packet by packet:
// f[i,h] = max(f[i,h-1] + prop_(h-1), f[i-1,h]) + L_i/R_h; tolerance 1 ns.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define GBPS UINT64_C(1000000000)

struct link_case {
    double bps;
    double prop_ps;
};

// Header bytes computed independently: RoCEv2 on Ethernet, RETH on the first packet, padding to 4.
static double wire_bytes(uint64_t payload, bool first)
{
    return 14 + 20 + 8 + 12 + (first ? 16 : 0) + (double)((payload + 3) / 4 * 4) + 4 + 4 + 20;
}

struct times {
    double delivered, acked;
};

// Data packets, and their ACKs (86 wire bytes) over the same hops in reverse.
static struct times recurrence(const struct link_case *hop, int hops, uint64_t bytes, uint64_t mtu)
{
    double done[16] = {0}, ack_done[16] = {0}; // f[i-1,h]
    uint64_t packets = (bytes + mtu - 1) / mtu;
    struct times t = {0, 0};
    for (uint64_t i = 0; i < packets; i++) {
        uint64_t payload = i + 1 < packets ? mtu : bytes - (packets - 1) * mtu;
        double at = 0; // f[i,h-1] + prop
        for (int h = 0; h < hops; h++) {
            double start = at > done[h] ? at : done[h];
            done[h] = start + wire_bytes(payload, i == 0) * 8e12 / hop[h].bps;
            at = done[h] + hop[h].prop_ps;
        }
        t.delivered = at;
        for (int h = hops - 1; h >= 0; h--) {
            double start = at > ack_done[h] ? at : ack_done[h];
            ack_done[h] = start + 86 * 8e12 / hop[h].bps;
            at = ack_done[h] + hop[h].prop_ps;
        }
        t.acked = at;
    }
    return t;
}

static void check(struct fixture *f, const struct link_case *hop, int hops, uint64_t bytes,
                  uint64_t mtu)
{
    roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes = mtu;
    fixture_flow(f, 0, f->spec.dims[0].size - 1, bytes, 0);
    fixture_run(f);
    const struct flow_record *flow = &f->result->flows[0];
    struct times t = recurrence(hop, hops, bytes, mtu);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_true(llabs(flow->delivered_ps - (ps_t)t.delivered) <= PS_PER_NS);
    assert_true(llabs(flow->fct_ps - (ps_t)t.acked) <= PS_PER_NS);
    // The ideal time in the results is the same recurrence in closed form.
    assert_true(llabs(flow->ideal_ps - flow->fct_ps) <= PS_PER_NS);
    fixture_free(f);
}

static const uint64_t sizes[] = {1, 3, 4095, 4096, 4097, 8193, 100000, 1000003, 25000000};
static const uint64_t rates[] = {25, 40, 100, 200, 400, 800, 2400};
static const uint64_t mtus[] = {1000, 1448, 4096};

static void test_one_switch(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            for (size_t m = 0; m < 3; m++) {
                struct fixture f;
                ps_t delay = (ps_t)(r + 1) * 333333;
                struct link_case hop[2] = {{(double)(rates[r] * GBPS), (double)delay},
                                           {(double)(rates[r] * GBPS), (double)delay}};
                fixture_switch(&f, 2, rates[r] * GBPS, delay);
                check(&f, hop, 2, sizes[s], mtus[m]);
            }
}

static void test_three_switches_unequal_rates(void **state)
{
    (void)state;
    static const uint64_t pairs[][2] = {{25, 100}, {100, 25}, {2400, 200}, {200, 2400}, {100, 300}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
            struct fixture f;
            struct link_spec link = {pairs[p][0] * GBPS, 1234567},
                             trunk = {pairs[p][1] * GBPS, 12500000};
            struct link_case a = {(double)link.rate_bps, (double)link.delay_ps},
                             b = {(double)trunk.rate_bps, (double)trunk.delay_ps};
            struct link_case hop[4] = {a, b, b, a};
            fixture_leaf_spine(&f, 4, 2, 1, link, trunk);
            check(&f, hop, 4, sizes[s], 4096);
        }
}

// A chain of ranks: all ranks between the ends store and forward.
static void test_routers_of_ranks(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            for (uint32_t ranks = 2; ranks <= 16; ranks += 2) {
                struct fixture f;
                ps_t delay = (ps_t)(r + 1) * 333333;
                struct link_case hop[15];
                for (uint32_t h = 0; h + 1 < ranks; h++)
                    hop[h] = (struct link_case){(double)(rates[r] * GBPS), (double)delay};
                fixture_direct(&f, "mesh", ranks, rates[r] * GBPS, delay);
                check(&f, hop, (int)ranks - 1, sizes[s], 4096);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_switch),
        cmocka_unit_test(test_three_switches_unequal_rates),
        cmocka_unit_test(test_routers_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
