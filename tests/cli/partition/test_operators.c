// SPDX-License-Identifier: MIT
// Divisions of operator graphs: the closed form, the equal split, METIS and what improves on it.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/partition/divide.h"
#include "cli/partition/operators.h"
#include "engine/base/memory.h"

#define GRAPHS 40

static uint64_t next(uint64_t *state) // xorshift
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// Edges lead from operators to later ones of a random numbering.
static struct operator_graph random_graph(uint64_t *random)
{
    struct operator_graph g = {.n = 2 + (uint32_t)(next(random) % 80), .byte_ps = 20};
    uint32_t *number = memory_zeroed(g.n, sizeof *number);
    g.nodes = memory_zeroed(g.n, sizeof *g.nodes);
    g.edges = memory_zeroed(4 * (size_t)g.n, sizeof *g.edges);
    for (uint32_t v = 0; v < g.n; v++) {
        uint32_t other = (uint32_t)(next(random) % (v + 1));
        number[v] = number[other];
        number[other] = v;
        g.nodes[v].time_ps = (double)(next(random) % 1000000);
        g.nodes[v].memory_bytes = (double)(next(random) % 1000);
    }
    for (uint32_t e = 0; e < 3 * g.n; e++) {
        uint32_t a = (uint32_t)(next(random) % g.n), b = (uint32_t)(next(random) % g.n);
        if (a == b)
            continue;
        g.edges[g.n_edges++] = (struct operator_edge){number[a < b ? a : b], number[a < b ? b : a],
                                                      (double)(next(random) % 20000)};
    }
    free(number);
    return g;
}

static void check_order(const struct operator_graph *g, const uint32_t *order)
{
    uint32_t *place = memory_zeroed(g->n, sizeof *place);
    for (uint32_t i = 0; i < g->n; i++)
        place[order[i]] = i;
    for (uint32_t e = 0; e < g->n_edges; e++)
        assert_true(place[g->edges[e].from] < place[g->edges[e].to]);
    free(place);
}

static void check_division(const struct operator_graph *g, uint32_t parts)
{
    uint32_t *order = memory_zeroed(g->n, sizeof *order), *part = memory_zeroed(g->n, sizeof *part),
             *again = memory_zeroed(g->n, sizeof *again);
    assert_int_equal(operator_order(g, order), g->n);
    check_order(g, order);
    operator_equal(g, order, parts, part);
    struct operator_cost equal = operator_cost(g, parts, part);
    assert_true(isfinite(equal.total_ps));
    struct operator_cost cost = operator_partition(g, order, parts, part);
    assert_true(cost.total_ps <= equal.total_ps);
    assert_true(fabs(operator_cost(g, parts, part).total_ps - cost.total_ps) <=
                1e-9 * cost.total_ps);
    for (uint32_t v = 0; v < g->n; v++)
        assert_true(part[v] < parts);
    operator_partition(g, order, parts, again);
    assert_memory_equal(part, again, g->n * sizeof *part);
    free(order);
    free(part);
    free(again);
}

static void test_random_graphs(void **state)
{
    (void)state;
    uint64_t random = 1181783497276652981u;
    for (unsigned i = 0; i < GRAPHS; i++) {
        struct operator_graph g = random_graph(&random);
        for (uint32_t parts = 1; parts <= g.n && parts <= 16; parts = 2 * parts + i % 2)
            check_division(&g, parts);
        operator_graph_free(&g);
    }
}

// Two groups of operators that exchange much among themselves and little with each other; they are
// listed alternately, so that an equal split in topological order cuts all.
static struct operator_graph two_groups(uint32_t n)
{
    struct operator_graph g = {.n = n, .byte_ps = 1};
    g.nodes = memory_zeroed(n, sizeof *g.nodes);
    g.edges = memory_zeroed(2 * (size_t)n, sizeof *g.edges);
    for (uint32_t v = 0; v < n; v++) {
        g.nodes[v] = (struct operator_node){.time_ps = 1000, .memory_bytes = 10};
        if (v >= 2)
            g.edges[g.n_edges++] = (struct operator_edge){v - 2, v, 5000};
    }
    g.edges[g.n_edges++] = (struct operator_edge){0, n - 1, 1};
    return g;
}

static void test_groups(void **state)
{
    (void)state;
    struct operator_graph g = two_groups(40);
    uint32_t order[40], part[40];
    assert_true(divide_by_metis(&g, 2, false, 1, part));
    struct operator_cost cost = operator_cost(&g, 2, part); // METIS alone, without improvement
    assert_true(fabs(cost.longest_ps - 20000) < 1e-6 && fabs(cost.cut_bytes - 1) < 1e-6);
    assert_int_equal(operator_order(&g, order), 40);
    operator_equal(&g, order, 2, part);
    assert_true(operator_cost(&g, 2, part).cut_bytes >= 10000);
    assert_true(fabs(operator_partition(&g, order, 2, part).total_ps - 20001) < 1e-6);
    operator_graph_free(&g);
}

// By hand: memory that does not suffice, ranks without an operator, a cycle.
static void test_closed_form(void **state)
{
    (void)state;
    struct operator_graph g = two_groups(4);
    const uint32_t halves[] = {0, 0, 1, 1}, one[] = {0, 0, 0, 0};
    uint32_t order[4], part[4];
    struct operator_cost cost = operator_cost(&g, 2, halves);
    // edges 0-2, 1-3 of 5000 bytes and 0-3 of 1 are cut
    assert_true(fabs(cost.total_ps - (2000 + 10001)) < 1e-6);
    assert_true(fabs(cost.memory_bytes - 20) < 1e-6);
    assert_true(isinf(operator_cost(&g, 2, one).total_ps));
    g.capacity_bytes = 19;
    assert_true(isinf(operator_cost(&g, 2, halves).total_ps));
    assert_int_equal(operator_order(&g, order), 4);
    assert_true(isinf(operator_partition(&g, order, 2, part).total_ps));
    assert_true(isfinite(operator_partition(&g, order, 4, part).total_ps));
    g.edges[g.n_edges - 1] = (struct operator_edge){2, 0, 1};
    assert_int_equal(operator_order(&g, order), 2);
    operator_graph_free(&g);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_graphs),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_closed_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
