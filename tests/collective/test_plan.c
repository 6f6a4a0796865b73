// SPDX-License-Identifier: MIT
// Phases of chunks by hand: baseline, bandwidth-aware, round robin, Themis; queues of a dimension.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collective/algorithm/dim_queue.h"
#include "collective/algorithm/phase_plan.h"

#define ALL 0xffu
#define MIB UINT64_C(1048576)

static struct coll_schedule cube(uint32_t a, uint32_t b, uint32_t c)
{
    return (struct coll_schedule){.n_dims = 3,
                                  .dim_size = {a, b, c},
                                  .dim_bandwidth = {1, 1, 1},
                                  .chunks = 1,
                                  .phases = COLL_BANDWIDTH_AWARE};
}

static void expect(struct coll_planner *p, enum coll_op op, uint32_t dims, uint64_t bytes,
                   uint32_t n, const struct coll_phase *phases)
{
    struct coll_phase got[COLL_MAX_PHASES];
    assert_int_equal(coll_plan(p, op, dims, bytes, got), n);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(got[i].dim, phases[i].dim);
        assert_int_equal(got[i].op, phases[i].op);
        assert_int_equal(got[i].bytes, phases[i].bytes);
    }
}

#define EXPECT(planner, op, dims, bytes, ...)                                                      \
    expect(planner, op, dims, bytes,                                                               \
           sizeof((struct coll_phase[]){__VA_ARGS__}) / sizeof(struct coll_phase),                 \
           (struct coll_phase[]){__VA_ARGS__})

static void test_ascending(void **state)
{
    (void)state;
    struct coll_schedule s = cube(4, 2, 5);
    struct coll_planner p;
    coll_planner_init(&p, &s);
    coll_planner_begin(&p, 0);
    EXPECT(&p, COLL_ALL_REDUCE, ALL, 403, {0, COLL_REDUCE_SCATTER, 403},
           {1, COLL_REDUCE_SCATTER, 100}, {2, COLL_ALL_REDUCE, 50}, {1, COLL_ALL_GATHER, 50},
           {0, COLL_ALL_GATHER, 100});
    EXPECT(&p, COLL_ALL_REDUCE, 5, 403, {0, COLL_REDUCE_SCATTER, 403}, {2, COLL_ALL_REDUCE, 100},
           {0, COLL_ALL_GATHER, 100});
    EXPECT(&p, COLL_ALL_REDUCE, 2, 403, {1, COLL_ALL_REDUCE, 403});
    EXPECT(&p, COLL_REDUCE_SCATTER, ALL, 403, {0, COLL_REDUCE_SCATTER, 403},
           {1, COLL_REDUCE_SCATTER, 100}, {2, COLL_REDUCE_SCATTER, 50});
    EXPECT(&p, COLL_ALL_GATHER, ALL, 3, {2, COLL_ALL_GATHER, 3}, {1, COLL_ALL_GATHER, 15},
           {0, COLL_ALL_GATHER, 30});
    EXPECT(&p, COLL_ALL_TO_ALL, ALL, 403, {0, COLL_ALL_TO_ALL, 403}, {1, COLL_ALL_TO_ALL, 403},
           {2, COLL_ALL_TO_ALL, 403});
    s.phases = COLL_BASELINE;
    EXPECT(&p, COLL_ALL_REDUCE, ALL, 403, {0, COLL_ALL_REDUCE, 403}, {1, COLL_ALL_REDUCE, 403},
           {2, COLL_ALL_REDUCE, 403});
    s.flat[COLL_ALL_REDUCE] = true;
    EXPECT(&p, COLL_ALL_REDUCE, ALL, 403, {3, COLL_ALL_REDUCE, 403});
    struct coll_phase none[COLL_MAX_PHASES];
    assert_int_equal(coll_plan(&p, COLL_ALL_GATHER, 0, 403, none), 0);
    s.dim_size[1] = 1; // a dimension of one rank has nothing to do
    EXPECT(&p, COLL_ALL_GATHER, ALL, 3, {2, COLL_ALL_GATHER, 3}, {0, COLL_ALL_GATHER, 15});
}

// In a schedule by_operation an all-reduce along a tree takes the place of the reduce-scatter and
// of the all-gather, and leaves the size as it is; the other dimensions are divided as before.
static void test_whole_vectors(void **state)
{
    (void)state;
    struct coll_schedule s = cube(4, 2, 5);
    struct coll_planner p;
    for (uint32_t d = 0; d < 3; d++)
        s.choice[COLL_ALL_REDUCE][d] =
            coll_choice_of(coll_find(d == 1 ? "double_binary_tree" : "ring"));
    s.by_operation = true;
    coll_planner_init(&p, &s);
    coll_planner_begin(&p, 0);
    EXPECT(&p, COLL_ALL_REDUCE, ALL, 400, {0, COLL_REDUCE_SCATTER, 400}, {1, COLL_ALL_REDUCE, 100},
           {2, COLL_ALL_REDUCE, 100}, {1, COLL_ALL_REDUCE, 100}, {0, COLL_ALL_GATHER, 100});
    const struct coll_phase gather = {.dim = 1, .op = COLL_ALL_GATHER};
    assert_ptr_equal(coll_choice_at(&s, COLL_ALL_REDUCE, &gather), &s.choice[COLL_ALL_REDUCE][1]);
    s.by_operation = false;
    assert_ptr_equal(coll_choice_at(&s, COLL_ALL_REDUCE, &gather), &s.choice[COLL_ALL_GATHER][1]);
}

static void test_round_robin(void **state)
{
    (void)state;
    struct coll_schedule s = cube(2, 2, 2);
    struct coll_planner p;
    s.order = COLL_ROUND_ROBIN;
    coll_planner_init(&p, &s);
    coll_planner_begin(&p, 0);
    EXPECT(&p, COLL_REDUCE_SCATTER, ALL, 80, {0, COLL_REDUCE_SCATTER, 80},
           {1, COLL_REDUCE_SCATTER, 40}, {2, COLL_REDUCE_SCATTER, 20});
    EXPECT(&p, COLL_ALL_REDUCE, ALL, 80, {1, COLL_REDUCE_SCATTER, 80}, {2, COLL_REDUCE_SCATTER, 40},
           {0, COLL_ALL_REDUCE, 20}, {2, COLL_ALL_GATHER, 20}, {1, COLL_ALL_GATHER, 40});
    EXPECT(&p, COLL_ALL_GATHER, ALL, 10, {0, COLL_ALL_GATHER, 10}, {2, COLL_ALL_GATHER, 20},
           {1, COLL_ALL_GATHER, 40}); // descending, rotated by two
    coll_planner_begin(&p, 5);
    EXPECT(&p, COLL_ALL_TO_ALL, ALL, 80, {0, COLL_ALL_TO_ALL, 80}, {1, COLL_ALL_TO_ALL, 80},
           {2, COLL_ALL_TO_ALL, 80}); // one complete rotation
}

// Three dimensions of 4, equal rates, chunks of 16 MiB. Loads in MiB after each chunk, by hand:
//   0: even, so ascending: 0 gets 16*3/4 = 12, 1 gets 4*3/4 = 3, 2 gets 0.75
//   1: sorted 2 1 0; (12 - 0.75)/(3/4) = 15 MiB apart, not below 1: 2 gets 12, 1 gets 3, 0 gets
//     0.75
//      -> 0: 12.75, 1: 6, 2: 12.75
//   2: sorted 1, then 2 and 0 as they were: 1 gets 12, 2 gets 3, 0 gets 0.75
//      -> 0: 13.5, 1: 18, 2: 15.75
static void test_themis(void **state)
{
    (void)state;
    struct coll_schedule s = cube(4, 4, 4);
    struct coll_planner p;
    s.order = COLL_THEMIS;
    coll_planner_init(&p, &s);
    coll_planner_begin(&p, 7);
    static const uint8_t orders[3][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    static const double loads[3][3] = {{12, 3, 0.75}, {12.75, 6, 12.75}, {13.5, 18, 15.75}};
    for (int c = 0; c < 3; c++) {
        const uint8_t *d = orders[c];
        EXPECT(&p, COLL_ALL_REDUCE, ALL, 16 * MIB, {d[0], COLL_REDUCE_SCATTER, 16 * MIB},
               {d[1], COLL_REDUCE_SCATTER, 4 * MIB}, {d[2], COLL_REDUCE_SCATTER, MIB},
               {d[2], COLL_ALL_GATHER, MIB / 4}, {d[1], COLL_ALL_GATHER, MIB},
               {d[0], COLL_ALL_GATHER, 4 * MIB});
        for (int i = 0; i < 3; i++)
            assert_true(p.load[i] > loads[c][i] - 1e-9 && p.load[i] < loads[c][i] + 1e-9);
    }
    coll_planner_begin(&p, 7); // at the same time loads are kept
    assert_true(p.load[1] > 17);
    EXPECT(&p, COLL_ALL_TO_ALL, ALL, MIB, {0, COLL_ALL_TO_ALL, MIB}, {1, COLL_ALL_TO_ALL, MIB},
           {2, COLL_ALL_TO_ALL, MIB}); // Themis does not apply to all-to-all
    coll_planner_begin(&p, 8);
    EXPECT(&p, COLL_REDUCE_SCATTER, ALL, MIB, {0, COLL_REDUCE_SCATTER, MIB},
           {1, COLL_REDUCE_SCATTER, MIB / 4}, {2, COLL_REDUCE_SCATTER, MIB / 16});
    // A dimension at half the rate has double load: 0.75 + 0.75 for 1 MiB over 4 ranks.
    coll_planner_begin(&p, 9);
    s.dim_bandwidth[0] = 2;
    EXPECT(&p, COLL_REDUCE_SCATTER, 2, MIB, {1, COLL_REDUCE_SCATTER, MIB});
    assert_true(p.load[1] > 1.5 - 1e-9 && p.load[1] < 1.5 + 1e-9);
    // An all-gather begins with the most loaded dimension; 4 parts of 1 MiB add a load of 3.
    coll_planner_begin(&p, 10);
    s.dim_bandwidth[0] = 1;
    EXPECT(&p, COLL_ALL_GATHER, 1, 16 * MIB, {0, COLL_ALL_GATHER, 16 * MIB}); // 0: 48
    EXPECT(&p, COLL_ALL_GATHER, ALL, MIB, {0, COLL_ALL_GATHER, MIB}, {1, COLL_ALL_GATHER, 4 * MIB},
           {2, COLL_ALL_GATHER, 16 * MIB});
}

/* ---- queues ---- */

struct item {
    char name;
    int64_t priority;
    struct coll_phase phase;
    uint32_t left;
};

static void join(struct dim_queue *q, int queueing, struct item *i)
{
    dim_queue_insert(q, queueing, i, i->priority, &i->phase, i->left);
}

// The order in which phases run, one at a time.
static void drain(struct dim_queue *q, char *names)
{
    for (struct item *i; (i = dim_queue_next(q, 1)) != NULL;) {
        assert_null(dim_queue_next(q, 1));
        *names++ = i->name;
        dim_queue_remove(q, i);
    }
    *names = '\0';
    assert_int_equal(q->n, 0);
}

static void test_queues(void **state)
{
    (void)state;
    struct item items[] = {
        {'a', 1, {0, COLL_REDUCE_SCATTER, 50}, 0}, {'b', 2, {0, COLL_REDUCE_SCATTER, 50}, 0},
        {'c', 1, {0, COLL_REDUCE_SCATTER, 20}, 0}, {'d', 2, {0, COLL_REDUCE_SCATTER, 50}, 0},
        {'e', 1, {0, COLL_ALL_GATHER, 70}, 0},
    };
    static const char *const expected[] = {
        [COLL_QUEUE_FIFO] = "abdce", [COLL_QUEUE_LIFO] = "adbec", [COLL_QUEUE_SMALLEST] = "acdbe"};
    for (int queueing = COLL_QUEUE_FIFO; queueing <= COLL_QUEUE_SMALLEST; queueing++) {
        struct dim_queue q = {0};
        char names[8] = "";
        join(&q, queueing, &items[0]);
        assert_ptr_equal(dim_queue_next(&q, 1), &items[0]); // runs: nothing is put before it
        for (int i = 1; i < 5; i++)
            join(&q, queueing, &items[i]);
        assert_null(dim_queue_next(&q, 1));
        dim_queue_remove(&q, &items[0]);
        drain(&q, names + 1);
        names[0] = 'a';
        assert_string_equal(names, expected[queueing]);
        dim_queue_free(&q);
    }
}

// The order by size applies to reduce-scatters and all-gathers alone; a phase of another kind is
// compared by priority with each phase that it would overtake in the queue.
// Reduce-scatters and all-gathers take turns as long as both wait, within a priority.
static void test_alternating(void **state)
{
    (void)state;
    struct item items[] = {
        {'a', 1, {0, COLL_REDUCE_SCATTER, 50}, 0}, {'b', 1, {0, COLL_REDUCE_SCATTER, 50}, 0},
        {'c', 1, {0, COLL_REDUCE_SCATTER, 50}, 0}, {'d', 1, {0, COLL_ALL_GATHER, 50}, 0},
        {'e', 2, {0, COLL_REDUCE_SCATTER, 50}, 0}, {'f', 1, {0, COLL_ALL_GATHER, 50}, 0},
        {'g', 1, {0, COLL_REDUCE_SCATTER, 50}, 0}};
    struct dim_queue q = {0};
    char names[8];
    for (int i = 0; i < 7; i++)
        join(&q, COLL_QUEUE_ALTERNATING, &items[i]);
    drain(&q, names); // e is alone in its priority
    assert_string_equal(names, "edafbcg");
    dim_queue_free(&q);
}

// Those with the fewest phases left, as they came among equals; all-reduces by priority.
static void test_fewest_phases(void **state)
{
    (void)state;
    struct item items[] = {
        {'a', 1, {0, COLL_REDUCE_SCATTER, 50}, 3}, {'b', 2, {0, COLL_REDUCE_SCATTER, 50}, 2},
        {'c', 1, {0, COLL_ALL_GATHER, 50}, 0},     {'d', 1, {0, COLL_ALL_GATHER, 50}, 2},
        {'e', 1, {0, COLL_REDUCE_SCATTER, 50}, 3}, {'f', 1, {0, COLL_ALL_GATHER, 50}, 1}};
    struct dim_queue q = {0};
    char names[8];
    for (int i = 0; i < 6; i++)
        join(&q, COLL_QUEUE_FEWEST, &items[i]);
    drain(&q, names);
    assert_string_equal(names, "cfbdae");
    dim_queue_free(&q);
}

static void test_mixed_kinds(void **state)
{
    (void)state;
    struct item items[] = {{'a', 5, {0, COLL_ALL_REDUCE, 10}, 0},
                           {'b', 9, {0, COLL_ALL_REDUCE, 90}, 0},
                           {'c', 1, {0, COLL_ALL_GATHER, 50}, 0}};
    struct dim_queue q = {0};
    char names[8];
    for (int i = 0; i < 3; i++)
        join(&q, COLL_QUEUE_SMALLEST, &items[i]);
    drain(&q, names); // c is smaller than b, which is at the front
    assert_string_equal(names, "cba");
    dim_queue_free(&q);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ascending),   cmocka_unit_test(test_whole_vectors),
        cmocka_unit_test(test_round_robin), cmocka_unit_test(test_themis),
        cmocka_unit_test(test_queues),      cmocka_unit_test(test_mixed_kinds),
        cmocka_unit_test(test_alternating), cmocka_unit_test(test_fewest_phases),
    };
    return cmocka_run_group_tests_name("plan", tests, NULL, NULL);
}
