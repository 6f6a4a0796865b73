// SPDX-License-Identifier: MIT
// What all algorithms share: names, segments, factors, and which operations each supports.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/schedule.h"

static const struct {
    const char *name, *ops; // a letter for each operation, in the order of enum coll_op
} support[] = {
    {"ring", "yyyyyyyyyy"},
    {"direct", "yyyyyyyyyy"},
    {"halving_doubling", "yyy------y"},
    {"tree", "y---yyyy-y"},
    {"double_binary_tree", "y---yy----"},
    {"bruck", "--yy-----y"},
    {"shifted_halving_doubling", "yyy-------"},
    {"in_network", "yyy-yy---y"},
    {"sparse_doubling", "y---------"},
    {"sparse_split", "y---------"},
};

static void test_every_algorithm_has_a_row(void **state)
{
    (void)state;
    size_t n = sizeof support / sizeof *support, found = 0;
    for (size_t a = 0; coll_registry[a] != NULL; a++) {
        size_t i = 0;
        while (i < n && strcmp(support[i].name, coll_registry[a]->name) != 0)
            i++;
        if (i == n)
            fail_msg("no row for %s", coll_registry[a]->name);
        assert_ptr_equal(coll_find(support[i].name), coll_registry[a]);
        found++;
    }
    assert_int_equal(found, n);
    assert_null(coll_find("rings"));
}

static void test_support_is_as_documented(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof support / sizeof *support; i++) {
        const struct coll_algorithm *a = coll_find(support[i].name);
        assert_non_null(a);
        for (unsigned op = 0; op < COLL_OPS; op++) {
            const char *why = NULL;
            struct coll_shape shape = {.op = (enum coll_op)op, .ranks = 8, .bytes = 100};
            assert_int_equal(a->supports(&shape, &why), support[i].ops[op] == 'y');
            assert_int_equal(why == NULL, support[i].ops[op] == 'y');
            shape.ranks = 1;
            if (a->supports(&shape, &why))
                assert_int_equal(a->steps(&shape), 0);
        }
    }
}

// The closed form of all bytes sent against their sum.
static void test_total_is_the_sum(void **state)
{
    unsigned closed = 0;
    (void)state;
    for (size_t a = 0; coll_registry[a] != NULL; a++)
        for (unsigned op = 0; op < COLL_OPS; op++)
            for (uint32_t ranks = 1; ranks <= 9; ranks++)
                for (uint64_t bytes = 0; bytes <= 1000; bytes += 37) {
                    struct coll_shape shape = {
                        .op = (enum coll_op)op, .ranks = ranks, .bytes = bytes, .root = ranks / 2};
                    const char *why;
                    if (!coll_registry[a]->total || !coll_registry[a]->supports(&shape, &why))
                        continue;
                    uint64_t sum = 0;
                    for (uint32_t r = 0; r < ranks; r++)
                        sum += coll_bytes_sent(coll_registry[a], &shape, r);
                    assert_int_equal(coll_bytes_of_all(coll_registry[a], &shape), sum);
                    closed += coll_registry[a]->total(&shape) != COLL_SUM;
                }
    assert_true(closed > 1000);
}

static void test_shapes_that_no_algorithm_takes(void **state)
{
    (void)state;
    const struct coll_shape wrong[] = {
        {.op = COLL_ALL_REDUCE, .ranks = 0},
        {.op = COLL_ALL_REDUCE, .ranks = COLL_MAX_RANKS + 1},
        {.op = COLL_BROADCAST, .ranks = 8, .root = 8},
        {.op = COLL_GATHER, .ranks = 8, .root = 100},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        for (const struct coll_algorithm *const *a = coll_registry; *a != NULL; a++) {
            const char *why = NULL;
            assert_false((*a)->supports(&wrong[i], &why));
            assert_non_null(why);
        }
    }
    // The root is ignored if the operation has none.
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 8, .root = 9};
    const char *why;
    assert_true(coll_find("tree")->supports(&shape, &why));
    // The longest programs stay below 2^20 steps.
    for (const struct coll_algorithm *const *a = coll_registry; *a != NULL; a++) {
        struct coll_choice choice = coll_choice_of(*a);
        coll_choice_set(&choice, "pieces", "65536");
        coll_choice_set(&choice, "in_flight", "1");
        for (unsigned op = 0; op < COLL_OPS; op++) {
            shape = (struct coll_shape){
                .op = (enum coll_op)op, .ranks = COLL_MAX_RANKS, .params = choice.params};
            if ((*a)->supports(&shape, &why))
                assert_true((*a)->steps(&shape) < 1u << 20);
        }
    }
}

// Settings fit into the struct, have defaults, and can be set by name in the algorithms that have
// them.
static void test_settings(void **state)
{
    (void)state;
    size_t n = 0;
    for (; coll_registry[n] != NULL; n++) {
        const struct coll_algorithm *a = coll_registry[n];
        assert_true(a->params_bytes <= COLL_PARAMS_BYTES);
        struct param_walk walk = params_walk(a->params, a->n_params);
        for (const struct param *param; (param = params_next(&walk)) != NULL;) {
            assert_non_null(param->def);
            assert_true(param->offset + param_size(param->type) <= a->params_bytes);
        }
    }
    assert_true(n <= COLL_ALGORITHMS_MAX);
    struct coll_choice ring = coll_choice_of(coll_find("ring"));
    const struct coll_ring_params *p = (const struct coll_ring_params *)(void *)ring.params;
    assert_int_equal(p->directions, 1);
    assert_true(p->pieces == PARAM_AUTO);
    assert_true(coll_choice_set(&ring, "pieces", "7"));
    assert_int_equal(p->pieces, 7);
    assert_int_equal(p->directions, 1);
    assert_false(coll_choice_set(&ring, "in_flight", "7"));
    struct coll_choice none = coll_choice_of(NULL);
    assert_false(coll_choice_set(&none, "pieces", "7"));
    assert_null(none.algorithm);
}

static void test_segments_and_factors(void **state)
{
    (void)state;
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 3, .bytes = 10};
    const uint64_t bounds[] = {0, 3, 6, 10};
    for (uint32_t i = 0; i <= 3; i++)
        assert_int_equal(coll_segment(&shape, i), bounds[i]);
    // 99999 * 10^15 exceeds 64 bits; floor(99999 * 10^15 / 100000) = 10^15 - 10^10.
    shape = (struct coll_shape){
        .op = COLL_ALL_REDUCE, .ranks = 100000, .bytes = UINT64_C(1000000000000000)};
    assert_int_equal(coll_segment(&shape, 99999), UINT64_C(999990000000000));

    assert_true(coll_bus_factor(COLL_ALL_REDUCE, 8) == 1.75);
    assert_true(coll_bus_factor(COLL_ALL_TO_ALL, 8) == 0.875);
    assert_true(coll_bus_factor(COLL_ALL_GATHER, 1) == 0);
    assert_true(coll_bus_factor(COLL_GATHER, 8) == 0.875);
    assert_true(coll_bus_factor(COLL_SCATTER, 8) == 0.875);
    assert_true(coll_bus_factor(COLL_BROADCAST, 8) == 1);
    assert_true(coll_bus_factor(COLL_REDUCE, 8) == 1);
    assert_true(coll_bus_factor(COLL_SEND_RECV, 8) == 1);
    assert_true(coll_bus_factor(COLL_BARRIER, 8) == 0);
    for (unsigned i = 0; i < COLL_OPS; i++) {
        enum coll_op op;
        assert_int_equal(coll_op_find(coll_op_name((enum coll_op)i), &op), 0);
        assert_int_equal(op, i);
    }
    enum coll_op op;
    assert_string_equal(coll_op_name(COLL_REDUCE_SCATTER), "reduce_scatter");
    assert_string_equal(coll_op_name(COLL_SEND_RECV), "send_recv");
    assert_int_equal(coll_op_find("allreduce", &op), -1);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_algorithm_has_a_row),
        cmocka_unit_test(test_support_is_as_documented),
        cmocka_unit_test(test_total_is_the_sum),
        cmocka_unit_test(test_shapes_that_no_algorithm_takes),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_segments_and_factors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
