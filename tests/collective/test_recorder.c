// SPDX-License-Identifier: MIT
// Records: sums of times are exact in any order, and the order of records does not depend on the
// order in which they were opened.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collective/recorder.h"

// One long time and many that a double of 53 bits would lose against it: 2^60 + 1000 * 1 ps.
static void test_sums_are_exact(void **state)
{
    (void)state;
    const ps_t large = INT64_C(1) << 60;
    for (int order = 0; order < 2; order++) {
        struct phase_record sum = {0};
        for (int i = 0; i <= 1000; i++) {
            ps_t time = i == (order ? 1000 : 0) ? large : 1;
            struct phase_record part = {
                .network_ps = time, .messages = 1, .queueing_ps = 2 * (ps_sum_t)time, .waits = 2};
            phase_record_add(&sum, &part);
        }
        assert_int_equal(phase_record_network_ps(&sum), (large + 1000) / 1001);
        assert_int_equal(phase_record_queueing_ps(&sum), (large + 1000) / 1001);
        assert_true(sum.network_ps == (ps_sum_t)large + 1000);
    }
}

// Sums beyond 64 bits: 100 times 26 days.
static void test_sums_have_room(void **state)
{
    (void)state;
    struct phase_record sum = {0}, part = {.network_ps = PS_NEVER / 4, .messages = 1};
    for (int i = 0; i < 100; i++)
        phase_record_add(&sum, &part);
    assert_int_equal(phase_record_network_ps(&sum), PS_NEVER / 4);
}

static void test_order(void **state)
{
    (void)state;
    // start, opener, job, communicator, number: each row is greater than the previous one in one
    // field
    static const uint32_t rows[][5] = {{1, 9, 9, 9, 9}, {2, 3, 9, 9, 9}, {2, 4, 0, 9, 9},
                                       {2, 4, 1, 0, 9}, {2, 4, 1, 1, 0}, {2, 4, 1, 1, 1}};
    enum { N = sizeof rows / sizeof *rows };
    struct collective_record records[N];
    for (uint32_t shift = 0; shift < N; shift++) {
        for (uint32_t i = 0; i < N; i++) {
            const uint32_t *row = rows[(i * 5 + shift) % N]; // 5 has no factor in common with 6
            records[i] = (struct collective_record){.start_ps = row[0],
                                                    .opener = row[1],
                                                    .job = row[2],
                                                    .comm = row[3],
                                                    .number = row[4]};
        }
        recorder_sort(&(struct recorder){.records = records, .n = N});
        for (uint32_t i = 0; i < N; i++) {
            assert_int_equal(records[i].start_ps, rows[i][0]);
            assert_int_equal(records[i].opener, rows[i][1]);
            assert_int_equal(records[i].job, rows[i][2]);
            assert_int_equal(records[i].comm, rows[i][3]);
            assert_int_equal(records[i].number, rows[i][4]);
        }
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sums_are_exact),
        cmocka_unit_test(test_sums_have_room),
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
