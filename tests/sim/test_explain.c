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
    assert_explained("congestion tree:", "spine0->leaf2");
    assert_explained("congestion tree:", "paused 8 ports, 6 of them NICs, up to 2 hops away");
    assert_explained("congestion tree:", "1 flows that do not use it were held up");
    assert_explained("PFC paused:", "XOFF");
    assert_null(sentence("no pauses"));
    fixture_free(&f);
    victim(400000000);
    assert_null(sentence("congestion tree"));
    assert_null(sentence("PFC paused"));
    assert_explained("no pauses: max queue", "XOFF never fell below");
    fixture_free(&f);
}

static void test_busiest_links(void **state)
{
    (void)state;
    fabric(8, 1, 32000000);
    fixture_flow(&f, 0, 4, 1000000, 0);
    fixture_run(&f);
    assert_explained("busiest links:", "rank0->leaf0");
    assert_explained("busiest links:", "of all bytes on links");
    fixture_free(&f);
    fabric(8, 1, 32000000);
    fixture_flow(&f, 0, 4, 1000000, PS_PER_MS);
    f.spec.duration_ps = PS_PER_US; // nothing has been sent
    fixture_run(&f);
    assert_null(sentence("busiest link"));
    fixture_free(&f);
}

// One flow uses one of four equal ports; with spraying it uses all of them equally.
static void test_imbalance(void **state)
{
    (void)state;
    for (int sprayed = 0; sprayed < 2; sprayed++) {
        fabric(8, 4, 32000000);
        struct dim_spec *dim = &f.spec.dims[0];
        dim->sw.routing.kind = sprayed ? ROUTING_SPRAY : ROUTING_ECMP;
        roce_spec_of(&dim->transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
        roce_spec_of(&dim->transport)->reorder_packets = 1000;
        fixture_flow(&f, 0, 4, 4000000, 0);
        fixture_run(&f);
        if (sprayed)
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
            assert_explained("no pauses: PFC is off", "dropped");
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
    assert_explained("collective coll:", "dimension 0 bounds it, busy ");
    fixture_free(&f);
    over_dims(1);
    f.spec.dims[1].links[0].rate_bps = LINE / 4; // as long as the other
    fixture_run(&f);
    assert_explained("collective coll:", "no dimension was busy more than");
    fixture_free(&f);
    fixture_switch(&f, 4, LINE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 16000000, 8);
    fixture_run(&f);
    assert_null(sentence("collective"));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_congestion_tree),    cmocka_unit_test(test_busiest_links),
        cmocka_unit_test(test_imbalance),          cmocka_unit_test(test_drops),
        cmocka_unit_test(test_bounding_dimension), cmocka_unit_test(test_unfinished_collective),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
