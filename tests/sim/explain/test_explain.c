// SPDX-License-Identifier: MIT
// Sentences made from counters: each with a run in which it must appear with the right content, and
// one in which it must not appear.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/fixture.h"

#define LINE UINT64_C(100000000000)

static struct fixture f;

static const char *sentence(const char *start)
{
    for (size_t i = 0; i < f.result->n_explain; i++)
        if (strncmp(f.result->explain[i], start, strlen(start)) == 0)
            return f.result->explain[i];
    return NULL;
}

static void assert_explained(const char *start, const char *words)
{
    const char *s = sentence(start);
    if (!s || !strstr(s, words))
        fail_msg("\"%s...\" should say \"%s\": %s", start, words, s ? s : "(nothing)");
}

static void fabric(uint32_t ranks, uint32_t spines, uint64_t buffer)
{
    const struct link_spec link = {.rate_bps = LINE, .delay_ps = PS_PER_US};
    fixture_leaf_spine(&f, ranks, 4, spines, link, link);
    roce_spec_of(&f.spec.dims[0].transport)->mtu_bytes = 1000;
    f.spec.dims[0].sw.buffer_bytes = buffer;
}

// A fabric with a victim: rank3 is paused because of a link that its flow does not use.
static void victim(uint64_t buffer)
{
    static const uint32_t pairs[6][2] = {{0, 8}, {1, 8}, {2, 8}, {4, 8}, {5, 8}, {3, 6}};
    fabric(12, 1, buffer);
    for (unsigned i = 0; i < 6; i++)
        fixture_flow(&f, pairs[i][0], pairs[i][1], 2000000, 0);
    fixture_run(&f);
}

static void test_congestion_tree(void **state)
{
    (void)state;
    victim(4000000);
    assert_explained("PFC began at spine0->leaf2",
                     "stopped 8 ports (6 of NICs), up to 2 hops away");
    assert_explained("victims of spine0->leaf2:", "stopped 1 flow that does not use it");
    assert_explained("PFC:", "XOFF");
    assert_null(sentence("no PFC"));
    fixture_free(&f);
    victim(400000000);
    assert_null(sentence("PFC"));
    assert_null(sentence("victims"));
    assert_explained("no PFC: the fullest ingress held", "PFC starts at");
    fixture_free(&f);
}

static void test_busiest_links(void **state)
{
    (void)state;
    fabric(8, 1, 32000000);
    fixture_flow(&f, 0, 4, 1000000, 0);
    fixture_run(&f);
    assert_explained("busiest links:", "rank0->leaf0");
    assert_explained("busiest links:", "of the bytes of all links");
    fixture_free(&f);
    fabric(8, 1, 32000000);
    fixture_flow(&f, 0, 4, 1000000, PS_PER_MS);
    f.spec.duration_ps = PS_PER_US; // nothing has been sent
    fixture_run(&f);
    assert_null(sentence("busiest link"));
    fixture_free(&f);
}

// Four flows use one of four equal ports, by their routes; with spraying they use all of them
// equally. One flow alone cannot use several ports, so nothing is said.
static void test_imbalance(void **state)
{
    (void)state;
    for (unsigned run = 0; run < 3; run++) {
        fabric(8, 4, 32000000);
        struct dim_spec *dim = &f.spec.dims[0];
        dim->sw.routing.kind = run == 1 ? ROUTING_SPRAY : ROUTING_STATIC;
        roce_spec_of(&dim->transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
        roce_spec_of(&dim->transport)->reorder_packets = 1000;
        for (unsigned i = 0; i < (run == 2 ? 1 : 4); i++)
            fixture_flow(&f, i, 4, 4000000, 0);
        fixture_run(&f);
        if (run > 0)
            assert_null(sentence("uneven paths"));
        else
            assert_explained("uneven paths: of the 4 equal ports of leaf", "4.00 times the mean");
        fixture_free(&f);
    }
}

static void test_drops(void **state)
{
    (void)state;
    for (int pfc = 0; pfc < 2; pfc++) {
        fabric(8, 1, 4000000);
        f.spec.dims[0].sw.pfc.enabled = pfc;
        for (unsigned i = 0; i < 4; i++)
            fixture_flow(&f, i, 4, 4000000, 0);
        f.spec.dims[0].sw.lossy_alpha = 0.1;
        roce_spec_of(&f.spec.dims[0].transport)->rto_ps = PS_PER_MS;
        fixture_run(&f);
        if (pfc) {
            assert_null(sentence("most drops"));
        } else {
            assert_explained("most drops:", "leaf0->spine0");
        }
        fixture_free(&f);
    }
}

// Two equal dimensions of 4 x 4; bandwidth-aware, the inner one has four times the bytes.
static void over_dims(uint64_t chunks)
{
    static const char *const rings[] = {"ring", "ring"};
    fixture_switch(&f, 4, LINE, PS_PER_US);
    f.spec.dims[1] = f.spec.dims[0];
    f.spec.n_dims = 2;
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 16000000, chunks);
    fixture_dims(&f, 2, (uint32_t[]){4, 4}, rings);
    f.collectives[0].schedule.phases = COLL_BANDWIDTH_AWARE;
}

static void test_bounding_dimension(void **state)
{
    (void)state;
    over_dims(8);
    fixture_run(&f);
    assert_explained("coll:", "dimension 0 is the bottleneck, in use ");
    fixture_free(&f);
    over_dims(1);
    f.spec.dims[1].links[0].rate_bps = LINE / 4; // as long as the other
    fixture_run(&f);
    assert_explained("coll:", "no dimension was in use more than");
    fixture_free(&f);
    fixture_switch(&f, 4, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 16000000, 8);
    fixture_run(&f);
    assert_null(sentence("coll:"));
    fixture_free(&f);
}

// A run that ends in the middle of a collective reports what its ranks wait for.
static void test_unfinished_collective(void **state)
{
    (void)state;
    over_dims(8);
    f.spec.limits.sim_time_ps = 100 * PS_PER_US;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_true(f.result->n_waiting > 0);
    assert_non_null(
        strstr(f.result->waiting[0], "collective coll: 0 of 16 ranks are done; a phase"));
    fixture_free(&f);
}

// ---- sentences from the critical path ----

// Eight flows into one rank under a policy.
static void incast(const char *policy, const char *preset, uint64_t buffer)
{
    fixture_switch(&f, 9, LINE, PS_PER_US);
    f.spec.dims[0].sw.buffer_bytes = buffer;
    if (policy)
        fixture_cc(&f, policy, preset, NULL);
    for (unsigned i = 0; i < 8; i++)
        fixture_flow(&f, i, 8, 1000000, 0);
    fixture_run(&f);
}

static void test_time(void **state)
{
    (void)state;
    incast(NULL, NULL, 32000000);
    assert_string_equal(f.result->explain[0], sentence("99 % of the time is bytes over NICs"));
    assert_string_equal(f.result->explain[1], sentence("the last flow, rank"));
    assert_explained("the last flow, rank", "transmitting");
    assert_explained("bottleneck: dim0.sw0->rank8", "no policy can take less than 6");
    fixture_free(&f);
    incast(NULL, NULL, 32000000);
    assert_null(sentence("job "));
    fixture_free(&f);
    fixture_switch(&f, 9, LINE, PS_PER_US);
    fixture_flow(&f, 0, 8, 1000, 0); // one packet: no link is busy for most of the time
    fixture_run(&f);
    assert_null(sentence("bottleneck"));
    fixture_free(&f);
    fixture_switch(&f, 9, LINE, PS_PER_US);
    fixture_flow(&f, 0, 8, 1000, 0);
    f.spec.duration_ps = PS_PER_NS; // nothing has ended
    fixture_run(&f);
    assert_null(sentence("the last flow"));
    fixture_free(&f);
}

static void test_cuts(void **state)
{
    (void)state;
    incast("dcqcn", "paper", 2000000);
    assert_explained("dcqcn cut rank", "->rank8");
    assert_explained("dcqcn cut rank", "with no policy: not tried");
    assert_explained("dcqcn cut rank", "recovering to the line rate");
    fixture_free(&f);
    incast("dcqcn", "paper", 400000000);
    fixture_free(&f);
    fixture_switch(&f, 9, LINE, PS_PER_US);
    fixture_cc(&f, "dcqcn", "paper", NULL);
    fixture_flow(&f, 0, 8, 1000000, 0); // alone: no queue, no mark, no cut
    fixture_run(&f);
    assert_null(sentence("dcqcn cut"));
    assert_explained("dcqcn never acted", "marking starts at");
    fixture_free(&f);
}

// A window of a quarter of bandwidth times RTT, and one of twice as much.
static void test_window(void **state)
{
    (void)state;
    for (unsigned large = 0; large < 2; large++) {
        fixture_switch(&f, 2, LINE, 10 * PS_PER_US);
        fixture_cc(&f, "window", NULL, large ? "k=2" : "k=0.25", NULL);
        fixture_flow(&f, 0, 1, 4000000, 0);
        fixture_run(&f);
        if (large)
            assert_null(sentence("rank0->rank1 waited"));
        else
            assert_explained("rank0->rank1 waited", "with a window that fills it: not tried");
        fixture_free(&f);
    }
}

static void test_timeouts(void **state)
{
    (void)state;
    for (unsigned lossy = 0; lossy < 2; lossy++) {
        fixture_switch(&f, 3, LINE, PS_PER_US);
        fixture_flow(&f, 0, 1, 100000, 0);
        if (lossy) {
            f.faults[0] = fixture_fault("dim0.sw0->rank1");
            f.faults[0].down_ps =
                5 * PS_PER_US; // also the last packets are lost, so there is no NAK
            f.faults[0].up_ps = 50 * PS_PER_US;
            f.spec.faults = f.faults;
            f.spec.n_faults = 1;
        }
        fixture_run(&f);
        if (lossy)
            assert_explained("flows on the path waited", "for retransmission timers");
        else
            assert_null(sentence("flows on the path waited"));
        fixture_free(&f);
    }
}

// A message uses one of four planes, unless it is split over all.
static void test_planes(void **state)
{
    (void)state;
    for (unsigned split = 0; split < 2; split++) {
        fixture_switch(&f, 4, LINE, PS_PER_US);
        *(uint64_t *)(void *)f.spec.dims[0].params = 4;
        f.spec.dims[0].transport.stripe = split;
        fixture_flow(&f, 0, 1, 1000000, 0);
        fixture_run(&f);
        if (!split)
            assert_explained("idle planes:", "2 of their 8 ports in dimension 0");
        else
            assert_null(sentence("idle planes"));
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_congestion_tree),
        cmocka_unit_test(test_busiest_links),
        cmocka_unit_test(test_imbalance),
        cmocka_unit_test(test_drops),
        cmocka_unit_test(test_bounding_dimension),
        cmocka_unit_test(test_unfinished_collective),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_window),
        cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
