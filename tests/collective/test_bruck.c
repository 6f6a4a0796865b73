// SPDX-License-Identifier: MIT
// Bruck's algorithms: results, ceil(log2 p) steps of one message, bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static uint32_t ones(uint32_t v) { return v == 0 ? 0 : v % 2 + ones(v / 2); }

static void check_costs(const struct coll_algorithm *bruck, const struct coll_shape *s)
{
    uint32_t p = s->ranks, hops = 0;
    for (uint32_t distance = 1; distance < p; distance++)
        hops += ones(distance);
    const uint64_t theory[COLL_OPS] = {
        [COLL_ALL_GATHER] = (p - 1) * s->bytes,
        [COLL_ALL_TO_ALL] = hops * s->bytes, // at each distance one vector over all ranks
    };
    assert_int_equal(bruck->steps(s), coll_machine_log2_up(p));
    assert_int_equal(coll_machine_total(bruck, s), theory[s->op]);
    for (uint32_t rank = 0; rank < p; rank++) {
        for (uint32_t step = 0; step < bruck->steps(s); step++)
            assert_int_equal(bruck->n_sends(s, rank, step), 1);
        if (s->bytes % p == 0)
            assert_int_equal(coll_bytes_sent(bruck, s, rank) * p, theory[s->op]);
    }
}

static void test_every_operation(void **state)
{
    (void)state;
    const enum coll_op ops[] = {COLL_ALL_GATHER, COLL_ALL_TO_ALL, COLL_BARRIER};
    for (size_t i = 0; i < 3; i++)
        coll_machine_sweep(coll_find("bruck"), (struct coll_shape){.op = ops[i]}, 17, check_costs);
}

// p/2 blocks per step at powers of two, to the rank at distance 2^k.
static void test_all_to_all_of_16(void **state)
{
    (void)state;
    const struct coll_algorithm *bruck = coll_find("bruck");
    struct coll_shape s = {.op = COLL_ALL_TO_ALL, .ranks = 16, .bytes = 1600};
    for (uint32_t step = 0; step < 4; step++) {
        struct coll_send send = bruck->send(&s, 13, step, 0);
        assert_int_equal(send.peer, (13 + (1u << step)) % 16);
        assert_int_equal(send.blocks, 8);
        assert_int_equal(send.bytes, 800);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_all_to_all_of_16),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
