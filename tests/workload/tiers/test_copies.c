// SPDX-License-Identifier: MIT
// Copies between tiers with several threads at work in every window: the same metrics as with one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/metrics.h"
#include "sim/parallel/parallel.h"
#include "sim/sim.h"
#include "sim/simulation.h"
#include "tests/config/load.h"

#define CASES 12

// Twelve ranks of three leaves, each with its own memory and SSD, and four memory hosts in the
// fourth; sizes and policies differ by the number of the case.
static void write_case(char *text, size_t room, unsigned number)
{
    static const char *const policies[] = {"none", "dcqcn", "swift"};
    snprintf(
        text, room,
        "{\"name\":\"t\",\"topology\":{\"dims\":[{\"kind\":\"leaf_spine\",\"size\":16,"
        "\"ranks_per_leaf\":4,\"spines\":2}]},\"cc\":{\"kind\":\"%s\"},"
        "\"workload\":{\"kind\":\"program\",\"ranks\":[0,1,2,3,4,5,6,7,8,9,10,11],"
        "\"tiers\":{\"ddr\":{\"rate\":\"150Gbps\"},\"ssd\":{\"read_rate\":\"28Gbps\"},"
        "\"far\":{\"hosts\":[12,13,14,15],\"rate\":\"%uGbps\",\"latency\":\"%uus\","
        "\"stripe\":\"%uKB\"}},\"nodes\":["
        "{\"rank\":\"all\",\"id\":0,\"kind\":\"copy\",\"from\":\"far\",\"to\":\"ddr\","
        "\"bytes\":%u},"
        "{\"rank\":\"all\",\"id\":1,\"kind\":\"copy\",\"from\":\"ssd\",\"to\":\"ddr\","
        "\"bytes\":%u,\"stream\":\"none\"},"
        "{\"rank\":[0,3,5,8],\"id\":2,\"kind\":\"copy\",\"from\":\"ddr\",\"to\":\"far\","
        "\"bytes\":400000,\"stream\":\"none\"},"
        "{\"rank\":\"all\",\"id\":3,\"kind\":\"copy\",\"from\":\"far\",\"to\":\"hbm\","
        "\"bytes\":%u,\"after\":1},"
        "{\"rank\":\"all\",\"id\":4,\"kind\":\"compute\",\"time\":\"3us\",\"after\":[0,3]},"
        "{\"rank\":\"all\",\"id\":5,\"kind\":\"copy\",\"from\":\"hbm\",\"to\":\"far\",\"bytes\":%u,"
        "\"after\":4}]}}",
        policies[number % 3], 40 + 60 * (number % 4), number % 3, 20 + 30 * (number % 5),
        200000 + 12345 * number, 90000 + 777 * number, 120000 + 1000 * number,
        150000 + 4321 * number);
}

static char *run(const char *text, uint32_t threads, uint64_t *together)
{
    struct err err = {0};
    struct scenario *scenario = load(text, &err);
    assert_non_null(scenario);
    struct sim *sim = sim_new(scenario_spec(scenario), &err);
    assert_non_null(sim);
    err_free(&err);
    sim_set_threads(sim, threads);
    sim->parallel.always_together = true;
    sim_run(sim, NULL);
    struct result *r = sim_result(sim);
    char *metrics = metrics_json(r, "{}");
    assert_non_null(strstr(metrics, "\"status\": \"completed\""));
    if (sim->fabric.shards != NULL)
        *together += sim->fabric.shards->counts.windows - sim->fabric.shards->counts.alone;
    result_free(r);
    sim_free(sim);
    scenario_free(scenario);
    return metrics;
}

static void test_same_bytes(void **state)
{
    static char text[4096];
    uint64_t together = 0;
    (void)state;
    for (unsigned number = 0; number < CASES; number++) {
        write_case(text, sizeof text, number);
        char *one = run(text, 1, &together);
        assert_int_equal(together > 0, number > 0);
        char *more = run(text, 2 + number % 3, &together);
        assert_string_equal(one, more);
        free(one);
        free(more);
    }
    assert_true(together > 100 * CASES);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
