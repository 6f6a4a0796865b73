// SPDX-License-Identifier: MIT
// Cuts of networks into shards: what stays together, balance, and the length of windows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "sim/parallel/parallel.h"
#include "tests/support/fixture.h"

static const struct link_spec fast = {.rate_bps = 100000000000, .delay_ps = PS_PER_US};
static const struct link_spec slow = {.rate_bps = 100000000000, .delay_ps = 5 * PS_PER_US};

static struct cut_result cut(struct fixture *f, uint32_t n, uint16_t *shard_of)
{
    struct err err = {0};
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err);
    return parallel_cut(&f->sim->fabric, n, n, shard_of);
}

// Least delay of a link between two shards, and the largest share of link rates in a shard.
static ps_t least_delay(const struct graph *g, const uint16_t *shard_of, uint32_t n,
                        double *largest)
{
    double loads[SHARDS_MAX] = {0}, sum = 0;
    ps_t least = PS_NEVER;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        uint32_t here = shard_of[g->ports[p].node];
        assert_true(here < n);
        loads[here] += (double)g->ports[p].rate_bps;
        sum += (double)g->ports[p].rate_bps;
        if (here != shard_of[g->ports[g->ports[p].peer].node] && g->ports[p].delay_ps < least)
            least = g->ports[p].delay_ps;
    }
    *largest = 0;
    for (uint32_t i = 0; i < n; i++)
        *largest = loads[i] * n / sum > *largest ? loads[i] * n / sum : *largest;
    return least;
}

// Leaves stay with their ranks; windows are as long as the trunks' delay and a frame.
static void test_leaf_spine(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 8; n *= 2) {
        struct fixture *f = calloc(1, sizeof *f);
        uint16_t shard_of[200];
        fixture_leaf_spine(f, 64, 8, 8, fast, slow);
        fixture_flow(f, 0, 63, 1000, 0);
        struct cut_result r = cut(f, n, shard_of);
        double largest;
        assert_int_equal(r.shards, n);
        assert_true(least_delay(&f->sim->fabric.graph, shard_of, n, &largest) == slow.delay_ps);
        assert_true(largest < 1.02);
        assert_true(r.lookahead_ps > slow.delay_ps && r.lookahead_ps < slow.delay_ps + 10000);
        assert_int_equal(r.longer, 0);
        for (uint32_t rank = 0; rank < 64; rank++)
            assert_int_equal(shard_of[rank], shard_of[rank / 8 * 8]);
        fixture_free(f);
        free(f);
    }
}

// More shards than leaves: links of ranks are cut, and the result says what that costs.
static void test_more_parts_than_leaves(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    uint16_t shard_of[200];
    (void)state;
    fixture_leaf_spine(f, 8, 4, 2, fast, slow);
    fixture_flow(f, 0, 7, 1000, 0);
    struct cut_result r = cut(f, 4, shard_of);
    double largest;
    assert_int_equal(r.shards, 4);
    assert_true(least_delay(&f->sim->fabric.graph, shard_of, 4, &largest) == fast.delay_ps);
    assert_true(r.lookahead_ps < slow.delay_ps);
    fixture_free(f);
    free(f);
}

// Without delays between them nodes are not divided.
static void test_no_delay(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    uint16_t shard_of[200];
    (void)state;
    fixture_switch(f, 8, 100000000000, 0);
    f->spec.dims[0].links[0].delay_ps = 0;
    fixture_flow(f, 0, 7, 1000, 0);
    struct cut_result r = cut(f, 4, shard_of);
    assert_int_equal(r.shards, 1);
    fixture_free(f);
    free(f);
}

// Ranks that share the cores of a host are not divided.
static void test_hosts(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    uint16_t shard_of[200];
    (void)state;
    fixture_switch(f, 12, 100000000000, PS_PER_US);
    f->spec.host = (struct host_spec){.given = true, .ranks = 3, .cores = 1};
    fixture_flow(f, 0, 11, 1000, 0);
    struct cut_result r = cut(f, 8, shard_of);
    assert_true(r.shards > 1 && r.shards <= 5); // four hosts and the switch
    for (uint32_t rank = 0; rank < 12; rank++)
        assert_int_equal(shard_of[rank], shard_of[rank / 3 * 3]);
    fixture_free(f);
    free(f);
}

// Credit returns after the delay of the link, without the transmission of a packet.
static void test_credits(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    uint16_t shard_of[200];
    (void)state;
    fixture_leaf_spine(f, 64, 8, 8, fast, slow);
    f->spec.dims[0].sw.flow_control = FLOW_CONTROL_CREDIT;
    fixture_flow(f, 0, 63, 1000, 0);
    struct cut_result r = cut(f, 4, shard_of);
    assert_int_equal(r.shards, 4);
    assert_true(r.lookahead_ps == slow.delay_ps);
    fixture_free(f);
    free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_leaf_spine),
                                       cmocka_unit_test(test_hosts), cmocka_unit_test(test_credits),
                                       cmocka_unit_test(test_more_parts_than_leaves),
                                       cmocka_unit_test(test_no_delay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
