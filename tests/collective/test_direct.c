// SPDX-License-Identifier: MIT
// Direct computes every operation, with windows, in the steps and bytes of its definition.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static void check_costs(const struct coll_algorithm *direct, const struct coll_shape *s)
{
    const struct coll_direct_params *given = s->params;
    uint32_t p = s->ranks, window = given->in_flight < p - 1 ? (uint32_t)given->in_flight : p - 1;
    uint32_t round = (p - 1 + window - 1) / window;
    uint64_t but_root = s->bytes;
    if (coll_op_rooted(s->op))
        but_root -= coll_segment(s, s->root + 1) - coll_segment(s, s->root);
    const struct {
        uint32_t steps;
        uint64_t bytes;
    } theory[COLL_OPS] = {
        [COLL_ALL_REDUCE] = {2 * round, 2 * (p - 1) * s->bytes},
        [COLL_REDUCE_SCATTER] = {round, (p - 1) * s->bytes},
        [COLL_ALL_GATHER] = {round, (p - 1) * s->bytes},
        [COLL_ALL_TO_ALL] = {round, (p - 1) * s->bytes},
        [COLL_BROADCAST] = {round, (p - 1) * s->bytes},
        [COLL_REDUCE] = {round, (p - 1) * s->bytes},
        [COLL_GATHER] = {round, but_root},
        [COLL_SCATTER] = {round, but_root},
        [COLL_SEND_RECV] = {1, p * s->bytes},
        [COLL_BARRIER] = {round, 0},
    };
    assert_int_equal(direct->steps(s), theory[s->op].steps);
    assert_int_equal(coll_machine_total(direct, s), theory[s->op].bytes);
    for (uint32_t rank = 0; rank < p; rank++)
        for (uint32_t step = 0; step < direct->steps(s); step++) {
            assert_true(direct->n_sends(s, rank, step) <= window);
            assert_true(direct->n_recvs(s, rank, step) <= window);
        }
}

static void test_every_operation(void **state)
{
    (void)state;
    for (unsigned op = 0; op < COLL_OPS; op++)
        for (uint32_t i = 0; i <= 3; i++) {
            struct coll_direct_params window = {.in_flight = i > 0 ? i : PARAM_AUTO};
            coll_machine_sweep(coll_find("direct"),
                               (struct coll_shape){.op = (enum coll_op)op, .params = &window}, 17,
                               check_costs);
        }
    struct coll_direct_params wide = {.in_flight = 1000};
    coll_machine_sweep(coll_find("direct"),
                       (struct coll_shape){.op = COLL_ALL_REDUCE, .params = &wide}, 17,
                       check_costs);
}

// The order of destinations is that of the ranks after the sender, for any window.
static void test_order(void **state)
{
    (void)state;
    const struct coll_algorithm *direct = coll_find("direct");
    struct coll_direct_params window = {.in_flight = 3};
    struct coll_shape s = {.op = COLL_ALL_TO_ALL, .ranks = 8, .bytes = 800, .params = &window};
    for (uint32_t j = 0; j < 7; j++)
        assert_int_equal(direct->send(&s, 6, j / 3, j % 3).peer, (6 + 1 + j) % 8);
    assert_int_equal(direct->n_sends(&s, 6, 2), 1);
    s.op = COLL_SCATTER;
    s.root = 6;
    for (uint32_t j = 0; j < 7; j++) {
        struct coll_send send = direct->send(&s, 6, j / 3, j % 3);
        assert_int_equal(send.peer, (6 + 1 + j) % 8);
        assert_int_equal(send.src_offset, 100 * send.peer);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
