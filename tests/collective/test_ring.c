// SPDX-License-Identifier: MIT
// The ring computes every operation, in the steps and bytes that its definition gives.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "tests/support/coll_machine.h"

static bool two_ways(const struct coll_shape *s)
{
    return ((const struct coll_ring_params *)s->params)->directions == 2;
}

static uint64_t size_of(const struct coll_shape *s, uint32_t segment)
{
    return coll_segment(s, segment + 1) - coll_segment(s, segment);
}

// Gather and scatter: a segment h hops up the ring from its end goes h hops, its upper half in
// two-way rings p - h.
static uint64_t hop_bytes(const struct coll_shape *s)
{
    uint64_t total = 0;
    for (uint32_t h = 1; h < s->ranks; h++) {
        uint32_t rank = (s->op == COLL_GATHER ? s->root + s->ranks - h : s->root + h) % s->ranks;
        uint64_t upper = two_ways(s) ? size_of(s, rank) - size_of(s, rank) / 2 : 0;
        total += (size_of(s, rank) - upper) * h + upper * (s->ranks - h);
    }
    return total;
}

static void check_costs(const struct coll_algorithm *ring, const struct coll_shape *s)
{
    const struct coll_ring_params *given = s->params;
    uint32_t p = s->ranks, pieces = given->pieces != PARAM_AUTO ? (uint32_t)given->pieces : p;
    const struct {
        uint32_t steps;
        uint64_t bytes;
    } theory[COLL_OPS] = {
        [COLL_ALL_REDUCE] = {2 * (p - 1), 2 * (p - 1) * s->bytes},
        [COLL_REDUCE_SCATTER] = {p - 1, (p - 1) * s->bytes},
        [COLL_ALL_GATHER] = {p - 1, (p - 1) * s->bytes},
        [COLL_ALL_TO_ALL] = {p - 1, (p - 1) * s->bytes},
        [COLL_BROADCAST] = {p - 1 + pieces - 1, (p - 1) * s->bytes},
        [COLL_REDUCE] = {p - 1 + pieces - 1, (p - 1) * s->bytes},
        [COLL_GATHER] = {p - 1, hop_bytes(s)},
        [COLL_SCATTER] = {p - 1, hop_bytes(s)},
        [COLL_SEND_RECV] = {1, p * s->bytes},
        [COLL_BARRIER] = {2 * (p - 1), 0},
    };
    assert_int_equal(ring->steps(s), theory[s->op].steps);
    assert_int_equal(coll_machine_total(ring, s), theory[s->op].bytes);
    bool alike = s->op == COLL_ALL_REDUCE || s->op == COLL_REDUCE_SCATTER ||
                 s->op == COLL_ALL_GATHER || s->op == COLL_ALL_TO_ALL;
    for (uint32_t rank = 0; alike && s->bytes % p == 0 && rank < p; rank++)
        assert_int_equal(coll_bytes_sent(ring, s, rank) * p, theory[s->op].bytes);
}

static void test_every_operation(void **state)
{
    (void)state;
    const uint64_t pieces[] = {PARAM_AUTO, 1, 2, 5};
    for (unsigned op = 0; op < COLL_OPS; op++)
        for (size_t i = 0; i < 8; i++) {
            struct coll_ring_params given = {.directions = 1 + i % 2, .pieces = pieces[i / 2]};
            coll_machine_sweep(coll_find("ring"),
                               (struct coll_shape){.op = (enum coll_op)op, .params = &given}, 17,
                               check_costs);
        }
}

static void test_directions(void **state)
{
    (void)state;
    const struct coll_algorithm *ring = coll_find("ring");
    struct coll_ring_params both = {.directions = 2, .pieces = PARAM_AUTO};
    struct coll_shape shape = {.op = COLL_ALL_REDUCE, .ranks = 8, .bytes = 800, .params = &both};
    struct coll_send up = ring->send(&shape, 0, 0, 0), down = ring->send(&shape, 0, 0, 1);
    assert_int_equal(ring->n_sends(&shape, 0, 0), 2);
    assert_int_equal(up.peer, 1);
    assert_int_equal(down.peer, 7);
    assert_int_equal(up.bytes, 50);
    assert_int_equal(down.bytes, 50);
    assert_int_equal(up.src_offset, 700);   // segment 7, lower half
    assert_int_equal(down.src_offset, 150); // segment 1, upper half
}

// One way, all messages but an all-to-all's go to the next rank.
static void test_only_neighbours(void **state)
{
    (void)state;
    const struct coll_algorithm *ring = coll_find("ring");
    for (unsigned op = 0; op < COLL_OPS; op++) {
        struct coll_shape s = {.op = (enum coll_op)op, .ranks = 7, .bytes = 70, .root = 3};
        for (uint32_t rank = 0; rank < 7 && op != COLL_ALL_TO_ALL; rank++)
            for (uint32_t step = 0; step < ring->steps(&s); step++)
                if (ring->n_sends(&s, rank, step) > 0)
                    assert_int_equal(ring->send(&s, rank, step, 0).peer, (rank + 1) % 7);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operation),
        cmocka_unit_test(test_directions),
        cmocka_unit_test(test_only_neighbours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
