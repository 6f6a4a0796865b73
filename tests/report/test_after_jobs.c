// SPDX-License-Identifier: MIT
// Runs that last longer than their jobs: both times are said, where the difference is large.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "report/after_jobs.h"

static void test_sentences(void **state)
{
    (void)state;
    static const struct {
        const char *metrics, *want; // NULL = nothing is said
    } cases[] = {
        {"{'status':'completed','sim_time_ns':20056746,'jobs':[{'end_ns':199223}],"
         "'recovery':{'timeouts':5}}",
         "the job ended at 199 us; until 20.1 ms the run only waits for the last acknowledgements, "
         "after 5 retransmission timeouts"},
        {"{'status':'completed','sim_time_ns':3000000,'jobs':[{'end_ns':1000000},"
         "{'end_ns':1500000}],"
         "'recovery':{'timeouts':1}}",
         "the last job ended at 1.50 ms; until 3.00 ms the run only waits for the last "
         "acknowledgements, after 1 retransmission timeout"},
        {"{'status':'completed','sim_time_ns':2000,'jobs':[{'end_ns':1000}]}",
         "the job ended at 1.00 us; until 2.00 us the run only waits for the last "
         "acknowledgements"},
        {"{'status':'completed','sim_time_ns':1400,'jobs':[{'end_ns':1000}]}", NULL},
        {"{'status':'completed','sim_time_ns':3000,'jobs':[{'end_ns':1000},{'end_ns':null}]}",
         NULL}, // one runs
        {"{'status':'completed','sim_time_ns':3000,'jobs':[{'end_ns':1000},{'end_ns':2500}]}",
         NULL},
        {"{'status':'completed','sim_time_ns':0,'jobs':[]}", NULL},
        {"{'status':'incomplete','sim_time_ns':3000,'jobs':[{'end_ns':1000}]}", NULL},
        {"{}", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[256];
        size_t n = 0;
        for (; cases[i].metrics[n] != '\0'; n++)
            json[n] = cases[i].metrics[n] == '\'' ? '"' : cases[i].metrics[n];
        json[n] = '\0';
        json_t *metrics = json_loads(json, 0, NULL);
        assert_non_null(metrics);
        char *text = after_jobs_text(metrics);
        if (cases[i].want == NULL)
            assert_null(text);
        else
            assert_string_equal(text, cases[i].want);
        free(text);
        json_decref(metrics);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sentences)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
