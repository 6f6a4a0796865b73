// SPDX-License-Identifier: MIT
// Tests of skipping what repeats (sim/skip/skip.h) against full runs of the same simulation, and of
// how much is skipped where the period is known.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)
#define RANKS 16
#define STEPS (2 * (RANKS - 1))

// What a run leaves behind.
struct seen {
    ps_t end_ps, took_ps;
    uint64_t hops, cuts, marked, pauses;
    struct port_stats ports[2 * RANKS];
    struct skip_result skipped;
    char note[200];
};
static struct seen full, skipped;

static void ring(struct fixture *f, const char *policy, uint64_t bytes)
{
    fixture_switch(f, RANKS, LINE, PS_PER_US);
    fixture_cc(f, policy, NULL, NULL);
    fixture_collective(f, COLL_ALL_REDUCE, "ring", bytes, 1);
}

static void look(struct fixture *f, struct seen *seen)
{
    *seen = (struct seen){.end_ps = f->result->sim_time_ps,
                          .took_ps =
                              f->result->n_collectives > 0 ? f->result->collectives[0].end_ps : -1,
                          .hops = f->result->packet_hops,
                          .cuts = f->result->cc_cuts,
                          .marked = f->result->marked_packets,
                          .pauses = f->result->pause_frames,
                          .skipped = f->result->skipped};
    for (uint32_t p = 0; p < f->sim->fabric.net.n_ports; p++)
        seen->ports[p] = port_stats(&f->sim->fabric.net, p, f->sim->fabric.engine.now_ps);
    if (f->result->skipped.note)
        strcpy(seen->note, f->result->skipped.note);
    seen->skipped.note = NULL;
}

// Run what `build` makes in full and with skipping; both must leave the same.
static void compare(void (*build)(struct fixture *f))
{
    struct fixture f;
    for (int mode = FAST_FORWARD_OFF; mode <= FAST_FORWARD_EXACT; mode++) {
        build(&f);
        f.spec.fast_forward = mode;
        fixture_run(&f);
        look(&f, mode == FAST_FORWARD_OFF ? &full : &skipped);
        fixture_free(&f);
    }
    assert_false(full.skipped.tried);
    assert_true(skipped.skipped.tried);
    assert_int_equal(skipped.end_ps, full.end_ps);
    assert_int_equal(skipped.took_ps, full.took_ps);
    assert_int_equal(skipped.hops, full.hops);
    assert_int_equal(skipped.cuts, full.cuts);
    assert_int_equal(skipped.marked, full.marked);
    assert_int_equal(skipped.pauses, full.pauses);
    assert_memory_equal(skipped.ports, full.ports, sizeof full.ports);
}

// All steps of a flat ring with one chunk send the same packets, so a period is one step. In the
// first step no ACK delays the data yet: the steps' times differ by less than a thousandth.
static void build_ring(struct fixture *f) { ring(f, "none", 8000000); }
static void test_ring_has_equal_steps(void **state)
{
    (void)state;
    compare(build_ring);
    const struct skip_result *s = &skipped.skipped;
    assert_int_equal(s->stretches, 1);
    assert_true(s->periods >= STEPS - 8 && s->periods < STEPS);
    double step = (double)full.took_ps / STEPS, period = (double)s->skipped_ps / (double)s->periods;
    assert_true(period / step > 0.999 && period / step < 1.001);
    assert_int_equal(s->hops * STEPS, full.hops * s->periods);
}

static void build_dcqcn(struct fixture *f) { ring(f, "dcqcn", 8000000); }
static void build_swift(struct fixture *f) { ring(f, "swift", 8000000); }
static void test_policies_declare_their_state(void **state)
{
    (void)state;
    compare(build_dcqcn);
    assert_true(skipped.skipped.periods > STEPS / 2);
    compare(build_swift);
    assert_true(skipped.skipped.periods > STEPS / 2);
}

// Four chunks one behind the other: senders never fall idle, so their accounts go on over all
// periods.
static void build_chunks(struct fixture *f)
{
    ring(f, "none", 32000000);
    f->collectives[0].schedule.chunks = 4;
    f->collectives[0].schedule.active_chunks = 4;
}
static void test_busy_periods_longer_than_a_period(void **state)
{
    (void)state;
    compare(build_chunks);
    assert_true(skipped.skipped.periods > 0);
}

// The planned end lies within a repetition.
static void build_planned_end(struct fixture *f)
{
    ring(f, "none", 8000000);
    f->spec.duration_ps = 700 * PS_PER_US + 12345;
}
static void test_planned_end(void **state)
{
    (void)state;
    compare(build_planned_end);
    assert_true(skipped.skipped.periods > 0);
    assert_int_equal(full.end_ps, 700 * PS_PER_US + 12345);
}

// A link fails and comes back in the middle.
static void build_fault(struct fixture *f)
{
    ring(f, "none", 8000000);
    f->faults[0] = fixture_fault("rank3->*");
    f->faults[0].down_ps = 500 * PS_PER_US;
    f->faults[0].up_ps = 510 * PS_PER_US;
    f->spec.faults = f->faults;
    f->spec.n_faults = 1;
    roce_spec_of(&f->spec.dims[0].transport)->rto_ps = 300 * PS_PER_US;
}
static void test_fault_in_the_middle(void **state)
{
    (void)state;
    compare(build_fault);
    assert_true(skipped.skipped.periods > 0);
    assert_true(skipped.skipped.periods < STEPS - 8);
}

// Another message arrives while the ring repeats.
static void build_flow(struct fixture *f)
{
    ring(f, "none", 8000000);
    f->flows[0] =
        (struct raw_flow){.src = 1, .dst = 9, .bytes = 100000, .start_ps = 600 * PS_PER_US};
    fixture_flow_job(f, 1, "more", NET_CLASS_DATA, 0, 1);
}
static void test_one_more_flow(void **state)
{
    (void)state;
    compare(build_flow);
    assert_true(skipped.skipped.periods > 0);
}

static void build_reference(struct fixture *f) { ring(f, "none", 8000000); }
static void test_reference_engine(void **state)
{
    (void)state;
    struct fixture f;
    compare(build_reference);
    build_reference(&f);
    f.spec.fast_forward = FAST_FORWARD_EXACT;
    struct err err = {0};
    f.sim = sim_new(&f.spec, &err);
    assert_non_null(f.sim);
    sim_set_plain(f.sim);
    sim_run(f.sim, NULL);
    f.result = sim_result(f.sim);
    assert_int_equal(f.result->collectives[0].end_ps, full.took_ps);
    assert_int_equal(f.result->skipped.periods, skipped.skipped.periods);
    err_free(&err);
    fixture_free(&f);
}

/* ---- a policy that does not declare its state ---- */

static struct cc_ops secretive;
static void build_secretive(struct fixture *f)
{
    ring(f, "dcqcn", 8000000);
    secretive = *f->spec.dims[0].cc;
    secretive.extras = NULL;
    f->spec.dims[0].cc = &secretive;
}
static void test_policy_without_declaration(void **state)
{
    (void)state;
    compare(build_secretive);
    assert_int_equal(skipped.skipped.periods, 0);
    assert_non_null(strstr(skipped.note, "cc_extras.shift"));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_has_equal_steps),
        cmocka_unit_test(test_policies_declare_their_state),
        cmocka_unit_test(test_busy_periods_longer_than_a_period),
        cmocka_unit_test(test_planned_end),
        cmocka_unit_test(test_fault_in_the_middle),
        cmocka_unit_test(test_one_more_flow),
        cmocka_unit_test(test_reference_engine),
        cmocka_unit_test(test_policy_without_declaration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
