// SPDX-License-Identifier: MIT
// The choice of entropies against choices that uet-htsim has recorded, and what its record does not
// reach: penalties of losses, mixed, freezing.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "transport/sender/spray.h"

// Make `value` the next draw of a stream.
static void next_draw(struct rng *rng, uint32_t value)
{
    rng->counter = 1;
    for (unsigned i = 0; i < 4; i++)
        rng->block[i] = value;
}

static struct spray spray_new(enum spray_kind kind, uint32_t n)
{
    struct spray s;
    spray_init(&s, kind, n, 1, 0);
    return s;
}

// Lines of a record: I,n,first,mask at the start; R,value a draw for the choice that follows;
// E,time,entropy a choice; F,time,entropy,report (0 good, 1 marked, 2 trimmed).
static void replay(const char *name, enum spray_kind kind)
{
    char path[512], line[128];
    snprintf(path, sizeof path, "%s/uet-htsim/%s", getenv("COLLWIRE_DATA"), name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    struct spray s = {0};
    unsigned long draw, n = 0, first = 0, mask, entropy;
    long long at;
    int report, chosen = 0;
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "I,%lu,%lu,%lu", &n, &first, &mask) == 3) {
            s = spray_new(kind, (uint32_t)n);
            s.mask = (uint32_t)mask;
        } else if (sscanf(line, "R,%lu", &draw) == 1) {
            next_draw(&s.rng, (uint32_t)draw);
        } else if (sscanf(line, "F,%lld,%lu,%d", &at, &entropy, &report) == 3) {
            spray_report(&s, (uint32_t)entropy, (enum spray_report)report, at);
        } else {
            assert_int_equal(sscanf(line, "E,%lld,%lu", &at, &entropy), 2);
            if (spray_next(&s, at) != (entropy & (n - 1)))
                fail_msg("choice %d at %lld is not %lu", chosen, at, entropy & (n - 1));
            chosen++;
        }
    }
    fclose(file);
    assert_true(chosen > 450);
    spray_free(&s);
}

static void test_bitmap_record(void **state)
{
    (void)state;
    replay("mp_bitmap.csv", SPRAY_BITMAP);
}

static void test_reps_record(void **state)
{
    (void)state;
    replay("mp_reps.csv", SPRAY_REPS);
}

// Every round has each entropy once, and rounds differ in order.
static void test_oblivious(void **state)
{
    (void)state;
    struct spray s = spray_new(SPRAY_OBLIVIOUS, 16);
    uint32_t first[16];
    int same = 0;
    for (int round = 0; round < 50; round++) {
        uint32_t seen = 0;
        for (int i = 0; i < 16; i++) {
            uint32_t e = spray_next(&s, 0);
            spray_report(&s, e, SPRAY_LOST, 0); // has no effect
            seen |= 1u << e;
            if (round == 0)
                first[i] = e;
            same += round == 1 && first[i] == e;
        }
        assert_int_equal(seen, 0xffff);
    }
    assert_true(same == 0 || same == 16);
    spray_free(&s);
}

// An entropy whose packet was trimmed is passed over four times, one that was marked once.
static void test_penalties(void **state)
{
    (void)state;
    struct spray s = spray_new(SPRAY_BITMAP, 2);
    uint32_t bad = spray_next(&s, 0);
    spray_report(&s, bad, SPRAY_LOST, 0);
    int used = 0;
    for (int i = 0; i < 4; i++)
        used += spray_next(&s, 0) == bad;
    assert_int_equal(used, 0);
    while (spray_next(&s, 0) != bad && used < 100)
        used++;
    assert_true(used < 10);
    for (int i = 0; i < 100; i++) { // with penalties on all, choices go on
        spray_report(&s, 0, SPRAY_LOST, 0);
        spray_report(&s, 1, SPRAY_LOST, 0);
        assert_true(spray_next(&s, 0) < 2);
    }
    spray_free(&s);
}

static void test_mixed(void **state)
{
    (void)state;
    struct spray s = spray_new(SPRAY_MIXED, 64);
    spray_report(&s, 7, SPRAY_GOOD, 0);
    spray_report(&s, 9, SPRAY_MARKED, 0);
    spray_report(&s, 3, SPRAY_GOOD, 0);
    assert_int_equal(spray_next(&s, 0), 7);
    assert_int_equal(spray_next(&s, 0), 3);
    for (int i = 0; i < 63; i++) // a whole round but for the marked one, which is passed over once
        assert_int_not_equal(spray_next(&s, 0), 9);
    for (int i = 0; i < 1000; i++) // more reports than entropies
        spray_report(&s, 5, SPRAY_GOOD, 0);
    assert_int_equal(s.queue_count, 64);
    spray_free(&s);
}

// After a timeout only known entropies are used, again and again; 10 ms later 16 packets go at
// random.
static void test_freeze(void **state)
{
    (void)state;
    struct spray s = spray_new(SPRAY_REPS, 4096);
    for (uint32_t e = 100; e < 103; e++)
        spray_report(&s, e, SPRAY_GOOD, 0);
    spray_report(&s, 0, SPRAY_TIMEOUT, PS_PER_US);
    for (int i = 0; i < 30; i++)
        assert_int_equal(spray_next(&s, 2 * PS_PER_US), 100 + i % 3);
    int known = 0;
    for (int i = 0; i < 16; i++) {
        uint32_t e = spray_next(&s, 11 * PS_PER_MS);
        known += e >= 100 && e < 103;
        if (i < 15) // while exploring: no freeze
            spray_report(&s, 0, SPRAY_TIMEOUT, 11 * PS_PER_MS);
    }
    assert_true(known <= 1);
    assert_int_equal(s.frozen_until_ps, 0);
    spray_report(&s, 55, SPRAY_GOOD, 12 * PS_PER_MS);
    assert_int_equal(spray_next(&s, 12 * PS_PER_MS), 55);
    spray_free(&s);
}

// mrc: a mark or a trimmed packet skips an entropy once; a loss leaves it out until a packet on it
// arrives, for which probes are due at their interval; a quarter of the entropies is never left
// out.
static void test_mrc(void **state)
{
    (void)state;
    struct spray s = spray_new(SPRAY_MRC, 8);
    int used[8] = {0};
    spray_report(&s, 3, SPRAY_MARKED, 0);
    spray_report(&s, 5, SPRAY_GONE, 0);
    assert_int_equal(spray_probe(&s, 1000, 0), 5);
    assert_int_equal(spray_probe(&s, 1000, 999), UINT32_MAX);
    for (int i = 0; i < 6; i++) // the first round: without 3 and 5
        used[spray_next(&s, 0)]++;
    assert_int_equal(used[3] + used[5], 0);
    for (int i = 0; i < 7 * 10; i++)
        used[spray_next(&s, 0)]++;
    assert_true(used[3] >= 9 && used[5] == 0);
    assert_int_equal(spray_probe(&s, 1000, 1000), 5); // again, while it is the only one
    spray_report(&s, 5, SPRAY_GOOD, 2000);
    assert_int_equal(spray_probe(&s, 1000, 2000), UINT32_MAX);
    for (int i = 0; i < 8 * 2; i++)
        used[spray_next(&s, 0)]++;
    assert_true(used[5] >= 1);
    for (uint32_t e = 0; e < 8; e++)
        spray_report(&s, e, SPRAY_GONE, 0);
    assert_int_equal(s.n_penalties, 6);
    for (int i = 0; i < 100; i++)
        assert_true(spray_next(&s, 0) >= 6);
    spray_free(&s);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bitmap_record), cmocka_unit_test(test_reps_record),
        cmocka_unit_test(test_oblivious),     cmocka_unit_test(test_penalties),
        cmocka_unit_test(test_mixed),         cmocka_unit_test(test_mrc),
        cmocka_unit_test(test_freeze),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
