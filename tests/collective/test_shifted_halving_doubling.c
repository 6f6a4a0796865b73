// SPDX-License-Identifier: MIT
// Shifted halving-doubling: results, costs, and one link of the loop per step.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static const struct {
    uint32_t servers, ranks_per_server, group;
} cases[] = {
    {1, 1, 1}, {2, 1, 1}, {16, 1, 1}, {1, 8, 1}, {2, 2, 1},  {2, 8, 1},
    {4, 2, 2}, {4, 8, 2}, {8, 4, 2},  {8, 8, 2}, {16, 2, 2}, {16, 4, 4},
};

static void check_costs(const struct coll_algorithm *a, const struct coll_shape *s)
{
    uint32_t p = s->ranks, ways = s->op == COLL_ALL_REDUCE ? 2 : 1;
    uint64_t total = ways * (p - 1) * s->bytes;
    assert_int_equal(a->steps(s), ways * coll_machine_log2_up(p));
    assert_int_equal(coll_machine_total(a, s), total);
    for (uint32_t rank = 0; s->bytes % p == 0 && rank < p; rank++)
        assert_int_equal(coll_bytes_sent(a, s, rank) * p, total);
}

static bool power_of_two(uint32_t n) { return n > 0 && (n & (n - 1)) == 0; }

// Distance on the ring of servers: the shorter way.
static uint32_t distance(uint32_t from, uint32_t to, uint32_t servers)
{
    uint32_t up = (to + servers - from) % servers;
    return up < servers - up ? up : servers - up;
}

// Each step is either within all servers or between servers; in the latter case partners are one
// link of the loop apart, and the ranks of a group use different distances.
static void check_links(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t group)
{
    uint32_t local = s->inner, servers = s->ranks / local, between = 0;
    for (uint32_t step = 0; step < a->steps(s); step++) {
        bool outside = a->send(s, 0, step, 0).peer >= local;
        between += outside;
        for (uint32_t first = 0; first < s->ranks; first += group) {
            uint32_t used = 0; // distances, which are powers of two
            for (uint32_t rank = first; rank < first + group; rank++) {
                assert_int_equal(a->n_sends(s, rank, step), 1);
                uint32_t peer = a->send(s, rank, step, 0).peer;
                uint32_t d = distance(rank / local, peer / local, servers);
                assert_int_equal(d > 0, outside);
                if (!outside)
                    continue;
                assert_int_equal(peer % local, rank % local);
                assert_true(power_of_two(d) && (used & d) == 0);
                if (rank % local >= group) { // the next group behaves as the first
                    peer = a->send(s, rank - group, step, 0).peer;
                    assert_int_equal(d, distance(rank / local, peer / local, servers));
                }
                used |= d;
            }
        }
    }
    uint32_t ways = s->op == COLL_ALL_REDUCE ? 2 : 1;
    assert_int_equal(between, ways * coll_machine_log2_up(servers));
}

static void test_every_operation(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("shifted_halving_doubling");
    const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t ranks = cases[i].servers * cases[i].ranks_per_server;
        const uint64_t sizes[] = {0, 1, 13, 97, 700, 16 * ranks};
        for (size_t k = 0; k < 3 * sizeof sizes / sizeof *sizes; k++) {
            struct coll_shape s = {.op = ops[k % 3],
                                   .ranks = ranks,
                                   .bytes = sizes[k / 3],
                                   .inner = cases[i].ranks_per_server};
            coll_machine_check(a, &s);
            check_costs(a, &s);
            check_links(a, &s, cases[i].group);
        }
    }
}

// 2^8 servers would suffice for groups of 8, but the group sizes are 4 and then 16.
static void test_groups_of_4_at_8_distances(void **state)
{
    (void)state;
    struct coll_shape s = {.op = COLL_ALL_REDUCE, .ranks = 256 * 8, .bytes = 4096, .inner = 8};
    check_links(coll_find("shifted_halving_doubling"), &s, 4);
}

static void test_what_it_needs(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("shifted_halving_doubling");
    const struct {
        uint32_t ranks, ranks_per_server;
        const char *why; // NULL = supported
    } needs[] = {
        {16, 0, NULL}, // one rank per server
        {16, 16, NULL},
        {24, 3, "ranks_per_server must be a power of two"},
        {16, 32, "ranks_per_server does not divide the ranks"},
        {24, 8, "the servers must be a power of two"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++) {
        struct coll_shape s = {
            .op = COLL_ALL_REDUCE, .ranks = needs[i].ranks, .inner = needs[i].ranks_per_server};
        const char *why = NULL;
        assert_int_equal(a->supports(&s, &why), needs[i].why == NULL);
        if (needs[i].why != NULL)
            assert_string_equal(why, needs[i].why);
        // The setting has the same effect, whatever the network's innermost dimension is.
        struct coll_shifted_params given = {.ranks_per_server = needs[i].ranks_per_server};
        s.inner = 5;
        s.params = &given;
        if (given.ranks_per_server > 0)
            assert_int_equal(a->supports(&s, &why), needs[i].why == NULL);
        given.ranks_per_server = PARAM_AUTO;
        assert_false(a->supports(&s, &why));
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_groups_of_4_at_8_distances),
        cmocka_unit_test(test_what_it_needs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
