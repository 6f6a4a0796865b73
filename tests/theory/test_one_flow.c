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

// Data packets, and their ACKs (86 wire bytes) over the same hops in reverse, whose links are
// back[].
static struct times recurrence(const struct link_case *hop, const struct link_case *back, int hops,
                               uint64_t bytes, uint64_t mtu)
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
            ack_done[h] = start + 86 * 8e12 / back[h].bps;
            at = ack_done[h] + back[h].prop_ps;
        }
        t.acked = at;
    }
    return t;
}

static void check_both(struct fixture *f, const struct link_case *hop, const struct link_case *back,
                       int hops, uint64_t bytes, uint64_t mtu)
{
    roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes = mtu;
    fixture_flow(f, 0, f->spec.dims[0].size - 1, bytes, 0);
    fixture_run(f);
    const struct flow_record *flow = &f->result->flows[0];
    struct times t = recurrence(hop, back, hops, bytes, mtu);
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_true(llabs(flow->delivered_ps - (ps_t)t.delivered) <= PS_PER_NS);
    assert_true(llabs(flow->fct_ps - (ps_t)t.acked) <= PS_PER_NS);
    // The ideal time in the results is the same recurrence in closed form.
    assert_true(llabs(flow->ideal_ps - flow->fct_ps) <= PS_PER_NS);
    fixture_free(f);
}

static void check(struct fixture *f, const struct link_case *hop, int hops, uint64_t bytes,
                  uint64_t mtu)
{
    check_both(f, hop, hop, hops, bytes, mtu);
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
            struct link_spec link = {.rate_bps = pairs[p][0] * GBPS, .delay_ps = 1234567},
                             trunk = {.rate_bps = pairs[p][1] * GBPS, .delay_ps = 12500000};
            struct link_case a = {(double)link.rate_bps, (double)link.delay_ps},
                             b = {(double)trunk.rate_bps, (double)trunk.delay_ps};
            struct link_case hop[4] = {a, b, b, a};
            fixture_leaf_spine(&f, 4, 2, 1, link, trunk);
            check(&f, hop, 4, sizes[s], 4096);
        }
}

static struct link_case ahead(struct link_spec link)
{
    return (struct link_case){(double)link.rate_bps, (double)link.delay_ps};
}

static struct link_case behind(struct link_spec link)
{
    return (struct link_case){(double)link.reverse_rate_bps, (double)link.reverse_delay_ps};
}

static struct link_spec unequal_link(const uint64_t gbps[2], ps_t delay_ps)
{
    return (struct link_spec){.rate_bps = gbps[0] * GBPS,
                              .delay_ps = delay_ps,
                              .reverse_rate_bps = gbps[1] * GBPS,
                              .reverse_delay_ps = 3 * delay_ps};
}

static const uint64_t directions[][2] = {{100, 25}, {25, 100}, {100, 1}, {1, 100}, {400, 300}};

// Links that differ by direction: data and ACKs go up by the first direction and down by the other.
static void test_directions_of_a_fabric(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t l = 0; l < sizeof directions / sizeof *directions; l++)
            for (size_t t = 0; t < sizeof directions / sizeof *directions; t++) {
                struct fixture f;
                struct link_spec link = unequal_link(directions[l], 1234567),
                                 trunk = unequal_link(directions[t], 500000);
                struct link_case hop[4] = {ahead(link), ahead(trunk), behind(trunk), behind(link)};
                struct link_case back[4] = {behind(link), behind(trunk), ahead(trunk), ahead(link)};
                fixture_leaf_spine(&f, 4, 2, 1, link, trunk);
                check_both(&f, hop, back, 4, sizes[s], 4096);
            }
}

// In a chain of ranks all data goes by the first direction and all ACKs by the other, which may be
// so slow that the ACKs take longer than the data.
static void test_directions_of_a_chain(void **state)
{
    (void)state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t l = 0; l < sizeof directions / sizeof *directions; l++)
            for (uint32_t ranks = 2; ranks <= 8; ranks += 3) {
                struct fixture f;
                struct link_spec link = unequal_link(directions[l], 333333);
                struct link_case hop[7], back[7];
                for (uint32_t h = 0; h + 1 < ranks; h++)
                    hop[h] = ahead(link), back[h] = behind(link);
                fixture_direct(&f, "mesh", ranks, 1, 0);
                f.spec.dims[0].links[0] = link;
                check_both(&f, hop, back, (int)ranks - 1, sizes[s], 4096);
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

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_switch),
        cmocka_unit_test(test_three_switches_unequal_rates),
        cmocka_unit_test(test_directions_of_a_fabric),
        cmocka_unit_test(test_directions_of_a_chain),
        cmocka_unit_test(test_routers_of_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
