// SPDX-License-Identifier: MIT
// Halving and doubling: results, steps and bytes at powers of two and with folds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static uint64_t folded_segments(const struct coll_shape *s, uint32_t folded)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < folded; i++)
        bytes += coll_segment(s, 2 * i + 2) - coll_segment(s, 2 * i + 1);
    return bytes;
}

// q cores exchange (q - 1) vectors in each direction; a fold moves a vector or the odd rank's
// segment.
static void check_costs(const struct coll_algorithm *hd, const struct coll_shape *s)
{
    uint32_t log2 = 0;
    while (s->ranks >> (log2 + 1) != 0)
        log2++;
    uint32_t q = UINT32_C(1) << log2, folded = s->ranks - q, folds = folded > 0 ? 2 : 0;
    uint64_t once = (q - 1 + folded) * s->bytes;
    const struct {
        uint32_t steps;
        uint64_t bytes;
    } theory[COLL_OPS] = {
        [COLL_ALL_REDUCE] = {2 * log2 + folds, 2 * once},
        [COLL_REDUCE_SCATTER] = {log2 + folds, once + folded_segments(s, folded)},
        [COLL_ALL_GATHER] = {log2 + folds, once + folded_segments(s, folded)},
        [COLL_BARRIER] = {log2 + folds, 0},
    };
    assert_int_equal(hd->steps(s), theory[s->op].steps);
    assert_int_equal(coll_machine_total(hd, s), theory[s->op].bytes);
    for (uint32_t rank = 0; s->bytes % s->ranks == 0 && folded == 0 && rank < s->ranks; rank++)
        assert_int_equal(coll_bytes_sent(hd, s, rank) * s->ranks, theory[s->op].bytes);
}

static void test_every_operation(void **state)
{
    (void)state;
    const enum coll_op ops[] = {COLL_ALL_REDUCE, COLL_REDUCE_SCATTER, COLL_ALL_GATHER,
                                COLL_BARRIER};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        coll_machine_sweep(coll_find("halving_doubling"), (struct coll_shape){.op = ops[i]}, 17,
                           check_costs);
}

static void test_folds(void **state)
{
    (void)state;
    const struct coll_algorithm *hd = coll_find("halving_doubling");
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 11, .bytes = 800};
    assert_int_equal(hd->steps(&shape), 8); // two folds around 2 * log2(8)
    // Ranks 0..5 pair up: 1, 3, 5 send once (a vector), their cores fold out a vector too.
    assert_int_equal(coll_bytes_sent(hd, &shape, 1), 800);
    assert_int_equal(coll_bytes_sent(hd, &shape, 0), 1400 + 800);
    assert_int_equal(coll_bytes_sent(hd, &shape, 10), 1400);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_folds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
