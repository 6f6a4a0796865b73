// SPDX-License-Identifier: MIT
// The library through its public header: errors all at once, texts as scenarios, progress,
// cancellation, other locales, and runs in several threads with the bytes of the command line.
#include <locale.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "collwire/collwire.h"

static const char incast[] =
    "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":5}]},"
    "\"workload\":{\"kind\":\"incast\",\"senders\":4,\"receiver\":4,\"bytes\":\"2MB\"}}";

static struct collwire_scenario *parse(const char *text, const struct collwire_setting *settings,
                                       size_t n, const struct collwire_policies *policies,
                                       struct collwire_messages *m)
{
    return collwire_scenario_parse(text, ".", settings, n, policies, m);
}

static void test_all_errors_at_once(void **state)
{
    (void)state;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    const struct collwire_setting wrong[] = {
        {"cc.kind", "dcqn"}, {"workload.bytes", "1X"}, {"switch.buffers", "1MB"}};
    assert_null(parse(incast, wrong, 3, policies, m));
    assert_int_equal(collwire_messages_errors(m), 3);
    assert_int_equal(collwire_messages_count(m), 3);
    assert_non_null(strstr(collwire_messages_text(m, 1), "cc.kind: unknown policy \"dcqn\""));
    assert_int_equal(collwire_messages_is_warning(m, 1), 0);
    assert_null(collwire_messages_text(m, 3));
    collwire_messages_clear(m);
    assert_int_equal(collwire_messages_count(m), 0);
    assert_null(parse("[1]", NULL, 0, policies, m));
    assert_null(parse("{", NULL, 0, policies, m));
    assert_null(collwire_scenario_load("/nowhere.json", NULL, 0, policies, m));
    assert_int_equal(collwire_messages_errors(m), 3);
    collwire_messages_clear(m);
    // without a loader no plugin can be loaded
    assert_int_equal(collwire_policies_add(policies, "x.so", m), -1);
    assert_string_equal(collwire_messages_text(m, 0),
                        "plugin: x.so: this program cannot load plugins");
    assert_string_equal(collwire_policies_name(policies, 0), "none");
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

static int count_progress(void *ctx, const struct collwire_progress *p)
{
    assert_true(p->done >= 0 && p->done <= 1);
    return ++*(int *)ctx >= 3; // the third ends the run
}

static void test_progress_and_cancellation(void **state)
{
    (void)state;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    const struct collwire_setting large[] = {{"workload.bytes", "2GB"}};
    struct collwire_scenario *s = parse(incast, large, 1, policies, m);
    struct collwire_sim *sim = collwire_sim_new(s, 1, m);
    assert_non_null(sim);
    int calls = 0;
    struct collwire_run how = {
        .bytes = sizeof how, .ctx = &calls, .progress = count_progress, .progress_s = 0.01};
    assert_null(collwire_sim_result(sim, "metrics.json"));
    assert_int_equal(collwire_sim_run(sim, &how, m), COLLWIRE_INTERRUPTED);
    assert_int_equal(calls, 3);
    char *metrics = collwire_sim_result(sim, "metrics.json");
    assert_non_null(strstr(metrics, "\"status\": \"interrupted\""));
    collwire_free(metrics);
    collwire_sim_free(sim);
    // cancelled before it begins
    sim = collwire_sim_new(s, 1, m);
    collwire_sim_cancel(sim);
    assert_int_equal(collwire_sim_run(sim, NULL, m), COLLWIRE_INTERRUPTED);
    struct collwire_summary summary = {.bytes = sizeof summary};
    collwire_sim_summary(sim, &summary);
    assert_int_equal(summary.status, COLLWIRE_INTERRUPTED);
    assert_int_equal(summary.bytes, sizeof summary);
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

// A caller that was compiled when the struct was shorter.
static void test_short_structs(void **state)
{
    (void)state;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    struct collwire_scenario *s = parse(incast, NULL, 0, policies, m);
    struct collwire_sim *sim = collwire_sim_new(s, 1, m);
    struct collwire_cost cost = {.bytes = offsetof(struct collwire_cost, wall_s), .wall_s = -7};
    collwire_sim_cost(sim, &cost);
    assert_true(cost.packet_hops > 4 * 488 * 4);
    assert_true(cost.wall_s < -6);
    assert_string_equal(collwire_sim_file(sim, 0), "metrics.json");
    assert_string_equal(collwire_sim_file(sim, 1), "run.json");
    assert_null(collwire_sim_file(sim, 2));
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

/* ---- runs as the command line's ---- */

#define SCENARIOS 6
static const char *const scenarios[SCENARIOS] = {"policies", "tcp",     "uec",
                                                 "training", "program", "faults"};

// metrics.json of a scenario of the golden runs, by the library.
static char *run_one(const char *name)
{
    char path[256];
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    snprintf(path, sizeof path, "tests/golden/%s/scenario.json", name);
    const struct collwire_setting settings[] = {{"capture", "[]"}};
    struct collwire_scenario *s = collwire_scenario_load(path, settings, 1, policies, m);
    struct collwire_sim *sim = s ? collwire_sim_new(s, 2, m) : NULL;
    if (!sim)
        fail_msg("%s: %s", name, collwire_messages_text(m, 0));
    collwire_sim_run(sim, NULL, m);
    char *text = collwire_sim_result(sim, "metrics.json");
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
    return text;
}

// The same by the command line.
static char *run_command(const char *name)
{
    char command[512], folder[] = "/tmp/collwire-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "%s run tests/golden/%s/scenario.json --set 'capture=[]' --quiet --out %s 2>/dev/null",
             getenv("COLLWIRE"), name, folder);
    assert_true(system(command) >= 0);
    snprintf(path, sizeof path, "%s/metrics.json", folder);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *text = calloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, file), size);
    fclose(file);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return text;
}

struct half {
    size_t first;
    char *texts[SCENARIOS];
};

// Every scenario, in an order of its own, so that the two threads always run different ones.
static void *run_all(void *ctx)
{
    struct half *half = ctx;
    for (size_t i = 0; i < SCENARIOS; i++) {
        size_t at = (half->first + i) % SCENARIOS;
        half->texts[at] = run_one(scenarios[at]);
    }
    return NULL;
}

static void test_threads_give_the_same_bytes(void **state)
{
    (void)state;
    struct half halves[2] = {{.first = 0}, {.first = SCENARIOS / 2}};
    pthread_t threads[2];
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_all, &halves[i]), 0);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    for (size_t k = 0; k < SCENARIOS; k++) {
        char *by_command = run_command(scenarios[k]);
        for (size_t i = 0; i < 2; i++) {
            if (strcmp(halves[i].texts[k], by_command) != 0)
                fail_msg("%s in thread %zu: other bytes", scenarios[k], i);
            collwire_free(halves[i].texts[k]);
        }
        free(by_command);
    }
}

// A program whose numbers have a decimal comma. tests/library/check_library.py makes the locale.
// Warnings and values of "auto" before a run, which they do not change.
static void test_rows_of_metrics(void **state)
{
    (void)state;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    struct collwire_scenario *s = parse(incast, NULL, 0, policies, m);
    struct collwire_sim *sim = collwire_sim_new(s, 1, m);
    collwire_sim_run(sim, NULL, m);
    char *metrics = collwire_sim_result(sim, "metrics.json");
    char *rows = collwire_metrics_rows(metrics, "mine");
    assert_non_null(strstr(rows, "\"scenario\": \"t\""));
    assert_non_null(strstr(rows, "\"cc\": \"mine\""));
    assert_non_null(strstr(rows, "\"status\": \"completed\""));
    assert_non_null(strstr(rows, "\"sim_time_ns\": "));
    collwire_free(rows);
    collwire_free(metrics);
    // what is no metrics.json, or one that somebody has changed
    assert_null(collwire_metrics_rows("", "none"));
    assert_null(collwire_metrics_rows("[1]", "none"));
    assert_null(collwire_metrics_rows("{\"name\": 3}", "none"));
    rows =
        collwire_metrics_rows("{\"name\": \"a\", \"seed\": \"b\", \"flows\": 1, \"jobs\": [2, {}],"
                              " \"explain\": {}, \"slowest\": []}",
                              "none");
    assert_non_null(strstr(rows, "\"status\": \"failed\""));
    collwire_free(rows);
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

// The metrics of a run of the incast with a seed; to be freed.
static char *incast_metrics(const char *seed, const struct collwire_policies *policies)
{
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_setting set = {"seed", seed};
    struct collwire_scenario *s = parse(incast, &set, 1, policies, m);
    struct collwire_sim *sim = collwire_sim_new(s, 1, m);
    collwire_sim_run(sim, NULL, m);
    char *metrics = collwire_sim_result(sim, "metrics.json");
    collwire_sim_free(sim);
    collwire_scenario_free(s);
    collwire_messages_free(m);
    return metrics;
}

static void test_comparison(void **state)
{
    (void)state;
    struct collwire_policies *policies = collwire_policies_new(NULL);
    struct collwire_comparison *c = collwire_comparison_new();
    assert_null(collwire_comparison_result(c, NULL, "compare.json")); // there are no runs
    char *first = incast_metrics("1", policies), *second = incast_metrics("2", policies);
    assert_int_equal(collwire_comparison_add(c, "mine", first), 0);
    assert_int_equal(collwire_comparison_add(c, "mine", second), 0);
    assert_int_equal(collwire_comparison_add(c, "none", first), 0);
    assert_int_equal(collwire_comparison_add(c, "none", "[1]"), -1);
    char *json = collwire_comparison_result(c, NULL, "compare.json");
    assert_non_null(strstr(json, "\"seeds\": 2,"));
    assert_non_null(strstr(json, "\"baseline\": \"none\""));
    assert_non_null(strstr(json, "\"ratio\": 1.0,"));
    collwire_free(json);
    json = collwire_comparison_result(c, "mine", "compare.json");
    assert_non_null(strstr(json, "\"baseline\": \"mine\""));
    collwire_free(json);
    char *csv = collwire_comparison_result(c, NULL, "compare.csv");
    assert_non_null(strstr(csv, "\nt,mine,2,"));
    collwire_free(csv);
    assert_null(collwire_comparison_result(c, "other", "compare.json"));
    assert_null(collwire_comparison_result(c, NULL, "report.html"));
    collwire_free(first);
    collwire_free(second);
    collwire_comparison_free(c);
    collwire_comparison_free(NULL);
    collwire_policies_free(policies);
}

static void test_advice(void **state)
{
    (void)state;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    const struct collwire_setting sets[] = {{"cc.kind", "dcqcn"}, {"switch.buffer", "1MB"}};
    struct collwire_scenario *s = parse(incast, sets, 2, policies, m);
    struct collwire_sim *advised = collwire_sim_new(s, 1, m), *plain = collwire_sim_new(s, 1, m);
    char *text = collwire_sim_advice(advised);
    assert_non_null(strstr(text, "\"kind\": \"marks_late\""));
    assert_non_null(strstr(text, "\"key\": \"switch.ecn.kmin\""));
    assert_non_null(strstr(text, "\"key\": \"switch.pfc.headroom\""));
    collwire_free(text);
    collwire_sim_run(advised, NULL, m);
    collwire_sim_run(plain, NULL, m);
    char *a = collwire_sim_result(advised, "metrics.json"),
         *b = collwire_sim_result(plain, "metrics.json");
    assert_string_equal(a, b);
    collwire_free(a);
    collwire_free(b);
    collwire_sim_free(advised);
    collwire_sim_free(plain);
    // a network in closed form has nothing to advise
    const struct collwire_setting closed[] = {{"network", "analytical"}};
    struct collwire_scenario *c = parse(incast, closed, 1, policies, m);
    struct collwire_sim *sim = collwire_sim_new(c, 1, m);
    text = collwire_sim_advice(sim);
    assert_null(strstr(text, "kind"));
    collwire_free(text);
    collwire_sim_free(sim);
    collwire_scenario_free(c);
    collwire_scenario_free(s);
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

static void test_other_locales(void **state)
{
    (void)state;
    const char *name = getenv("TEST_LOCALE");
    char shown[16];
    if (!name) // only where the script calls this test
        return;
    assert_non_null(setlocale(LC_ALL, name));
    snprintf(shown, sizeof shown, "%.1f", 1.5);
    assert_string_equal(shown, "1,5");
    char *here = run_one("policies"), *there = run_command("policies");
    assert_string_equal(here, there);
    collwire_free(here);
    free(there);
    snprintf(shown, sizeof shown, "%.1f", 1.5); // the program's locale is as before
    assert_string_equal(shown, "1,5");
    setlocale(LC_ALL, "C");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_errors_at_once),
        cmocka_unit_test(test_progress_and_cancellation),
        cmocka_unit_test(test_short_structs),
        cmocka_unit_test(test_rows_of_metrics),
        cmocka_unit_test(test_comparison),
        cmocka_unit_test(test_advice),
        cmocka_unit_test(test_other_locales),
        cmocka_unit_test(test_threads_give_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
