// SPDX-License-Identifier: MIT
// Groups, statistics, the best policy and the table of a comparison, from metrics written by hand.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/text.h"
#include "report/comparison/comparison.h"
#include "report/study/comparison_table.h"

// Add a run with a time, a longest queue and pauses; `time_ns` 0 = it failed. Of its critical path
// the window took 1.9 ms, or 90 ns of a short run, the pace the rest but for 1 ns in queues.
static void add(struct rows *rows, const char *policy, uint64_t seed, unsigned time_ns,
                unsigned queue, unsigned pauses)
{
    unsigned window = time_ns > 1900000 ? 1900000 : 90;
    char *metrics = text_format(
        "{\"status\":\"completed\",\"seed\":%llu,\"sim_time_ns\":%u,"
        "\"queues\":{\"max_bytes\":%u},\"pfc\":{\"pause_frames\":%u},\"explain\":[\"says "
        "so\"],\"scenario\":{\"seed\":%llu},\"slowest\":{\"total_ns\":%u,\"parts\":{"
        "\"window_ns\":%u,\"pace_ns\":%u,\"queued_ns\":1}}}",
        (unsigned long long)seed, time_ns, queue, pauses, (unsigned long long)seed, time_ns, window,
        time_ns - window - 1);
    rows_add(rows, &(struct row_source){.scenario = "s",
                                        .policy = policy,
                                        .seed = seed,
                                        .metrics = time_ns > 0 ? metrics : NULL,
                                        .failure = "killed by signal 9 (Killed)"});
    free(metrics);
}

static size_t column(const char *key)
{
    size_t c = row_column_find(key);
    assert_true(c < ROW_COLUMNS);
    return c;
}

static char *table_of(const struct group *g, size_t width, bool colours)
{
    return comparison_table(g, &(struct table_style){"policy", width, colours, true});
}

static void test_statistics(void **state)
{
    (void)state;
    static const unsigned base[] = {100, 120, 110, 140, 120, 110, 130, 130},
                          x[] = {120, 150, 110, 190, 140, 130, 170, 160};
    struct rows rows = {0};
    for (unsigned s = 0; s < 8; s++) {
        add(&rows, "base", s + 1, base[s], 1000, 0);
        add(&rows, "x", s + 1, x[s], 1000, 0);
        add(&rows, "twice", s + 1, 2 * base[s], 1000, 0);
        add(&rows, "same", s + 1, 120, 1000, 0);
        add(&rows, "noise", s + 1, base[s] - 8 + 17 * (s % 2), 1000, 0);
    }
    struct comparison *c = comparison_new(&rows, "base");
    assert_int_equal(c->n, 1);
    assert_int_equal(c->n_seeds, 8);
    const struct group *g = &c->groups[0];
    size_t time = column("sim_time_ns");
    assert_int_equal(g->headline, time);
    assert_string_equal(g->baseline->name, "base");
    const struct column_summary *of_x = &g->outcomes[1].columns[time];
    assert_true(of_x->mean == 146.25 && of_x->median == 145);
    assert_true(fabs(of_x->ratio - 1170. / 960) < 1e-12);
    assert_true(of_x->ratio_interval.low > 1.1 && of_x->ratio_interval.high < 1.31);
    assert_true(column_differs(&g->outcomes[1], time));
    assert_true(g->outcomes[2].columns[time].ratio_interval.low == 2);
    assert_true(g->outcomes[3].identical && !g->outcomes[0].identical);
    // 120 against a mean of 120: the ratio is 1
    assert_false(column_differs(&g->outcomes[3], time));
    const struct column_summary *noise = &g->outcomes[4].columns[time];
    assert_true(noise->ratio_interval.low < 1 && noise->ratio_interval.high > 1);
    assert_false(column_differs(&g->outcomes[4], time));
    assert_true(isnan(g->outcomes[0].columns[column("busbw_bps")].mean));
    // a column that is zero has a mean, but no ratio
    assert_true(g->outcomes[1].columns[column("pause_frames")].mean == 0);
    assert_true(isnan(g->outcomes[1].columns[column("pause_frames")].ratio));
    comparison_free(c);
    rows_free(&rows);
}

static void test_best_and_table(void **state)
{
    (void)state;
    struct rows rows = {0};
    add(&rows, "none", 1, 1930000, 8400000, 561);
    add(&rows, "swift", 1, 1935000, 700000, 0); // within 1 %: the shorter queue decides
    add(&rows, "dcqcn:a_preset{with=settings,of=length}", 1, 5610000, 4100000, 0);
    add(&rows, "gone", 1, 0, 0, 0);
    struct comparison *c = comparison_new(&rows, "none");
    char *table = table_of(&c->groups[0], 90, false);
    assert_string_equal(
        table,
        "policy                              time  vs none  max queue  pauses  window  pace\n"
        "                                      ms                  MB               %     %\n"
        "none                                1.93        1       8.40     561      98     2\n"
        "swift *                             1.94     1.00      0.700       0      98     2\n"
        "dcqcn:a_preset{with=settings,o..    5.61     2.91       4.10       0      34    66\n"
        "gone                              failed        -          -       -       -     -");
    free(table);
    table = table_of(&c->groups[0], 60, false); // what does not fit is left out
    assert_null(strstr(table, "max queue"));
    free(table);
    table = table_of(&c->groups[0], 80, true);
    assert_non_null(strstr(table, "\033[32mswift"));
    free(table);
    comparison_free(c);
    rows_free(&rows);
}

static void test_few_seeds(void **state)
{
    (void)state;
    struct rows rows = {0};
    for (unsigned s = 1; s <= 3; s++) {
        add(&rows, "none", s, 100 + s, 500, 0);
        add(&rows, "above", s, 200 + s, 500, 0);
        add(&rows, "mixed", s, 97 + 3 * s, 500, 0);
    }
    add(&rows, "above", 4, 0, 0, 0); // killed
    struct comparison *c = comparison_new(&rows, "none");
    const struct group *g = &c->groups[0];
    assert_true(column_differs(&g->outcomes[1], g->headline));
    assert_true(g->outcomes[2].columns[g->headline].mixed);
    assert_false(column_differs(&g->outcomes[2], g->headline));
    assert_int_equal(g->outcomes[1].n_completed, 3);
    assert_true(fabs(g->outcomes[1].shares[PATH_WINDOW] - (90. / 201 + 90. / 202 + 90. / 203) / 3) <
                1e-12);
    char *table = table_of(g, 59, false); // without the smaller share
    assert_string_equal(table, "policy             time    vs none  max queue  window  pace\n"
                               "          ns, seeds 1-4                     B       %     %\n"
                               "none        101 102 103          1        500      88    11\n"
                               "above   201 202 203 n/a       1.98        500      45    55\n"
                               "mixed       100 103 106  1.01 n.s.        500      87    12");
    free(table);
    comparison_free(c);
    rows_free(&rows);
}

// Where nothing differs, nothing is best.
static void test_nothing_differs(void **state)
{
    (void)state;
    struct rows rows = {0};
    add(&rows, "a", 1, 100, 500, 0);
    add(&rows, "b", 1, 100, 500, 0);
    struct comparison *c = comparison_new(&rows, "none");
    assert_string_equal(c->groups[0].baseline->name, "a");
    assert_false(c->groups[0].outcomes[0].best || c->groups[0].outcomes[1].best);
    json_t *json = comparison_json(c);
    assert_int_equal(json_array_size(json), 2);
    json_decref(json);
    comparison_free(c);
    rows_free(&rows);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_statistics),
        cmocka_unit_test(test_best_and_table),
        cmocka_unit_test(test_few_seeds),
        cmocka_unit_test(test_nothing_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
