// SPDX-License-Identifier: MIT
// NICs of some ranks beside ideal ones: the order in which programs learn of a message, whose time
// is charged to a NIC, where a congestion tree begins, credits of a NIC with several ports, and the
// presets.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"
#include "transport/nic/adapter.h"

#define RATE UINT64_C(100000000000)
#define DELAY (500 * PS_PER_NS)

static struct fixture f;

static const struct link_spec line = {.rate_bps = RATE, .delay_ps = DELAY};

static void set_planes(const char *planes)
{
    struct dim_spec *dim = &f.spec.dims[0];
    struct param param = param_find(dim->kind->params, dim->kind->n_params, "planes");
    struct err err = {0};
    assert_int_equal(param_set(&param, dim->params, planes, "planes", &err), 0);
}

// Messages are striped over four planes.
static void in_parts(void)
{
    set_planes("4");
    f.spec.dims[0].transport.stripe = true;
}

// Messages go in pieces of 16 KiB into two slots, which the receiver grants.
static void in_pieces(void)
{
    struct transport_spec *t = &f.spec.dims[0].transport;
    t->admission = ADMISSION_CTS;
    t->channels = 1;
    t->slots = 2;
    t->slot_bytes = 16384;
    t->grant_bytes = 64;
}

static void run(void)
{
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
}

// True if an explanation contains the words.
static bool is_said(const char *words)
{
    for (size_t i = 0; i < f.result->n_explain; i++)
        if (strstr(f.result->explain[i], words))
            return true;
    return false;
}

// The receiver's completions are late, the sender's are not: messages in parts, pieces and legs
// still end in order, and so does the run.
static void test_late_receivers(void **state)
{
    (void)state;
    for (int layer = 0; layer < 3; layer++) {
        fixture_leaf_spine(&f, 8, 4, 2, line, line);
        if (layer == 0)
            in_parts();
        if (layer == 1)
            in_pieces();
        f.spec.dims[0].nic.at = "rank1";
        f.spec.dims[0].nic.completion_ps = PS_PER_MS;
        fixture_collective(&f, COLL_ALL_REDUCE, "ring", 400000, 1);
        run();
        fixture_free(&f);
    }
}

// Relayed messages: the rank between has the late NIC.
static void test_late_relay(void **state)
{
    (void)state;
    fixture_switch(&f, 4, RATE, DELAY);
    f.spec.dims[0].sw.routing.relay = true;
    f.spec.dims[0].nic.at = "rank1";
    f.spec.dims[0].nic.completion_ps = PS_PER_MS;
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.n_dims = 2;
    for (uint32_t r = 0; r < 4; r++)
        fixture_flow(&f, r, 4 + (r + 1) % 4, 100000, 0);
    run();
    fixture_free(&f);
}

// One message to a rank with late completions: the times of its record end when both programs know,
// and the run does not end before.
static void test_record_of_late_receiver(void **state)
{
    (void)state;
    fixture_switch(&f, 2, RATE, DELAY);
    f.spec.dims[0].nic.at = "rank1";
    f.spec.dims[0].nic.completion_ps = PS_PER_MS;
    fixture_flow(&f, 0, 1, 100000, 0);
    run();
    const struct flow_record *r = &f.result->flows[0];
    assert_true(r->delivered_ps > PS_PER_MS);
    assert_true(r->fct_ps > r->delivered_ps);
    assert_true(f.result->sim_time_ps >= r->fct_ps);
    ps_t sum = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        sum += r->life_ps[cause];
    assert_int_equal(sum, r->delivered_ps);
    fixture_free(&f);
}

// A run that ends between the end of a message at its NICs and its completion: the message is
// running, and counted once, also in parts and in pieces.
static void test_cut_off(void **state)
{
    (void)state;
    for (int layer = 0; layer < 3; layer++) {
        const uint64_t bytes = 30000; // fits into the slots
        fixture_switch(&f, 3, RATE, DELAY);
        if (layer == 1)
            in_parts();
        if (layer == 2)
            in_pieces();
        f.spec.dims[0].nic.at = "rank0";
        f.spec.dims[0].nic.completion_ps = PS_PER_MS;
        f.spec.duration_ps = PS_PER_MS / 2;
        fixture_flow(&f, 0, 1, bytes, 0);
        fixture_flow(&f, 2, 1, bytes, 0);
        fixture_run(&f);
        const struct result *r = f.result;
        assert_int_equal(r->n_flows, 2);
        assert_int_equal(r->summary.running, 1);
        assert_int_equal(r->flows[0].status, MESSAGE_RUNNING);
        assert_int_equal(r->flows[0].fct_ps, -1);
        assert_int_equal(r->flows[0].delivered_bytes, bytes);
        assert_true(r->flows[0].delivered_ps > 0);
        assert_int_equal(r->flows[1].status, MESSAGE_DONE);
        fixture_free(&f);
    }
}

// Three messages share an ideal NIC; that of another rank has nothing to do with it.
static void test_time_of_ideal_nics(void **state)
{
    (void)state;
    fixture_switch(&f, 6, RATE, DELAY);
    f.spec.dims[0].nic.at = "rank5";
    f.spec.dims[0].nic.bus_rate_bps = RATE / 10;
    for (uint32_t r = 1; r < 4; r++)
        fixture_flow(&f, 0, r, 1000000, 0);
    run();
    assert_int_equal(f.result->n_nics, 1);
    assert_string_equal(f.result->nics[0].at, "rank5");
    assert_int_equal(f.result->slowest->critical.parts[PATH_HOST], 0);
    assert_true(f.result->slowest->critical.parts[PATH_NIC] > 0);
    fixture_free(&f);
}

// Aggregators in switches have no NIC: their messages wait for no doorbell.
static void test_aggregators(void **state)
{
    (void)state;
    fixture_leaf_spine(&f, 4, 2, 1, line, line);
    f.spec.dims[0].sw.reduction.enabled = true;
    f.spec.dims[0].nic.doorbell_ps = PS_PER_US;
    f.spec.dims[0].nic.completion_ps = PS_PER_US;
    f.spec.dims[0].nic.bus_rate_bps = RATE / 2;
    fixture_collective(&f, COLL_ALL_REDUCE, "in_network", 65536, 1);
    run();
    fixture_free(&f);
}

// In a direct network the router of rank 1 pauses rank 0, and no NIC does: a NIC that has limits
// and never reaches them is no root. All ports of a NIC that pauses are one root.
static void test_roots(void **state)
{
    (void)state;
    fixture_direct(&f, "ring", 8, RATE, DELAY);
    f.spec.dims[0].sw.buffer_bytes = 300000;
    f.spec.dims[0].nic.bus_rate_bps = 10 * RATE;
    fixture_flow(&f, 0, 2, 4000000, 0);
    fixture_flow(&f, 1, 2, 4000000, 0);
    run();
    assert_true(is_said("PFC began at rank1->rank2"));
    assert_false(is_said("the NIC of"));
    fixture_free(&f);

    fixture_switch(&f, 3, RATE, DELAY);
    set_planes("4");
    f.spec.dims[0].transport.stripe = true;
    f.spec.dims[0].nic.at = "rank0";
    f.spec.dims[0].nic.bus_rate_bps = RATE;
    f.spec.dims[0].nic.buffer_bytes = 400000;
    fixture_flow(&f, 1, 0, 8000000, 0);
    fixture_flow(&f, 2, 0, 8000000, 0);
    run();
    assert_true(is_said("PFC began at the NIC of rank0"));
    assert_false(is_said("other such trees"));
    fixture_free(&f);
}

// Receiver credits of four ports add up to what the NIC writes: only packets that were sent before
// the first report, 1.5 bandwidth-delay products of each of 12 connections, can exceed its buffer.
static void test_credits_of_ports(void **state)
{
    (void)state;
    extern const struct transport_ops uec_transport;
    fixture_leaf_spine(&f, 8, 4, 4, line, line);
    set_planes("4");
    struct dim_spec *dim = &f.spec.dims[0];
    transport_spec_init(&dim->transport, &uec_transport);
    fixture_cc(&f, "rccc", NULL, NULL);
    dim->transport.stripe = true;
    struct param rto = param_find(uec_transport.params, uec_transport.n_params, "rto");
    struct err err = {0};
    assert_int_equal(param_set(&rto, dim->transport.own, "200us", "rto", &err), 0);
    dim->nic.at = "rank0";
    dim->nic.bus_rate_bps = RATE;
    for (uint32_t r = 1; r < 4; r++)
        fixture_flow(&f, 3 + r, 0, 4000000, 0);
    f.jobs[0].cls = 0;
    run();
    struct transport_path path = fabric_path(&f.sim->fabric, 4, 0, 0, 0, 0);
    uint64_t early = bytes_in_ps(3 * path.base_rtt_ps / 2, RATE) * 12;
    assert_true(f.result->dropped_bytes < early);
    assert_true(f.result->nics[0].busy_share[1] > 0.9);
    fixture_free(&f);
}

// Every value of every preset is one that a scenario could give.
static void test_presets(void **state)
{
    (void)state;
    for (const struct nic_preset *preset = nic_presets; preset->name; preset++) {
        struct nic_spec spec;
        params_default(nic_params, n_nic_params, &spec);
        for (const struct nic_value *v = preset->values; v->key; v++) {
            struct param param = param_find(nic_params, n_nic_params, v->key);
            struct err err = {0};
            assert_int_equal(param_set(&param, &spec, v->value, v->key, &err), 0);
        }
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_receivers),
        cmocka_unit_test(test_late_relay),
        cmocka_unit_test(test_record_of_late_receiver),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_time_of_ideal_nics),
        cmocka_unit_test(test_aggregators),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_credits_of_ports),
        cmocka_unit_test(test_presets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
