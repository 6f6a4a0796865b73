// SPDX-License-Identifier: MIT
// Optical circuit switches: a ring over circuits, the share of time of a rotation, no loss at
// reconfigurations, and messages that take circuits or packet switches by their size.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "net/topology/circuit_schedule.h"
#include "sim/estimate.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static struct fixture f;

static struct circuit_params *circuits(struct dim_spec *dim)
{
    fixture_kind(dim, "circuit");
    return (struct circuit_params *)(void *)dim->params;
}

/* ---- schedules ---- */

static size_t errors_of(const char *text, uint64_t ports, uint32_t ranks, const char *says)
{
    struct circuit_params p = {.ports = ports, .schedule = text, .duration_ps = PS_PER_US};
    struct circuit_schedule s;
    struct err err = {0};
    circuit_schedule_make(&s, &p, ranks, "d", &err);
    size_t n = err.n_errors;
    if (says)
        assert_string_equal(err.items[0].text, says);
    circuit_schedule_free(&s);
    err_free(&err);
    return n;
}

static void test_schedules(void **state)
{
    (void)state;
    assert_int_equal(errors_of("0-1 2-3 | 0.1-2 @5us", 2, 4, NULL), 0);
    assert_int_equal(errors_of("ring", 2, 7, NULL), 0);
    assert_int_equal(errors_of("rotation", 3, 9, NULL), 0);
    assert_int_equal(
        errors_of("0-1 1-2", 1, 4, "d: schedule: matching 1 joins port 0 of rank 1 twice"), 1);
    assert_int_equal(
        errors_of("0-1 | 0-4", 1, 4, "d: schedule: 0-4: there is no rank 4, only 4 ranks"), 1);
    assert_int_equal(errors_of("0.1-1", 1, 4, "d: schedule: 0.1-1: there is no port 1, only 1"), 1);
    assert_int_equal(errors_of("2-2", 1, 4, "d: schedule: 2-2 joins a rank with itself"), 1);
    assert_int_equal(errors_of("0-1 |", 1, 4, "d: schedule: matching 2 joins no ports"), 1);
    assert_int_equal(errors_of("rotation", 1, 700,
                               "d: schedule: a rotation of 700 ranks has 244650 circuits; the "
                               "maximum is 200000"),
                     1);
    assert_int_equal(errors_of("ring", 1, 4, "d: schedule: a ring needs 2 ports"), 1);
}

// In one cycle of slots every pair of ranks has a circuit exactly once. In each slot every port has
// at most one circuit: otherwise the scenario would be rejected.
static void test_rotation_meets_all(void **state)
{
    (void)state;
    for (uint32_t ranks = 2; ranks <= 17; ranks++)
        for (uint64_t ports = 1; ports <= 3; ports++) {
            struct circuit_params p = {.ports = ports, .schedule = "rotation", .duration_ps = 1};
            struct circuit_schedule s;
            struct err err = {0};
            circuit_schedule_make(&s, &p, ranks, "d", &err);
            assert_int_equal(err.n_errors, 0);
            assert_int_equal(s.n_phases, ranks - 1 + ranks % 2);
            assert_int_equal(s.n_circuits, ports * ranks * (ranks - 1) / 2);
            assert_int_equal(s.n_lit, s.n_circuits);
            circuit_schedule_free(&s);
        }
}

/* ---- time ---- */

static ps_t ring_time(bool over_circuits)
{
    fixture_direct(&f, "ring", 8, RATE, PS_PER_US);
    if (over_circuits)
        circuits(&f.spec.dims[0]);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 8000000, 1);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    ps_t time = f.result->collectives[0].end_ps - f.result->collectives[0].start_ps;
    fixture_free(&f);
    return time;
}

static void test_ring(void **state)
{
    (void)state;
    ps_t time = ring_time(true);
    assert_true(time == ring_time(false));
    // 2 (n - 1) steps of 1 MB in 245 packets: wire bytes at RATE, and the delay
    ps_t step = (1000000 + 245 * 82 + 16) * INT64_C(80) + PS_PER_US;
    assert_true(time == 14 * step);
}

// Every pair has light in one of 7 matchings. In that time, less the guard of one largest packet,
// it sends at line rate; nothing is lost.
static void test_rotation(void **state)
{
    (void)state;
    fixture_direct(&f, "ring", 8, RATE, PS_PER_US);
    struct circuit_params *p = circuits(&f.spec.dims[0]);
    p->ports = 1;
    p->schedule = "rotation";
    p->duration_ps = 50 * PS_PER_US;
    p->reconfiguration_ps = 5 * PS_PER_US;
    f.spec.duration_ps = 40 * 7 * 55 * PS_PER_US; // 40 cycles
    roce_spec_of(&f.spec.dims[0].transport)->ack_class = ACK_CLASS_CONTROL;
    for (uint32_t r = 0; r < 8; r++)
        fixture_flow(&f, r, (r + 3) % 8, 100000000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->dropped_packets, 0);
    assert_int_equal(f.result->retransmitted, 0);
    assert_int_equal(f.result->timeouts, 0);
    assert_int_equal(f.result->pause_frames, 0);
    double packet = (4096 + 82) * 80e-6;    // us
    double slot = 50 - packet - 64 * 80e-6; // us of light, less the guard
    double packets = slot / packet;         // ACKs of the other direction take their share
    for (int i = 0; i < 8; i++) {
        double bytes = (double)f.result->flows[i].delivered_bytes / 40;
        assert_true(bytes <= (packets + 1) * 4096 && bytes >= 0.95 * packets * 4096);
    }
    fixture_free(&f);
}

/* ---- hybrid ---- */

static uint64_t bytes_between(const char *from)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < f.result->n_ports; i++)
        if (strncmp(f.result->ports[i].at, from, strlen(from)) == 0)
            bytes += f.sim->fabric.net.ports[i].tx_bytes;
    return bytes;
}

// Messages of 50 KB and more take the ring of circuits, smaller ones and other pairs the switch.
static void test_hybrid(void **state)
{
    (void)state;
    fixture_switch(&f, 4, RATE, PS_PER_US);
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.dims[1].size = 1;
    f.spec.n_dims = 2;
    struct circuit_params *p = circuits(&f.spec.dims[1]);
    p->transit = false;
    p->threshold_bytes = 50000;
    fixture_flow(&f, 0, 1, 50000, 0);
    fixture_flow(&f, 0, 1, 49999, 0);
    fixture_flow(&f, 0, 2, 90000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_in_range(bytes_between("rank0->rank1"), 50000, 52000);
    assert_in_range(bytes_between("rank0->dim0"), 139999, 145000);
    for (int i = 0; i < 3; i++)
        assert_true(f.result->flows[i].fct_ps >= f.result->flows[i].ideal_ps);
    fixture_free(&f);
}

// The circuits come first and join ranks 0 and 1 only; all other pairs take the leaf. The estimate,
// the description and the bandwidth of a pair follow its messages.
static void test_few_circuits_first(void **state)
{
    (void)state;
    const struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, 2, 4, 1, link, link);
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.n_dims = 2;
    struct circuit_params *p = circuits(&f.spec.dims[0]);
    p->schedule = "0.0-1.1 0.1-1.0";
    fixture_flow(&f, 0, 1, 1000, 0);
    fixture_flow(&f, 2, 3, 1000, 0);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(fabric_message_dim(&f.sim->fabric, 0, 1, 1000), 0);
    assert_int_equal(fabric_message_dim(&f.sim->fabric, 2, 3, 1000), 1);
    assert_true(delivery_bandwidth(&f.sim->delivery, 0, 1) == 2. * RATE);
    assert_true(delivery_bandwidth(&f.sim->delivery, 2, 3) == RATE);
    assert_true(sim_estimate(f.sim).packet_hops > 0);
    fixture_free(&f);
}

// Two dimensions of circuits, each a ring: a pair across needs transit in one of them, and takes
// that one.
static void test_two_rings(void **state)
{
    (void)state;
    for (int transit = 0; transit < 2; transit++) {
        fixture_direct(&f, "ring", 4, RATE, PS_PER_US);
        f.spec.dims[1] = f.spec.dims[0];
        f.spec.dims[1].size = 1;
        f.spec.n_dims = 2;
        circuits(&f.spec.dims[0])->transit = false;
        circuits(&f.spec.dims[1])->transit = transit;
        fixture_flow(&f, 0, 2, 1000, 0);
        if (!transit) {
            struct err err = {0};
            assert_null(sim_new(&f.spec, &err));
            assert_int_equal(err.n_errors, 1);
            assert_string_equal(
                err.items[0].text,
                "topology.dims[0].schedule: no circuit joins rank 0 and rank 2, and no other "
                "dimension does (with transit ranks forward)");
            err_free(&err);
            continue;
        }
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        assert_int_equal(fabric_message_dim(&f.sim->fabric, 0, 1, 1), 0);
        assert_int_equal(fabric_message_dim(&f.sim->fabric, 0, 2, 1), 1);
        // two links there, two back
        assert_in_range(f.result->flows[0].fct_ps, 4 * PS_PER_US, 5 * PS_PER_US);
        assert_true(f.result->flows[0].fct_ps >= f.result->flows[0].ideal_ps);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schedules), cmocka_unit_test(test_rotation_meets_all),
        cmocka_unit_test(test_ring),      cmocka_unit_test(test_rotation),
        cmocka_unit_test(test_hybrid),    cmocka_unit_test(test_few_circuits_first),
        cmocka_unit_test(test_two_rings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
