// SPDX-License-Identifier: MIT
// Reduction in the network against its closed form. n bytes in segments of s bytes over a tree of d
// levels of aggregators take
//   T = (n + s (2 d - 1)) / G + 2 (d D + (2 d - 1) L) + k P
// with G = goodput after headers and ACKs, which share the links with data in both directions, D =
// the delay of a link, L = that of an aggregator's link, and P = the time of a packet. A segment
// passes 2 d hops, each when all of it has arrived. k counts packets where the children of an
// aggregator share its link, which is as fast as all ports of the switch: 1 for each hop into or
// out of an aggregator on a switch whose ports all lead to children; 4/6 on a leaf with 4 ranks and
// 2 spines, and 1/6 for the hop to its parent or back. Tolerance 2 %.
// With a window of W segments the rate is W s / T(s), as long as that is less than G; T(s) is the
// time of one segment alone, when the packets of all ranks meet. Tolerance 5 %.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)
#define DELAY (1 * PS_PER_US)
#define SEGMENT 16384
#define LATENCY (50 * PS_PER_NS)

static void reduce_with(struct fixture *f, const char *segment)
{
    f->spec.dims[0].sw.reduction.enabled = true;
    fixture_setting(f, "reduction_segment", segment);
}

static void build_star(struct fixture *f, const char *kind, uint32_t p, uint64_t bytes,
                       const char *algorithm)
{
    fixture_direct(f, kind, p, RATE, DELAY);
    fixture_cc(f, "none", NULL, NULL);
    fixture_collective(f, COLL_ALL_REDUCE, algorithm, bytes, 1);
    reduce_with(f, "16KiB");
}

static void build_clos(struct fixture *f, uint64_t bytes, const char *algorithm)
{
    struct link_spec link = {.rate_bps = RATE, .delay_ps = DELAY};
    fixture_leaf_spine(f, 16, 4, 2, link, link);
    fixture_cc(f, "none", NULL, NULL);
    fixture_collective(f, COLL_ALL_REDUCE, algorithm, bytes, 1);
    reduce_with(f, "16KiB");
}

static double seconds(const struct fixture *f)
{
    const struct collective_result *c = &f->result->collectives[0];
    assert_int_equal(f->result->status, RUN_COMPLETED);
    return (double)(c->end_ps - c->start_ps) * 1e-12;
}

// The ideal time is a bound, and not far from the time where nothing else limits it.
static void check_ideal(const struct fixture *f, double least)
{
    double efficiency = f->result->collectives[0].efficiency;
    print_message("   efficiency %.4f\n", efficiency);
    assert_true(efficiency <= 1 && efficiency > least);
}

static double model_s(double n, unsigned levels, double mtu)
{
    double packet = mtu + 82, s = n < SEGMENT ? n : SEGMENT;
    double goodput = (double)RATE / 8 * mtu / (packet + 86 + 16 * mtu / SEGMENT);
    double links = levels * (double)DELAY + (2. * levels - 1) * (double)LATENCY;
    double shared = levels == 1 ? 2 : 2 * (4. / 6 + 1. / 6 + 1);
    return (n + s * (2 * levels - 1)) / goodput + 2 * links * 1e-12 +
           shared * packet * 8 / (double)RATE;
}

static void test_time(void **state)
{
    (void)state;
    for (uint32_t p = 4; p <= 16; p *= 2)
        for (uint64_t n = SEGMENT; n <= 256 * SEGMENT; n *= 16) {
            struct fixture f;
            build_star(&f, "switch", p, n, "in_network");
            fixture_run(&f);
            double took = seconds(&f), model = model_s((double)n, 1, 4096);
            print_message("star %2u: %8.3f us, model %8.3f us, %+.2f %%\n", p, took * 1e6,
                          model * 1e6, 100 * (took / model - 1));
            assert_true(fabs(took / model - 1) < 0.02);
            check_ideal(&f, n > SEGMENT ? 0.95 : 0.85);
            fixture_free(&f);
        }
    for (uint64_t n = SEGMENT; n <= 256 * SEGMENT; n *= 16) {
        struct fixture f;
        build_clos(&f, n, "in_network");
        fixture_run(&f);
        double took = seconds(&f), model = model_s((double)n, 2, 4096);
        print_message("clos: %8.3f us, model %8.3f us, %+.2f %%\n", took * 1e6, model * 1e6,
                      100 * (took / model - 1));
        assert_true(fabs(took / model - 1) < 0.02);
        check_ideal(&f, n > SEGMENT ? 0.9 : 0.75);
        fixture_free(&f);
    }
}

static const struct port_result *port_called(const struct fixture *f, const char *at)
{
    for (size_t i = 0; i < f->result->n_ports; i++)
        if (strcmp(f->result->ports[i].at, at) == 0)
            return &f->result->ports[i];
    fail_msg("no port %s", at);
    return NULL;
}

// Every NIC sends n bytes, where a ring sends 2 (p-1)/p n: with ACKs for as many. Tolerance 1 %.
static void test_half_of_the_ring(void **state)
{
    (void)state;
    struct fixture f;
    double bytes[2];
    for (int i = 0; i < 2; i++) {
        build_clos(&f, 256 * SEGMENT, i == 0 ? "in_network" : "ring");
        fixture_run(&f);
        bytes[i] = (double)port_called(&f, "rank5->leaf1")->bytes;
        assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, f.sim->workload.total_bytes);
        fixture_free(&f);
    }
    print_message("bytes of a NIC: %.0f, ring %.0f, ratio %.4f\n", bytes[0], bytes[1],
                  bytes[0] / bytes[1]);
    assert_true(fabs(bytes[0] / bytes[1] * (2 * 15. / 16) - 1) < 0.01);
}

static void test_window(void **state)
{
    (void)state;
    struct fixture f;
    const double n = 256 * SEGMENT;
    build_clos(&f, SEGMENT, "in_network");
    fixture_run(&f);
    double loop = seconds(&f);
    fixture_free(&f);
    for (uint64_t window = 1; window <= 4; window *= 2) {
        build_clos(&f, (uint64_t)n, "in_network");
        f.spec.dims[0].sw.reduction.slots_bytes = window * 2 * SEGMENT;
        fixture_run(&f);
        double model = 256. / (double)window * loop, took = seconds(&f);
        print_message("window %u: %8.3f us, model %8.3f us, %+.2f %%\n", (unsigned)window,
                      took * 1e6, model * 1e6, 100 * (took / model - 1));
        assert_true(fabs(took / model - 1) < 0.05);
        for (size_t i = 0; i < f.result->n_aggregators; i++) {
            const struct aggregator_result *a = &f.result->aggregators[i];
            assert_true(a->max_bytes <= a->buffer_bytes);
            assert_int_equal(a->max_bytes > 0, a->reduced_bytes > 0);
        }
        fixture_free(&f);
    }
}

// Lost packets are sent again on their hop, and all bytes arrive.
static void test_loss(void **state)
{
    (void)state;
    struct fixture f;
    build_clos(&f, 64 * SEGMENT, "in_network");
    f.faults[0] = fixture_fault("leaf1->leaf1.aggregator");
    f.faults[0].loss = 0.01;
    f.faults[1] = fixture_fault("spine*->leaf*");
    f.faults[1].loss = 0.01;
    f.spec.faults = f.faults;
    f.spec.n_faults = 2;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->retransmitted > 0);
    assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, f.sim->workload.total_bytes);
    fixture_free(&f);
}

// Policies have little to do: no port is shared by more than one rank's data and ACKs.
static void test_policies(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        double least; // share of the rate without a policy
    } policies[] = {{"dcqcn", 0.99}, {"timely", 0.99}, {"swift", 0.99}, {"hpcc", 0.75}};
    struct fixture f;
    build_clos(&f, 256 * SEGMENT, "in_network");
    fixture_run(&f);
    double none = seconds(&f);
    fixture_free(&f);
    for (size_t i = 0; i < sizeof policies / sizeof *policies; i++) {
        build_clos(&f, 256 * SEGMENT, "in_network");
        fixture_cc(&f, policies[i].name, NULL, NULL);
        fixture_run(&f);
        print_message("%s: %.3f of the rate\n", policies[i].name, none / seconds(&f));
        assert_true(none / seconds(&f) > policies[i].least);
        fixture_free(&f);
    }
}

// In closed form the time is that of packets without headers and ACKs that are so small that their
// time does not matter. Tolerance 3 %, above only.
static void test_closed_form(void **state)
{
    (void)state;
    for (uint64_t window = 2; window <= 256; window *= 16) {
        double took[2];
        for (int i = 0; i < 2; i++) {
            struct fixture f;
            build_star(&f, "switch", 8, 256 * SEGMENT, "in_network");
            f.spec.network = i == 0 ? NETWORK_PACKET : NETWORK_ANALYTICAL;
            struct transport_spec *t = &f.spec.dims[0].transport;
            t->overhead = OVERHEAD_CUSTOM;
            t->overhead_data = t->overhead_ack = 1;
            roce_spec_of(t)->mtu_bytes = 512;
            f.spec.dims[0].sw.reduction.slots_bytes = window * 2 * SEGMENT;
            fixture_run(&f);
            took[i] = seconds(&f);
            fixture_free(&f);
        }
        print_message("window %u: packets %8.3f us, closed form %8.3f us, %+.2f %%\n",
                      (unsigned)window, took[0] * 1e6, took[1] * 1e6,
                      100 * (took[0] / took[1] - 1));
        assert_true(took[0] > took[1] * 0.9999 && took[0] < took[1] * 1.03);
    }
}

// Four planes have a tree each, and carry a quarter each; chunks share the buffers.
static void test_planes_and_chunks(void **state)
{
    (void)state;
    struct fixture f;
    double took[2];
    for (int i = 0; i < 2; i++) {
        build_star(&f, "switch", 8, 256 * SEGMENT, "in_network");
        struct param planes =
            param_find(f.spec.dims[0].kind->params, f.spec.dims[0].kind->n_params, "planes");
        *(uint64_t *)(void *)((char *)f.spec.dims[0].params + planes.offset) = i == 0 ? 1 : 4;
        f.collectives[0].schedule.chunks = i == 0 ? 1 : 4;
        fixture_run(&f);
        took[i] = seconds(&f);
        fixture_free(&f);
    }
    print_message("one plane %.3f us, four planes %.3f us\n", took[0] * 1e6, took[1] * 1e6);
    assert_true(took[0] / took[1] > 3.7 && took[0] / took[1] <= 4.01);
}

// Where aggregators or room in their buffers are missing, a warning says why, and the ring runs.
static void test_fallback(void **state)
{
    (void)state;
    static const struct {
        bool enabled;
        uint64_t buffer_bytes;
        const char *why;
    } cases[] = {
        {false, 4000000, "the switches of dimension 0 do not reduce (switch.reduction.enabled)"},
        {true, 20000, "too small for 1 phases at once"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        struct err err = {0};
        build_clos(&f, 10000, "in_network");
        f.spec.dims[0].sw.reduction.enabled = cases[i].enabled;
        f.spec.dims[0].sw.reduction.slots_bytes = cases[i].buffer_bytes;
        f.sim = sim_new(&f.spec, &err);
        assert_non_null(f.sim);
        assert_int_equal(err.n_items, 1);
        assert_true(err.items[0].warning);
        assert_non_null(strstr(err.items[0].text, cases[i].why));
        assert_non_null(strstr(err.items[0].text, "falls back to ring"));
        err_free(&err);
        sim_run(f.sim, NULL);
        f.result = sim_result(f.sim);
        assert_string_equal(f.result->collectives[0].algorithm, "ring");
        assert_int_equal(f.sim->fabric.hosts.counters.delivered_bytes, 16 * 2 * 15 * 10000 / 16);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_half_of_the_ring),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_loss),
        cmocka_unit_test(test_policies),
        cmocka_unit_test(test_closed_form),
        cmocka_unit_test(test_planes_and_chunks),
        cmocka_unit_test(test_fallback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
