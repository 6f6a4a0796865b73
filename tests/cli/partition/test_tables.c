// SPDX-License-Identifier: MIT
// Placements of tables: the closed form by hand, all placements of few tables, many random ones.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/partition/tables.h"

#define TABLES 40
#define SETS 200

static uint64_t next(uint64_t *state) // xorshift
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Columns are powers of two and poolings far apart, as in production models.
static void fill(struct table_load *tables, uint32_t n, uint64_t *random)
{
    for (uint32_t t = 0; t < n; t++) {
        double dim = (double)(UINT64_C(4) << next(random) % 6);
        tables[t] = (struct table_load){.lookups = dim * (double)(1 + next(random) % 100),
                                        .vectors = dim,
                                        .memory_bytes = dim * (double)(next(random) % 1000)};
    }
}

static void test_random_sets(void **state)
{
    (void)state;
    uint64_t random = 2685821657736338717u;
    for (unsigned i = 0; i < SETS; i++) {
        struct table_load tables[TABLES];
        uint32_t rank[TABLES], equal[TABLES], n = 1 + (uint32_t)(next(&random) % TABLES),
                                              ranks = 1 + (uint32_t)(next(&random) % 12);
        struct table_set s = {.tables = tables, .n = n, .lookup_ps = 1, .vector_ps = i % 40};
        fill(tables, n, &random);
        tables_equal(n, ranks, equal);
        double cost = tables_place(&s, ranks, rank);
        assert_true(cost <= tables_cost(&s, ranks, equal));
        assert_true(fabs(tables_cost(&s, ranks, rank) - cost) <= 1e-9 * cost);
        double all = 0, longest = 0;
        for (uint32_t t = 0; t < n; t++) {
            double own = tables[t].lookups + s.vector_ps * tables[t].vectors;
            assert_true(rank[t] < ranks);
            all += own;
            longest = fmax(longest, own);
        }
        assert_true(cost >= fmax(all / ranks, longest) * (1 - 1e-9));
    }
}

// The least cost of all placements of six tables on three ranks.
static double least_of_all(const struct table_set *s)
{
    double best = INFINITY;
    for (uint32_t code = 0; code < 729; code++) {
        uint32_t rank[6], rest = code;
        for (uint32_t t = 0; t < 6; t++, rest /= 3)
            rank[t] = rest % 3;
        best = fmin(best, tables_cost(s, 3, rank));
    }
    return best;
}

// A local search need not find the best, but it does so nearly always where there are few tables.
static void test_all_placements(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    unsigned best = 0;
    for (unsigned i = 0; i < 100; i++) {
        struct table_load tables[6];
        uint32_t rank[6];
        struct table_set s = {.tables = tables, .n = 6, .lookup_ps = 1, .vector_ps = 20};
        fill(tables, 6, &random);
        double cost = tables_place(&s, 3, rank), least = least_of_all(&s);
        assert_true(cost >= least * (1 - 1e-9) && cost <= least * 1.2);
        best += cost <= least * (1 + 1e-9);
    }
    assert_true(best >= 90);
}

// By hand: the two wide tables and the two with many lookups are on a rank each; memory for one
// wide table only forces them apart.
static void test_closed_form(void **state)
{
    (void)state;
    const struct table_load tables[] = {{100, 1, 10}, {100, 1, 10}, {8, 8, 60}, {8, 8, 60}};
    const uint32_t count[] = {0, 0, 1, 1};
    uint32_t rank[4];
    struct table_set s = {.tables = tables, .n = 4, .lookup_ps = 1, .vector_ps = 10};
    assert_true(fabs(tables_cost(&s, 2, count) - (200 + 160)) < 1e-9);
    assert_true(fabs(tables_place(&s, 2, rank) - (108 + 90)) < 1e-9);
    assert_true(rank[0] != rank[1] && rank[2] != rank[3]);
    s.capacity_bytes = 70;
    assert_true(isinf(tables_cost(&s, 2, count)));
    assert_true(fabs(tables_place(&s, 2, rank) - (108 + 90)) < 1e-9);
    s.capacity_bytes = 59;
    assert_true(isinf(tables_place(&s, 2, rank)));
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_sets),
        cmocka_unit_test(test_all_placements),
        cmocka_unit_test(test_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
