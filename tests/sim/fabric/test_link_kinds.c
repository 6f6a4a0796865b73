// SPDX-License-Identifier: MIT
// Kinds of links: a clock for each NIC of a large network, and an error where there are too many
// kinds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/fabric/fabric_internal.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static struct fixture f;

static void leaves(uint32_t ranks)
{
    const struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, ranks, 200, 20, link, link);
    f.spec.dims[0].sw.buffer_bytes = UINT64_C(4000000000);
}

// 40,000 NICs have 40,000 clocks within 100 ppm: each sends at its own rate, all switches at the
// nominal one.
static void test_a_clock_for_each_nic(void **state)
{
    (void)state;
    leaves(40000);
    f.spec.dims[0].transport.clock_ppm = 100;
    fixture_flow(&f, 0, 39999, 1000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    const struct network *net = &f.sim->fabric.net;
    uint32_t different = 0, last = UINT32_MAX;
    for (uint32_t p = 0; p < net->n_ports; p++) {
        bool nic = net->ports[p].node < 40000;
        uint64_t rate = fabric_port_rate(&f.sim->fabric, p);
        struct byte_time own = byte_time_of(rate), link = port_link(net, p)->byte_time;
        assert_true(own.num == link.num && own.den == link.den);
        if (nic) {
            assert_in_range(rate, RATE - 10000000, RATE + 10000000);
            different += net->ports[p].link != last;
            last = net->ports[p].link;
        } else {
            assert_int_equal(rate, RATE);
        }
    }
    assert_true(different > 39900); // two NICs may draw clocks of one integer rate
    assert_true(net->n_links > 1u << 14);
    fixture_free(&f);
}

// Each port at which a fault may change the rate counts as a kind of its own.
static void test_too_many(void **state)
{
    (void)state;
    leaves(2000);
    fixture_flow(&f, 0, 1, 1000, 0);
    const size_t n = 150; // of 8,800 ports each: 4,400 links in both directions
    struct fault_spec *faults = calloc(n, sizeof *faults), one = fixture_fault("*->*");
    for (size_t i = 0; i < n; i++)
        faults[i] = one;
    f.spec.faults = faults;
    f.spec.n_faults = n;
    struct err err = {0};
    assert_null(sim_new(&f.spec, &err));
    assert_int_equal(err.n_errors, 1);
    assert_string_equal(err.items[0].text,
                        "topology: 1 links of different rate, delay or clock, and 1320000 ports "
                        "with faults; the maximum is 1048576 together");
    err_free(&err);
    free(faults);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_clock_for_each_nic),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
