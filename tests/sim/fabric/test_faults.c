// SPDX-License-Identifier: MIT
// Links that fail during a run: packets on them are lost and retransmitted, routes are updated, and
// ranks that cannot be reached are reported.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)

static struct fixture f;
static const struct packet_meta no_meta;

static struct fault_spec down_at(const char *at, ps_t down_ps, ps_t detect_ps)
{
    struct fault_spec fault = fixture_fault(at);
    fault.down_ps = down_ps;
    fault.detect_ps = detect_ps;
    return fault;
}

static void fabric(uint32_t spines, const struct fault_spec *fault)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, 16, 4, spines, link, link);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 1000;
    roce_spec_of(&f.spec.dims[0].transport)->rto_ps = 200 * PS_PER_US;
    f.spec.faults = (struct fault_spec *)(uintptr_t)fault;
    f.spec.n_faults = 1;
}

static uint64_t sent_by(const char *at)
{
    for (size_t p = 0; p < f.result->n_ports; p++)
        if (strcmp(f.result->ports[p].at, at) == 0)
            return f.result->ports[p].packets;
    fail_msg("no port %s", at);
    return 0;
}

// Halving-doubling over four leaves: every uplink of leaf0 carries part of it.
static void test_all_reduce_survives_a_spine_link(void **state)
{
    (void)state;
    const struct fault_spec fault = down_at("leaf0->spine1", 300 * PS_PER_US, 50 * PS_PER_US);
    fabric(4, &fault);
    fixture_collective(&f, COLL_ALL_REDUCE, "halving_doubling", 16000000, 1);
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_true(f.result->drops[DROP_LINK_DOWN] > 0);
    assert_true(f.result->drops[DROP_LINK_DOWN] == f.result->dropped_packets);
    assert_true(f.result->timeouts > 0 || f.result->naks > 0);
    assert_int_equal(f.result->n_changes, 2);
    assert_string_equal(f.result->changes[0].what, "down");
    assert_true(f.result->changes[0].at_ps == 300 * PS_PER_US);
    assert_string_equal(f.result->changes[1].what, "rerouted");
    assert_true(f.result->changes[1].at_ps == 350 * PS_PER_US);
    uint64_t dead = sent_by("leaf0->spine1");
    fixture_free(&f);

    // Without the fault the link is used to the end.
    fabric(4, &fault);
    f.spec.n_faults = 0;
    fixture_collective(&f, COLL_ALL_REDUCE, "halving_doubling", 16000000, 1);
    fixture_run(&f);
    assert_true(sent_by("leaf0->spine1") > dead);
    assert_int_equal(f.result->dropped_packets, 0);
    fixture_free(&f);
}

static void to_other_leaf(void)
{
    for (unsigned i = 0; i < 4; i++)
        fixture_flow(&f, i, 4 + i, 20000000, 0);
}

// Without detection, flows hashed to the failed link time out until their retries are exhausted.
static void test_unnoticed_failure_fails_flows(void **state)
{
    (void)state;
    const struct fault_spec fault = down_at("leaf0->spine*", 300 * PS_PER_US, PS_NEVER);
    fabric(2, &fault);
    to_other_leaf();
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->summary.failed, 4);
    assert_int_equal(f.result->n_changes, 1);
    fixture_free(&f);
}

// The link is repaired in time, and all messages complete.
static void test_repair(void **state)
{
    (void)state;
    struct fault_spec fault = down_at("leaf0->spine*", 300 * PS_PER_US, 10 * PS_PER_US);
    fault.up_ps = 800 * PS_PER_US;
    fabric(2, &fault);
    to_other_leaf();
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_changes, 4);
    assert_true(f.result->drops[DROP_NO_ROUTE] >
                0); // between detection and repair no route uses the link
    assert_true(f.result->summary.fct_ns.max > 20e6 * 8 / 100 + 500e3);
    fixture_free(&f);
}

// A rank that is cut off is lost alone: other ranks on its leaf are still reached.
static void test_rank_cut_off(void **state)
{
    (void)state;
    const struct fault_spec fault = down_at("rank4", 100 * PS_PER_US, 10 * PS_PER_US);
    fabric(2, &fault);
    to_other_leaf();
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_int_equal(f.result->summary.failed, 1);
    for (size_t i = 0; i < f.result->n_flows; i++)
        assert_int_equal(f.result->flows[i].status,
                         f.result->flows[i].dst == 4 ? MESSAGE_FAILED : MESSAGE_DONE);
    fixture_free(&f);
}

// PFC frames are lost only if the fault requests it.
static void test_pfc_frames_are_exempt(void **state)
{
    (void)state;
    uint64_t lost[2];
    for (int hits = 0; hits < 2; hits++) {
        struct fault_spec fault = fixture_fault("rank0");
        fault.loss = 1;
        fault.pfc = hits;
        struct packet pfc = {.kind = PACKET_PFC, .frame_bytes = 64};
        struct fault link = {.loss = fault.loss, .hits_pfc = fault.pfc};
        enum drop_reason reason = DROP_REASONS;
        lost[hits] = fault_hits(&link, &pfc, &no_meta, 0, &reason);
        assert_int_equal(reason, hits ? DROP_LINK_LOSS : DROP_REASONS);
        assert_int_equal(link.pfc_frames, lost[hits]);
    }
    assert_int_equal(lost[0], 0);
    assert_int_equal(lost[1], 1);
    // A failed link loses all packets, including those sent before the failure that have not
    // arrived.
    struct fault link = {.down = true};
    struct packet pfc = {.kind = PACKET_PFC};
    enum drop_reason reason;
    assert_true(fault_hits(&link, &pfc, &no_meta, 5, &reason));
    assert_int_equal(reason, DROP_LINK_DOWN);
    link = (struct fault){.up_since_ps = 10};
    assert_true(fault_hits(&link, &pfc, &no_meta, 9, &reason));
    assert_false(fault_hits(&link, &pfc, &no_meta, 10, &reason));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_reduce_survives_a_spine_link),
        cmocka_unit_test(test_unnoticed_failure_fails_flows),
        cmocka_unit_test(test_repair),
        cmocka_unit_test(test_rank_cut_off),
        cmocka_unit_test(test_pfc_frames_are_exempt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
