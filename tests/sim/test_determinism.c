// SPDX-License-Identifier: MIT
// The same scenario and seed give the same numbers: when run twice, with and without sampling, and
// interleaved with another simulation in one process.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/rng.h"
#include "tests/support/fixture.h"

#define GBPS UINT64_C(1000000000)
#define SAME(field) assert_memory_equal(&a->field, &b->field, sizeof a->field)

static void assert_texts_equal(char **a, size_t n_a, char **b, size_t n_b)
{
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++)
        assert_string_equal(a[i], b[i]);
}

static void assert_flows_equal(const struct result *x, const struct result *y)
{
    assert_int_equal(x->n_flows, y->n_flows);
    for (size_t i = 0; i < x->n_flows; i++) {
        const struct flow_record *a = &x->flows[i], *b = &y->flows[i];
        SAME(id), SAME(bytes), SAME(delivered_bytes), SAME(packets), SAME(retransmitted);
        SAME(job), SAME(qp), SAME(src), SAME(dst), SAME(cnps), SAME(timeouts), SAME(status);
        SAME(start_ps), SAME(fct_ps), SAME(delivered_ps), SAME(ideal_ps);
    }
}

static void assert_places_equal(const struct result *x, const struct result *y)
{
    assert_int_equal(x->n_ports, y->n_ports);
    for (size_t i = 0; i < x->n_ports; i++) {
        const struct port_result *a = &x->ports[i], *b = &y->ports[i];
        assert_string_equal(a->at, b->at);
        SAME(bytes), SAME(packets), SAME(max_queue_bytes), SAME(counters.marked),
            SAME(dropped_packets);
        SAME(dropped_bytes), SAME(utilization), SAME(mean_queue_bytes);
    }
    assert_int_equal(x->n_switches, y->n_switches);
    for (size_t i = 0; i < x->n_switches; i++) {
        const struct switch_result *a = &x->switches[i], *b = &y->switches[i];
        assert_string_equal(a->at, b->at);
        SAME(max_queue_bytes), SAME(max_buffer_bytes), SAME(max_headroom_bytes);
        SAME(max_ingress_bytes), SAME(shared_bytes), SAME(mean_queue_bytes);
    }
    assert_int_equal(x->n_pfc_ports, y->n_pfc_ports);
    for (size_t i = 0; i < x->n_pfc_ports; i++) {
        const struct pfc_port_result *a = &x->pfc_ports[i], *b = &y->pfc_ports[i];
        assert_string_equal(a->at, b->at);
        SAME(cls), SAME(pauses), SAME(paused_ps);
    }
}

// Compare all numbers except those of the machine; doubles must be equal to the last bit.
static void assert_collectives_equal(const struct collective_result *a,
                                     const struct collective_result *b)
{
    SAME(start_ps), SAME(end_ps), SAME(ideal_ps), SAME(bytes), SAME(n_phases), SAME(n_dims);
    SAME(algbw_bps), SAME(busbw_bps), SAME(efficiency);
    for (uint32_t i = 0; i < a->n_phases; i++) {
        SAME(phases[i].dim), SAME(phases[i].bytes), SAME(phases[i].messages);
        SAME(phases[i].start_ps), SAME(phases[i].end_ps);
        SAME(phases[i].queueing_ps), SAME(phases[i].network_ps);
    }
    assert_memory_equal(a->dims, b->dims, a->n_dims * sizeof *a->dims);
}

static void assert_results_equal(const struct result *a, const struct result *b)
{
    SAME(seed), SAME(status), SAME(sim_time_ps), SAME(flows_complete);
    SAME(summary.count), SAME(summary.failed), SAME(summary.running), SAME(summary.bytes);
    SAME(summary.fct_ns), SAME(summary.slowdown), SAME(summary.jain);
    SAME(pause_frames), SAME(resume_frames), SAME(max_queue_bytes), SAME(paused_ps);
    SAME(marked_packets), SAME(cnps), SAME(dropped_packets), SAME(dropped_bytes);
    SAME(drops[DROP_HEADROOM]), SAME(drops[DROP_LOSSY_THRESHOLD]), SAME(drops[DROP_NO_ROUTE]);
    SAME(naks), SAME(timeouts), SAME(retransmitted), SAME(packet_hops);
    assert_int_equal(a->reason != NULL, b->reason != NULL);
    if (a->reason)
        assert_string_equal(a->reason, b->reason);
    assert_flows_equal(a, b);
    assert_places_equal(a, b);
    assert_int_equal(a->n_collectives, b->n_collectives);
    for (size_t i = 0; i < a->n_collectives; i++)
        assert_collectives_equal(&a->collectives[i], &b->collectives[i]);
    assert_texts_equal(a->explain, a->n_explain, b->explain, b->n_explain);
    assert_texts_equal(a->waiting, a->n_waiting, b->waiting, b->n_waiting);
}

enum { SCENARIOS = 5 };

// Marks with pauses; losses; a collective with all random settings on; per-message queue pairs with
// small windows; a run that its horizon cuts off.
static void scenario(struct fixture *f, unsigned which, uint64_t seed)
{
    struct rng rng = rng_init(which, RNG_WORKLOAD, 3);
    struct link_spec link = {.rate_bps = 100 * GBPS, .delay_ps = PS_PER_US},
                     trunk = {.rate_bps = 100 * GBPS, .delay_ps = 2 * PS_PER_US};
    fixture_leaf_spine(f, 12, 4, 3, link, trunk);
    struct dim_spec *dim = &f->spec.dims[0];
    f->spec.seed = seed;
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    fixture_cc(f, "dcqcn", NULL, NULL);
    if (which == 2) {
        fixture_collective(f, COLL_ALL_REDUCE, "ring", 2000000, 3);
        f->collectives[0].params.repeat = 2;
        dim->transport.start_jitter_ps = 5 * PS_PER_US;
        dim->transport.clock_ppm = 100;
        roce_spec_of(&dim->transport)->qps_per_pair = 2;
        return;
    }
    for (uint32_t i = 0; i < 60; i++) {
        uint32_t src = (uint32_t)rng_below(&rng, 11), dst = i % 3 ? 11 : (src + 5) % 11;
        fixture_flow(f, src, dst, 1 + rng_below(&rng, 300000),
                     (ps_t)rng_below(&rng, 3) * 10 * PS_PER_US); // many at one instant
    }
    dim->sw.buffer_bytes = 3000000;
    if (which == 1) {
        dim->sw.pfc.enabled = false;
        dim->sw.buffer_bytes = 400000;
        dim->sw.ecn = (struct ecn_spec){
            .mode = ECN_ON, .kmin_bytes = 20000, .kmax_bytes = 80000, .pmax = 0.2};
        roce_spec_of(&dim->transport)->rto_ps = 300 * PS_PER_US;
    } else if (which == 3) {
        fixture_cc(f, "window", NULL, NULL);
        roce_spec_of(&dim->transport)->qp = QP_PER_MESSAGE;
        roce_spec_of(&dim->transport)->ack_interval = 3;
        roce_spec_of(&dim->transport)->ack_class = ACK_CLASS_CONTROL;
    } else if (which == 4) {
        f->spec.duration_ps = 120 * PS_PER_US;
    }
}

static void test_same_seed_same_numbers(void **state)
{
    (void)state;
    for (unsigned which = 0; which < SCENARIOS; which++) {
        static struct fixture a, b;
        scenario(&a, which, 7);
        scenario(&b, which, 7);
        fixture_run(&a);
        fixture_run(&b);
        assert_results_equal(a.result, b.result);
        assert_int_equal(a.result->events, b.result->events);
        // The scenarios do contain what they are meant to test.
        assert_int_equal(a.result->status, RUN_COMPLETED);
        assert_int_equal(a.result->pause_frames > 0, which == 0 || which == 3 || which == 4);
        assert_int_equal(a.result->dropped_packets > 0, which == 1);
        assert_int_equal(a.result->summary.running > 0, which == 4);
        if (which < 2)
            assert_true(a.result->marked_packets > 0 && a.result->cnps > 0);
        fixture_free(&a);
        fixture_free(&b);
    }
}

// The seed reaches ECMP, marks, jitter and clocks. Both seeds are fixed, so this is no statistical
// test.
static void test_other_seed_other_numbers(void **state)
{
    (void)state;
    for (unsigned which = 0; which < 3; which++) {
        static struct fixture a, b;
        scenario(&a, which, 7);
        scenario(&b, which, 8);
        fixture_run(&a);
        fixture_run(&b);
        unsigned different = 0;
        for (size_t i = 0; i < a.result->n_flows && i < b.result->n_flows; i++)
            different += a.result->flows[i].fct_ps != b.result->flows[i].fct_ps;
        assert_true(different > a.result->n_flows / 4);
        fixture_free(&a);
        fixture_free(&b);
    }
}

// Sampling reads only.
static void test_sampling_changes_nothing(void **state)
{
    (void)state;
    static const ps_t steps[] = {PS_PER_US, 777777, 10 * PS_PER_US};
    for (unsigned which = 0; which < SCENARIOS; which++) {
        static struct fixture a, b;
        scenario(&a, which, 3);
        scenario(&b, which, 3);
        b.spec.report.sample_ps = steps[which % 3];
        fixture_run(&a);
        fixture_run(&b);
        assert_results_equal(a.result, b.result);
        assert_null(a.result->series);
        const struct series *s = b.result->series;
        assert_non_null(s);
        assert_int_equal(s->n_samples, (size_t)(b.result->sim_time_ps / s->step_ps) + 1);
        // Events are not compared: a sample settles ports, which may make a departure event stale.
        assert_true(s->n_lines[SERIES_QUEUE] == 12 + 3 * 3 * 2);
        fixture_free(&a);
        fixture_free(&b);
    }
}

// Two simulations in one process, run alternately for a few events each, give the same results as
// alone.
static void interleave(unsigned one, unsigned other)
{
    static struct fixture alone[2], mixed[2];
    struct rng rng = rng_init(one * 10 + other, RNG_WORKLOAD, 4);
    struct err err = {0};
    for (unsigned i = 0; i < 2; i++) {
        scenario(&alone[i], i ? other : one, 5 + i);
        scenario(&mixed[i], i ? other : one, 5 + i);
        fixture_run(&alone[i]);
        mixed[i].sim = sim_new(&mixed[i].spec, &err);
        assert_non_null(mixed[i].sim);
    }
    bool going[2] = {true, true};
    while (going[0] || going[1]) {
        unsigned i = (unsigned)rng_below(&rng, 2);
        size_t batch = 1 + rng_below(&rng, 200);
        going[i] = engine_drain(&mixed[i].sim->fabric.engine, batch) == batch;
    }
    for (unsigned i = 0; i < 2; i++) {
        mixed[i].result = sim_result(mixed[i].sim);
        assert_results_equal(mixed[i].result, alone[i].result);
        assert_int_equal(mixed[i].result->events, alone[i].result->events);
        fixture_free(&alone[i]);
    }
    fixture_free(&mixed[1]); // freeing one does not affect the other
    fixture_free(&mixed[0]);
    err_free(&err);
}

static void test_two_simulations_in_turns(void **state)
{
    (void)state;
    interleave(0, 0);
    interleave(0, 1);
    interleave(2, 3);
    interleave(1, 2);
}

// A second run in the same process is not affected by the first.
static void test_order_of_runs(void **state)
{
    (void)state;
    static struct fixture first, between, last;
    scenario(&first, 0, 9);
    fixture_run(&first);
    scenario(&between, 1, 1);
    fixture_run(&between);
    fixture_free(&between);
    scenario(&last, 0, 9);
    fixture_run(&last);
    assert_results_equal(first.result, last.result);
    fixture_free(&first);
    fixture_free(&last);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_seed_same_numbers),
        cmocka_unit_test(test_other_seed_other_numbers),
        cmocka_unit_test(test_sampling_changes_nothing),
        cmocka_unit_test(test_two_simulations_in_turns),
        cmocka_unit_test(test_order_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
