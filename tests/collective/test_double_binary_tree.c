// SPDX-License-Identifier: MIT
// The double binary tree: results, steps and bytes; no rank is inner in both trees.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static uint32_t log2_down(uint32_t n)
{
    uint32_t log2 = 0;
    while (n >> (log2 + 1) != 0)
        log2++;
    return log2;
}

static void check_costs(const struct coll_algorithm *dbt, const struct coll_shape *s)
{
    const struct coll_double_tree_params *given = s->params;
    uint32_t p = s->ranks, pieces = given->pieces != PARAM_AUTO ? (uint32_t)given->pieces : 1;
    bool both = s->op == COLL_ALL_REDUCE;
    uint32_t height = both ? log2_down(p) : 1 + log2_down(p - 1);
    assert_int_equal(dbt->steps(s), height * (both ? 2 : 1) + pieces - 1);
    assert_int_equal(coll_machine_total(dbt, s), (p - 1) * s->bytes * (both ? 2 : 1));
    // Inner: two halves down, one up; leaf: one up. A half may be a byte longer than the other.
    for (uint32_t rank = 0; rank < p; rank++)
        assert_true(coll_bytes_sent(dbt, s, rank) <= s->bytes * (both ? 2 : 1) + 1);
}

// Downwards a rank, except a root above both trees, sends bytes of only one half; upwards, where
// sums show which ranks are inner nodes, it receives bytes of only one half.
static void check_inner(const struct coll_algorithm *dbt, const struct coll_shape *s)
{
    check_costs(dbt, s);
    uint32_t halves[64] = {0}; // [rank] bit set
    uint64_t middle = s->bytes / 2;
    for (uint32_t rank = 0; rank < s->ranks; rank++)
        for (uint32_t step = 0; step < dbt->steps(s); step++)
            for (uint32_t k = 0; k < dbt->n_sends(s, rank, step); k++) {
                struct coll_send send = dbt->send(s, rank, step, k);
                assert_true(send.src_offset + send.bytes <= middle || send.src_offset >= middle);
                if (send.bytes > 0)
                    halves[send.reduce ? send.peer : rank] |= send.src_offset < middle ? 1 : 2;
            }
    for (uint32_t rank = 0; rank < s->ranks; rank++)
        assert_true((coll_op_rooted(s->op) && rank == s->root) || halves[rank] != 3);
}

static void test_every_operation(void **state)
{
    (void)state;
    const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_BROADCAST, COLL_REDUCE};
    const uint64_t pieces[] = {PARAM_AUTO, 1, 2, 5};
    for (size_t i = 0; i < 3; i++)
        for (size_t k = 0; k < 4; k++) {
            struct coll_double_tree_params given = {.pieces = pieces[k]};
            coll_machine_sweep(coll_find("double_binary_tree"),
                               (struct coll_shape){.op = ops[i], .params = &given}, 17,
                               check_inner);
        }
}

// The pieces that NCCL's rule gives, worked out by hand: (bytes, ranks) to pieces of each half.
static void test_pieces_by_size(void **state)
{
    (void)state;
    static const struct {
        uint64_t bytes;
        uint32_t ranks, pieces;
    } cases[] = {
        {64 << 10, 16, 1},              // a half is the least piece
        {4000000, 16, 31},              // 15 of 128 KiB are fewer than 4 a level: of 64 KiB
        {4 << 20, 16, 16},              // of 128 KiB, just 4 a level
        {32 << 20, 16, 32},             // of 512 KiB, just 8 a level
        {UINT64_C(1) << 30, 16, 1024},  // of 512 KiB
        {UINT64_C(1) << 40, 16, 65536}, // the most
    };
    const struct coll_algorithm *dbt = coll_find("double_binary_tree");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct coll_double_tree_params given = {.pieces = PARAM_AUTO};
        struct coll_shape s = {.op = COLL_ALL_REDUCE,
                               .ranks = cases[i].ranks,
                               .bytes = cases[i].bytes,
                               .params = &given};
        assert_int_equal(dbt->steps(&s), 2 * log2_down(s.ranks) + cases[i].pieces - 1);
    }
}

// Larger numbers of ranks, for which the right side of the tree has gaps.
static void test_more_ranks(void **state)
{
    (void)state;
    struct coll_double_tree_params three = {.pieces = 3};
    for (uint32_t ranks = 18; ranks <= 64; ranks++) {
        struct coll_shape s = {.op = COLL_ALL_REDUCE,
                               .ranks = ranks,
                               .bytes = 97,
                               .params = &three,
                               .root = ranks / 3};
        coll_machine_check(coll_find("double_binary_tree"), &s);
        check_inner(coll_find("double_binary_tree"), &s);
        s.op = COLL_BROADCAST;
        coll_machine_check(coll_find("double_binary_tree"), &s);
        check_inner(coll_find("double_binary_tree"), &s);
        coll_machine_check(coll_find("tree"), &s);
    }
}

// Alternating: a chunk of an all-reduce passes whole over each edge of one tree, below the last
// rank if it is even, below rank 0 if it is odd; that rank receives once and sends once.
static void test_alternating(void **state)
{
    (void)state;
    const struct coll_algorithm *dbt = coll_find("double_binary_tree");
    for (uint32_t ranks = 2; ranks <= 33; ranks++)
        for (uint32_t chunk = 0; chunk < 2; chunk++) {
            struct coll_double_tree_params given = {.pieces = PARAM_AUTO, .alternating = true};
            struct coll_shape s = {.op = COLL_ALL_REDUCE,
                                   .ranks = ranks,
                                   .bytes = 97,
                                   .params = &given,
                                   .chunk = chunk,
                                   .chunks = 2};
            coll_machine_check(dbt, &s);
            assert_int_equal(coll_machine_total(dbt, &s), 2 * (ranks - 1) * s.bytes);
            assert_int_equal(coll_bytes_sent(dbt, &s, chunk == 0 ? ranks - 1 : 0), s.bytes);
            for (uint32_t rank = 0; rank < ranks; rank++)
                for (uint32_t step = 0; step < dbt->steps(&s); step++)
                    for (uint32_t k = 0; k < dbt->n_sends(&s, rank, step); k++)
                        assert_int_equal(dbt->send(&s, rank, step, k).bytes, s.bytes);
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_pieces_by_size),
        cmocka_unit_test(test_more_ranks),
        cmocka_unit_test(test_alternating),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
