// SPDX-License-Identifier: MIT
// Tree collectives: results, steps and bytes of the binomial tree and of the pipeline.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static uint32_t ones(uint32_t v) { return v == 0 ? 0 : v % 2 + ones(v / 2); }

// A segment passes as many edges as its node's number, counted from the root, has ones.
static uint64_t edge_bytes(const struct coll_shape *s)
{
    uint64_t total = 0;
    for (uint32_t v = 1; v < s->ranks; v++) {
        uint32_t rank = (s->root + v) % s->ranks;
        total += (coll_segment(s, rank + 1) - coll_segment(s, rank)) * ones(v);
    }
    return total;
}

static void check_costs(const struct coll_algorithm *tree, const struct coll_shape *s)
{
    uint32_t p = s->ranks, up = coll_machine_log2_up(p), down = 2 * up - 1; // with answers between
    const struct coll_tree_params *given = s->params;
    uint32_t pieces = given->pieces != PARAM_AUTO ? (uint32_t)given->pieces : 1;
    uint64_t once = (p - 1) * s->bytes;
    if (pieces > 1 && s->op != COLL_GATHER && s->op != COLL_SCATTER && s->op != COLL_BARRIER) {
        // The root above a binary tree of p - 1 nodes: as many levels as p has bits below.
        uint32_t height = coll_machine_log2_up(p);
        assert_int_equal(tree->steps(s), height * (s->op == COLL_ALL_REDUCE ? 2 : 1) + pieces - 1);
        assert_int_equal(coll_machine_total(tree, s), s->op == COLL_ALL_REDUCE ? 2 * once : once);
        // One vector up, two down at most.
        for (uint32_t rank = 0; rank < p; rank++)
            assert_true(coll_bytes_sent(tree, s, rank) <= 3 * s->bytes);
        return;
    }
    const struct {
        uint32_t steps;
        uint64_t bytes;
    } theory[COLL_OPS] = {
        [COLL_ALL_REDUCE] = {up + down, 2 * once},
        [COLL_BROADCAST] = {down, once},
        [COLL_REDUCE] = {up, once},
        [COLL_GATHER] = {up, edge_bytes(s)},
        [COLL_SCATTER] = {down, edge_bytes(s)},
        [COLL_BARRIER] = {2 * up, 0},
    };
    assert_int_equal(tree->steps(s), theory[s->op].steps);
    assert_int_equal(coll_machine_total(tree, s), theory[s->op].bytes);
    // One message at a time.
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t step = 0; step < tree->steps(s); step++)
            assert_true(tree->n_sends(s, rank, step) + tree->n_recvs(s, rank, step) <= 1);
}

static void test_every_operation(void **state)
{
    (void)state;
    const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_BROADCAST, COLL_REDUCE,
                                COLL_GATHER,     COLL_SCATTER,   COLL_BARRIER};
    const uint64_t pieces[] = {PARAM_AUTO, 1, 2, 5};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        for (size_t k = 0; k < 4; k++) {
            struct coll_tree_params given = {.pieces = pieces[k]};
            coll_machine_sweep(coll_find("tree"),
                               (struct coll_shape){.op = ops[i], .params = &given}, 17,
                               check_costs);
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
