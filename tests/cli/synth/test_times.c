// SPDX-License-Identifier: MIT
// The model of times on sets whose bases, speeds and rests are known.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cli/synth/times.h"
#include "workload/nodes/node_list.h"

#define RANKS 8
#define NODES 4000

// Rank r computes NODES times: base * speed of r * rest, the rest 0.9 or 1.1 by turns.
static struct node_program set_of(const double *speed)
{
    struct node_list *list = node_list_new(RANKS);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint64_t i = 0; i < NODES; i++) {
            double base = 1e6 * (double)(1 + i % 5), rest = (i / 5 + r) % 2 == 0 ? 0.9 : 1.1;
            struct node node = {.id = i,
                                .kind = NODE_COMPUTE,
                                .name = "layer",
                                .takes_ps = (ps_t)(base * speed[r] * rest)};
            node_list_add(list, r, &node);
        }
    return (struct node_program){.source = &node_list_source, .self = list, .n_ranks = RANKS};
}

static const double even[RANKS] = {1, 1, 1, 1, 1, 1, 1, 1};
static const double one_slow[RANKS] = {1, 1, 1, 1.5, 1, 1, 1, 1};

static double total(const struct synth_times *t, uint64_t seed, uint32_t rank,
                    struct synth_seat seat)
{
    struct synth_draw draw = synth_draw_of(t, seed, rank, rank, 0, seat);
    double sum = 0;
    for (size_t i = 0; i < NODES; i++)
        sum += synth_draw_next(&draw);
    return sum;
}

static void test_speeds(void **state)
{
    (void)state;
    struct node_program p = set_of(one_slow);
    struct err err = {0};
    struct synth_times *t = synth_times_fit(&p, &err);
    uint32_t source[2 * RANKS];
    for (uint32_t r = 0; r < 2 * RANKS; r++)
        source[r] = r % RANKS;
    assert_int_equal(synth_times_classes(t), 1);
    for (uint64_t seed = 1; seed < 20; seed++) { // twice the ranks have two slow ones
        struct synth_seat *seat = synth_seats(t, source, 2 * RANKS, seed);
        double least = INFINITY, slow = 0;
        for (uint32_t r = 0; r < 2 * RANKS; r++)
            least = fmin(least, seat[r].speed);
        for (uint32_t r = 0; r < 2 * RANKS; r++)
            slow += fabs(seat[r].speed / least - 1.5) < 0.01;
        assert_true(slow == 2);
        free(seat);
    }
    synth_times_free(t);
    node_program_free(&p);
}

static void test_totals(void **state)
{
    (void)state;
    struct node_program p = set_of(even);
    struct err err = {0};
    struct synth_times *t = synth_times_fit(&p, &err);
    double want = 3e6 * NODES; // the mean of bases, and of rests 1
    uint32_t source[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct synth_seat *seat = synth_seats(t, source, RANKS, 1);
    for (uint64_t seed = 1; seed < 50; seed++)
        assert_true(fabs(total(t, seed, 0, seat[0]) / want - 1) < 1e-3); // rests kept as floats
    assert_true(total(t, 1, 0, seat[0]) == total(t, 1, 0, seat[0]));
    free(seat);
    synth_times_free(t);
    node_program_free(&p);
}

// Ranks of a class share their bases: with equal rests the same computation differs by speed alone.
static void test_bases_are_shared(void **state)
{
    (void)state;
    struct node_list *list = node_list_new(2);
    for (uint32_t r = 0; r < 2; r++)
        for (uint64_t i = 0; i < NODES; i++) {
            struct node node = {.id = i,
                                .kind = NODE_COMPUTE,
                                .takes_ps = (ps_t)((1000 + i % 97 * 100) * (r + 1) * 1000)};
            node_list_add(list, r, &node);
        }
    struct node_program p = {.source = &node_list_source, .self = list, .n_ranks = 2};
    struct err err = {0};
    struct synth_times *t = synth_times_fit(&p, &err);
    struct synth_seat slow = {0, 1}, fast = {1, 2};
    struct synth_draw one = synth_draw_of(t, 3, 0, 0, 0, slow),
                      two = synth_draw_of(t, 3, 1, 1, 0, fast);
    for (uint64_t i = 0; i < NODES; i++) {
        double a = synth_draw_next(&one), b = synth_draw_next(&two),
               base = 1.5 * (double)(1000 + i % 97 * 100) * 1000;
        assert_true(fabs(b / a - 2) < 1e-6);
        // the sum of the bases' moves is scaled away: 2 % / sqrt(3) / sqrt(NODES), five times
        assert_true(fabs(a / base - 1) <= SYNTH_BLUR + 5 * SYNTH_BLUR / sqrt(3 * NODES));
    }
    synth_times_free(t);
    node_program_free(&p);
}

// The rests of a computation are dealt: drawn times of all ranks have each rest once.
static void test_rests_are_dealt(void **state)
{
    (void)state;
    struct node_program p = set_of(even);
    struct err err = {0};
    struct synth_times *t = synth_times_fit(&p, &err);
    uint32_t source[RANKS] = {0, 1, 2, 3, 4, 5, 6, 7};
    struct synth_seat *seat = synth_seats(t, source, RANKS, 5);
    struct synth_draw draw[RANKS];
    for (uint32_t r = 0; r < RANKS; r++)
        draw[r] = synth_draw_of(t, 5, r, r, 0, seat[r]);
    for (size_t i = 0; i < NODES; i++) {
        double time[RANKS], most = 0;
        uint32_t large = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            most = fmax(most, time[r] = synth_draw_next(&draw[r]));
        for (uint32_t r = 0; r < RANKS; r++)
            large += time[r] > 0.95 * most;
        assert_int_equal(large, RANKS / 2); // 1.1, the others 0.9
    }
    free(seat);
    synth_times_free(t);
    node_program_free(&p);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_speeds),
        cmocka_unit_test(test_totals),
        cmocka_unit_test(test_bases_are_shared),
        cmocka_unit_test(test_rests_are_dealt),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
