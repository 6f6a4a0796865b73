// SPDX-License-Identifier: MIT
// Collectives over dimensions on real vectors: plans, ranges and algorithms together give every
// rank the right bytes, for sizes that do and do not divide.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collective/algorithm/grid.h"
#include "collective/algorithm/phase_plan.h"

#define BYTES_MAX 1200
#define RANKS_MAX 60

typedef uint64_t cell_t;

struct lab {
    struct coll_schedule s;
    uint32_t ranks;
    uint64_t bytes, sent;
    cell_t vector[RANKS_MAX][BYTES_MAX], next[RANKS_MAX][BYTES_MAX];
};

static cell_t source(uint32_t rank, uint64_t i)
{
    uint64_t x = UINT64_C(1000003) * (rank + 1) + i;
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ (x >> 27);
}

// Run one step of all members: the data sent is the data before the step.
// (tests/support/coll_machine.c tests arbitrary orders of messages.)
static void run_step(struct lab *lab, const struct coll_algorithm *a,
                     const struct coll_shape *shape, uint32_t dim, uint32_t group, uint64_t first,
                     uint32_t step)
{
    for (uint32_t m = 0; m < shape->ranks; m++) {
        uint32_t rank = coll_rank_of(&lab->s, dim, group, m);
        memcpy(&lab->next[rank][first], &lab->vector[rank][first], shape->bytes * sizeof(cell_t));
    }
    for (uint32_t m = 0; m < shape->ranks; m++) {
        const cell_t *from = lab->vector[coll_rank_of(&lab->s, dim, group, m)];
        for (uint32_t k = 0; k < a->n_sends(shape, m, step); k++) {
            struct coll_send send = a->send(shape, m, step, k);
            assert_int_equal(send.peer_step, step);
            cell_t *to = lab->next[coll_rank_of(&lab->s, dim, group, send.peer)];
            lab->sent += send.bytes;
            for (uint64_t i = 0; i < send.bytes; i++) {
                cell_t got = from[first + send.src_offset + i];
                cell_t *cell = &to[first + send.dst_offset + i];
                *cell = send.reduce ? *cell + got : got;
            }
        }
    }
    for (uint32_t m = 0; m < shape->ranks; m++) {
        uint32_t rank = coll_rank_of(&lab->s, dim, group, m);
        memcpy(&lab->vector[rank][first], &lab->next[rank][first], shape->bytes * sizeof(cell_t));
    }
}

static void run_chunk(struct lab *lab, const struct coll_phase *phases, uint32_t n,
                      struct coll_range chunk)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t g = 0; g < coll_n_groups(&lab->s, phases[i].dim); g++) {
            struct coll_range range = coll_phase_range(&lab->s, phases, n, i, g, chunk);
            struct coll_shape shape = {.op = (enum coll_op)phases[i].op,
                                       .ranks = coll_group_size(&lab->s, phases[i].dim),
                                       .bytes = range.end - range.first};
            const struct coll_algorithm *a = lab->s.choice[phases[i].op][phases[i].dim].algorithm;
            for (uint32_t step = 0; step < a->steps(&shape); step++)
                run_step(lab, a, &shape, phases[i].dim, g, range.first, step);
        }
}

// The bytes of a chunk that a rank has after a reduce-scatter, or contributes to an all-gather.
static struct coll_range own_range(const struct lab *lab, const struct coll_phase *phases,
                                   uint32_t n, uint32_t rank, struct coll_range chunk, bool gather)
{
    uint32_t i = gather ? 0 : n - 1;
    struct coll_range r =
        coll_phase_range(&lab->s, phases, n, i, coll_group_of(&lab->s, phases[i].dim, rank), chunk);
    struct coll_shape shape = {.ranks = coll_group_size(&lab->s, phases[i].dim),
                               .bytes = r.end - r.first};
    uint32_t m = coll_member_of(&lab->s, phases[i].dim, rank);
    return (struct coll_range){r.first + coll_segment(&shape, m),
                               r.first + coll_segment(&shape, m + 1)};
}

static cell_t sum_at(const struct lab *lab, uint64_t i)
{
    cell_t sum = 0;
    for (uint32_t r = 0; r < lab->ranks; r++)
        sum += source(r, i);
    return sum;
}

static bool folds(const struct lab *lab)
{
    for (uint32_t d = 0; d < lab->s.n_dims; d++) {
        uint32_t n = lab->s.dim_size[d];
        if (lab->s.choice[0][d].algorithm->name[0] == 'h' && (n & (n - 1)) != 0)
            return true;
    }
    return false;
}

// An all-reduce of chunks, a reduce-scatter and an all-gather.
static void check(struct lab *lab, enum coll_op op, uint64_t bytes, uint32_t chunks)
{
    struct coll_planner planner;
    uint64_t owned = 0;
    lab->bytes = bytes;
    lab->sent = 0;
    coll_planner_init(&planner, &lab->s);
    coll_planner_begin(&planner, 0);
    for (uint32_t c = 0; c < chunks; c++) {
        struct coll_range chunk = {c * bytes / chunks, (c + 1) * bytes / chunks};
        struct coll_phase phases[COLL_MAX_PHASES];
        uint32_t n = coll_plan(&planner, op, UINT32_MAX, chunk.end - chunk.first, phases);
        for (uint32_t r = 0; r < lab->ranks; r++) {
            struct coll_range own = own_range(lab, phases, n, r, chunk, true);
            for (uint64_t i = chunk.first; i < chunk.end; i++)
                lab->vector[r][i] = op != COLL_ALL_GATHER           ? source(r, i)
                                    : i >= own.first && i < own.end ? sum_at(lab, i)
                                                                    : 77;
        }
        run_chunk(lab, phases, n, chunk);
        for (uint32_t r = 0; r < lab->ranks; r++) {
            struct coll_range want =
                op == COLL_REDUCE_SCATTER ? own_range(lab, phases, n, r, chunk, false) : chunk;
            owned += want.end - want.first;
            for (uint64_t i = want.first; i < want.end; i++)
                assert_true(lab->vector[r][i] == sum_at(lab, i));
        }
    }
    assert_int_equal(owned, op == COLL_REDUCE_SCATTER ? bytes : bytes * lab->ranks);
    if (folds(lab))
        return; // halving-doubling sends more if the number of ranks is no power of two
    if (op != COLL_ALL_REDUCE) // (p - 1)/p of the vector from each, however it is cut
        assert_int_equal(lab->sent, bytes * (lab->ranks - 1));
    else if (lab->s.order == COLL_THEMIS || lab->s.phases == COLL_BANDWIDTH_AWARE)
        assert_int_equal(lab->sent, 2 * bytes * (lab->ranks - 1));
}

static void test_vectors(void **state)
{
    (void)state;
    static const uint32_t grids[][4] = {{2, 4, 3, 1}, {2, 5, 2, 1}, {2, 8, 4, 1},
                                        {3, 2, 3, 4}, {3, 4, 1, 5}, {3, 3, 4, 5}};
    static const char *const names[] = {"ring", "direct", "halving_doubling"};
    static const uint64_t sizes[] = {1, 7, 100, 1009};
    struct lab *lab = malloc(sizeof *lab);
    assert_non_null(lab);
    for (size_t g = 0; g < sizeof grids / sizeof *grids; g++)
        for (unsigned variant = 0; variant < 12; variant++) {
            lab->s = (struct coll_schedule){.n_dims = grids[g][0], .chunks = 1};
            lab->ranks = 1;
            for (uint32_t d = 0; d < lab->s.n_dims; d++) {
                lab->ranks *= lab->s.dim_size[d] = grids[g][d + 1];
                lab->s.dim_bandwidth[d] = 1 + d % 2;
                for (unsigned op = 0; op < COLL_OPS; op++)
                    lab->s.choice[op][d] = coll_choice_of(coll_find(names[(d + variant) % 3]));
            }
            lab->s.order = (int)(variant / 3 % 3);
            lab->s.phases = variant < 9 ? COLL_BANDWIDTH_AWARE : COLL_BASELINE;
            for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
                for (uint32_t chunks = 1; chunks <= 5; chunks += 2) {
                    check(lab, COLL_ALL_REDUCE, sizes[i], chunks);
                    check(lab, COLL_REDUCE_SCATTER, sizes[i], chunks);
                    check(lab, COLL_ALL_GATHER, sizes[i], chunks);
                }
        }
    free(lab);
}

// In every dimension each rank is a member of exactly one group.
static void test_groups(void **state)
{
    (void)state;
    struct coll_schedule s = {.n_dims = 3, .dim_size = {3, 4, 5}};
    assert_int_equal(coll_ranks(&s), 60);
    for (uint32_t d = 0; d <= 3; d++) {
        uint32_t n = coll_n_groups(&s, d), size = coll_group_size(&s, d);
        bool seen[60] = {false};
        assert_int_equal(n * size, 60);
        for (uint32_t g = 0; g < n; g++)
            for (uint32_t m = 0; m < size; m++) {
                uint32_t rank = coll_rank_of(&s, d, g, m);
                assert_true(rank < 60 && !seen[rank]);
                seen[rank] = true;
                assert_int_equal(coll_group_of(&s, d, rank), g);
                assert_int_equal(coll_member_of(&s, d, rank), m);
            }
    }
    assert_int_equal(coll_rank_of(&s, 1, 5, 2), 12 + 2 + 6); // group 5 = (2, ., 1)
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_vectors)};
    return cmocka_run_group_tests_name("hierarchy", tests, NULL, NULL);
}
