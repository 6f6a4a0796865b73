// SPDX-License-Identifier: MIT
// Runs a scenario by N processes, which are threads of this program, of T threads each, and prints
// the metrics of process 0.
// usage: same_results N T SCENARIO [PATH=VALUE]...
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collwire/collwire.h"
#include "engine/base/memory.h"
#include "tests/support/processes_in_threads.h"

#define SETTINGS_MOST 32

struct task {
    const char *file;
    unsigned threads;
    struct collwire_setting settings[SETTINGS_MOST];
    size_t n_settings;
    char *metrics; // of process 0
};

static void print(const struct collwire_messages *m, uint32_t rank)
{
    const char *text;
    for (size_t i = 0; (text = collwire_messages_text(m, i)) != NULL; i++)
        fprintf(stderr, "process %u: %s\n", rank, text);
}

static void run(void *ctx, const struct collwire_processes *processes)
{
    struct task *task = ctx;
    struct collwire_messages *m = collwire_messages_new();
    struct collwire_policies *policies = collwire_policies_new(NULL);
    struct collwire_scenario *scenario =
        collwire_scenario_load(task->file, task->settings, task->n_settings, policies, m);
    struct collwire_sim *sim = scenario ? collwire_sim_new(scenario, processes->n, m) : NULL;
    if (sim) {
        struct collwire_run how = {.bytes = sizeof how,
                                   .threads = task->threads,
                                   .processes = processes->n > 1 ? processes : NULL};
        collwire_sim_run(sim, &how, m);
        if (processes->rank == 0)
            task->metrics = collwire_sim_result(sim, "metrics.json");
    }
    print(m, processes->rank);
    collwire_sim_free(sim);
    collwire_scenario_free(scenario);
    collwire_policies_free(policies);
    collwire_messages_free(m);
}

int main(int argc, char **argv)
{
    struct task task = {.file = argc > 3 ? argv[3] : NULL};
    int n = argc > 3 ? atoi(argv[1]) : 0;
    if (n < 1 || argc - 4 > SETTINGS_MOST) {
        fputs("usage: same_results N T SCENARIO [PATH=VALUE]...\n", stderr);
        return 2;
    }
    task.threads = (unsigned)atoi(argv[2]);
    for (int i = 4; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value)
            return 2;
        *value = '\0';
        task.settings[task.n_settings++] = (struct collwire_setting){argv[i], value + 1};
    }
    processes_in_threads(&(struct processes_in_threads){
        .n = (uint32_t)n, .silent = NO_PROCESS, .run = run, .ctx = &task});
    if (!task.metrics)
        return 1;
    fputs(task.metrics, stdout);
    free(task.metrics);
    return 0;
}
