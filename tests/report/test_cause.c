// SPDX-License-Identifier: MIT
// What cost a run the most time: its first reason, unless it cost next to nothing, else the largest
// part of the critical path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/cause.h"

static void test_causes(void **state)
{
    (void)state;
    static const struct {
        const char *run, *words;
    } rows[] = {
        {"{}", NULL},
        {"{'slowest': null, 'reasons': []}", NULL},
        {"{'slowest': {'parts': {'sending_ns': 40, 'network_ns': 60}}}", "latency"},
        {"{'slowest': {'parts': {'sending_ns': 70, 'network_ns': 30}}, 'reasons': []}",
         "transmission"},
        {"{'slowest': {'parts': {'pace_ns': 1000}}, 'reasons': [{'kind': 'paths', 'saved_ns': "
         "20}, {'kind': 'cuts', 'saved_ns': 900}]}",
         "uneven paths"},
        {"{'slowest': {'parts': {'pace_ns': 1000}}, 'reasons': [{'kind': 'paths', 'saved_ns': "
         "19}]}",
         "the pace"},
        {"{'slowest': {'parts': {'pace_ns': 1000}}, 'reasons': [{'kind': 'oversubscription', "
         "'saved_ns': null}]}",
         "the pace"}, // it was not tried
        {"{'reasons': [{'kind': 'of_a_later_version', 'saved_ns': 7}]}", "of a later version"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = strdup(rows[i].run), cause[CAUSE_TEXT];
        for (char *c = text; *c != '\0'; c++)
            *c = *c == '\'' ? '"' : *c;
        json_t *run = json_loads(text, 0, NULL);
        assert_non_null(run);
        const char *words = first_cause(run, cause);
        if (rows[i].words)
            assert_string_equal(words, rows[i].words);
        else
            assert_null(words);
        json_decref(run);
        free(text);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_causes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
