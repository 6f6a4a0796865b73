// SPDX-License-Identifier: MIT
// Cuts of chains against all cuts there are.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/partition/chain.h"

#define ITEMS 10
#define CHAINS 400

static uint64_t next(uint64_t *state) // xorshift
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// The least cost of all cuts: a bit set has the items behind which the chain is cut.
static double least_of_all(const struct chain *c, uint32_t parts)
{
    double best = INFINITY;
    for (uint32_t set = 0; set < UINT32_C(1) << (c->n - 1); set++) {
        uint32_t first[ITEMS + 1] = {0}, n = 1;
        for (uint32_t i = 0; i + 1 < c->n; i++)
            if ((set >> i & 1) != 0)
                first[n++] = i + 1;
        first[n] = c->n;
        if (n == parts)
            best = fmin(best, chain_cost(c, parts, first));
    }
    return best;
}

static void check_cut(const struct chain *c, uint32_t parts)
{
    uint32_t first[ITEMS + 1], equal[ITEMS + 1];
    double cost = chain_cut(c, parts, first);
    assert_int_equal(first[0], 0);
    assert_int_equal(first[parts], c->n);
    for (uint32_t k = 0; k < parts; k++)
        assert_true(first[k] < first[k + 1]);
    assert_true(fabs(chain_cost(c, parts, first) - cost) <= 1e-9 * cost);
    assert_true(fabs(least_of_all(c, parts) - cost) <= 1e-9 * cost);
    chain_equal(c->n, parts, equal);
    assert_true(cost <= chain_cost(c, parts, equal) * (1 + 1e-9));
}

// Numbers from a few values, so that many are equal or zero, and from many.
static void test_random_chains(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    for (unsigned i = 0; i < CHAINS; i++) {
        double work[ITEMS], boundary[ITEMS];
        uint64_t values = i % 2 == 0 ? 4 : 1000000;
        struct chain c = {
            .n = 1 + (uint32_t)(next(&random) % ITEMS), .work = work, .boundary = boundary};
        for (uint32_t k = 0; k < c.n; k++) {
            work[k] = (double)(next(&random) % values);
            boundary[k] = (double)(next(&random) % values) * (i % 3);
        }
        for (uint32_t parts = 1; parts <= c.n; parts++)
            check_cut(&c, parts);
    }
}

// An example by hand: two parts of equal work would have to be cut where the largest message is, so
// that the best cut is another one.
static void test_boundary(void **state)
{
    (void)state;
    const double work[] = {4, 4, 4, 4}, boundary[] = {1, 10, 3, 0}, none[4] = {0};
    struct chain c = {4, work, none};
    uint32_t first[3];
    assert_true(fabs(chain_cut(&c, 2, first) - 8) < 1e-9);
    assert_int_equal(first[1], 2);
    c.boundary = boundary;
    assert_true(fabs(chain_cut(&c, 2, first) - 13) < 1e-9);
    assert_int_equal(first[1], 1);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_chains),
        cmocka_unit_test(test_boundary),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
