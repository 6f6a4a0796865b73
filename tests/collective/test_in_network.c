// SPDX-License-Identifier: MIT
// Reduction by aggregators: every rank ends with the right vector, over trees of one and two
// levels, several trees, any window; and the bytes that ranks send and receive.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/reduction.h"
#include "tests/support/coll_machine.h"

#define RANKS 20
#define TREES 3
#define NODES (2 * RANKS + 1)

// Trees whose leaves hold `per_leaf` ranks each; one level if one leaf holds all.
struct forest {
    uint32_t parent[TREES][NODES], first[TREES][NODES], children[TREES][NODES];
    struct coll_tree trees[TREES];
    struct coll_place places[TREES * 2 * NODES];
    struct coll_reduction reduction;
};

static void list_children(struct forest *f, uint32_t t, uint32_t ranks, uint32_t aggregators)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < aggregators; a++) {
        f->first[t][a] = n;
        for (uint32_t node = 0; node < ranks + aggregators; node++)
            if (f->parent[t][node] == ranks + a)
                f->children[t][n++] = node;
    }
    f->first[t][aggregators] = n;
}

static void plant(struct forest *f, uint32_t ranks, uint32_t per_leaf, uint32_t trees)
{
    uint32_t leaves = (ranks + per_leaf - 1) / per_leaf, aggregators = leaves > 1 ? leaves + 1 : 1;
    f->reduction = (struct coll_reduction){.n_ranks = ranks,
                                           .n_trees = trees,
                                           .n_members = ranks,
                                           .trees = f->trees,
                                           .places = f->places};
    for (uint32_t t = 0; t < trees; t++) {
        for (uint32_t r = 0; r < ranks; r++)
            f->parent[t][r] = leaves > 1 ? ranks + 1 + (r + t) % ranks / per_leaf : ranks;
        for (uint32_t a = 0; a < aggregators; a++)
            f->parent[t][ranks + a] = a > 0 ? ranks : COLL_NO_PARENT;
        list_children(f, t, ranks, aggregators);
        f->trees[t] = (struct coll_tree){.n_aggregators = aggregators,
                                         .first_member = f->reduction.n_members,
                                         .parent = f->parent[t],
                                         .first = f->first[t],
                                         .children = f->children[t]};
        for (uint32_t i = 0; i < 2 * aggregators; i++)
            f->places[f->reduction.n_members - ranks + i] =
                (struct coll_place){.tree = t, .node = ranks + i / 2, .down = i % 2};
        f->reduction.n_members += 2 * aggregators;
    }
}

static const enum coll_op ops[] = {COLL_ALL_REDUCE,     COLL_REDUCE,     COLL_BROADCAST,
                                   COLL_REDUCE_SCATTER, COLL_ALL_GATHER, COLL_BARRIER};

static void check_all(struct forest *f, uint32_t ranks, uint64_t window)
{
    static const uint64_t sizes[] = {0, 1, 13, 97, 700};
    struct coll_in_network_params params = {.segment_bytes = 16};
    f->reduction.buffer_bytes = window * coll_slot_bytes(16);
    for (size_t o = 0; o < sizeof ops / sizeof *ops; o++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            struct coll_shape shape = {.op = ops[o],
                                       .ranks = ranks,
                                       .bytes = sizes[i],
                                       .root = ranks / 2,
                                       .params = &params,
                                       .reduction = &f->reduction};
            coll_machine_check(coll_find("in_network"), &shape);
        }
}

static void test_results(void **state)
{
    (void)state;
    struct forest *f = calloc(1, sizeof *f);
    assert_non_null(f);
    for (uint32_t ranks = 2; ranks <= RANKS; ranks += ranks < 6 ? 1 : 7)
        for (uint32_t trees = 1; trees <= TREES; trees++)
            for (uint64_t window = 1; window <= 100; window = window * 6 + 1) {
                plant(f, ranks, 3, trees);
                check_all(f, ranks, window);
                plant(f, ranks, RANKS, trees);
                check_all(f, ranks, window);
            }
    free(f);
}

// What a rank of an all-reduce sends: n, against 2 (p-1)/p n by a ring. The tree's other hops:
// every leaf sends n to the root, the root to every leaf, and every leaf n to each of its ranks.
static void test_volumes(void **state)
{
    (void)state;
    const struct coll_algorithm *a = coll_find("in_network"), *ring = coll_find("ring");
    struct forest *f = calloc(1, sizeof *f);
    assert_non_null(f);
    plant(f, 16, 4, 1);
    f->reduction.buffer_bytes = 1000;
    struct coll_in_network_params params = {.segment_bytes = 50};
    struct coll_shape shape = {.op = COLL_ALL_REDUCE,
                               .ranks = 16,
                               .bytes = 1600,
                               .params = &params,
                               .reduction = &f->reduction};
    for (uint32_t rank = 0; rank < 16; rank++) {
        assert_int_equal(coll_bytes_sent(a, &shape, rank), 1600);
        struct coll_shape around = {.op = COLL_ALL_REDUCE, .ranks = 16, .bytes = 1600};
        assert_int_equal(coll_bytes_sent(ring, &around, rank), 2 * 1500);
    }
    uint64_t sum = 0;
    for (uint32_t m = 16; m < coll_members(a, &shape); m++)
        sum += coll_bytes_sent(a, &shape, m);
    assert_int_equal(sum, (4 + 4 + 16) * 1600);
    shape.op = COLL_ALL_GATHER;
    assert_int_equal(coll_bytes_sent(a, &shape, 3), 100);
    shape.op = COLL_REDUCE_SCATTER;
    assert_int_equal(coll_bytes_sent(a, &shape, 3), 1600);
    shape.op = COLL_BROADCAST;
    shape.root = 3;
    assert_int_equal(coll_bytes_sent(a, &shape, 3), 1600);
    assert_int_equal(coll_bytes_sent(a, &shape, 4), 0);
    free(f);
}

// The window is what the buffer holds at two places a segment, in every tree.
static void test_window(void **state)
{
    (void)state;
    struct forest *f = calloc(1, sizeof *f);
    assert_non_null(f);
    plant(f, 4, 4, 2);
    struct coll_in_network_params params = {.segment_bytes = 100};
    struct coll_shape shape = {.op = COLL_ALL_REDUCE,
                               .ranks = 4,
                               .bytes = 10000,
                               .params = &params,
                               .reduction = &f->reduction};
    f->reduction.buffer_bytes = 799; // three segments of 100 bytes, twice
    struct coll_segments s = coll_reduction_segments(&shape);
    assert_int_equal(s.n, 100);
    assert_int_equal(s.largest_bytes, 100);
    assert_int_equal(s.window, 2 * 3);
    assert_int_equal(coll_find("in_network")->steps(&shape), 100 + 6 - 1);
    f->reduction.buffer_bytes = UINT64_C(1) << 40;
    assert_int_equal(coll_reduction_segments(&shape).window, 100);
    shape.bytes = 101; // two segments of 51 and 50 bytes
    assert_int_equal(coll_reduction_segments(&shape).n, 2);
    assert_int_equal(coll_reduction_segments(&shape).largest_bytes, 51);
    const char *why = NULL;
    shape.bytes = UINT64_C(100) << 19;
    assert_true(coll_find("in_network")->supports(&shape, &why));
    shape.bytes++;
    assert_false(coll_find("in_network")->supports(&shape, &why));
    assert_non_null(why);
    free(f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
