// SPDX-License-Identifier: MIT
// collwire validate: reports all errors of a scenario without running it; collwire list.
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/list.h"
#include "cli/signals.h"
#include "cli/simulate.h"
#include "sim/estimate.h"
#include "sim/sim.h"

int command_validate(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    signals_phase("reading the scenario");
    signals_show(progress_wanted(o));
    struct scenario *scenario = scenario_load(path, o->sets, o->n_sets, &o->policies, &err);
    struct sim *sim = NULL;
    signals_phase("building the network");
    uint64_t memory = scenario ? simulate_memory_limit(scenario_spec(scenario)) : 0;
    if (scenario)
        sim = sim_new(scenario_spec(scenario), &err);
    struct estimate cost = {0};
    if (sim)
        cost = sim_estimate(sim);
    if (sim && sim_check_captures(sim, &err) == 0)
        simulate_check_memory(&cost, memory, &err);
    signals_show(false);
    bool good = sim && err.n_errors == 0;
    errors_print(&err);
    if (good && o->print) {
        puts(scenario_resolved(scenario));
        char *derived = sim_describe(sim);
        fputs(derived, stderr);
        free(derived);
    } else if (good && !o->quiet) {
        printf("%s: valid\n", scenario_spec(scenario)->name);
    }
    if (good && !o->quiet && scenario_spec(scenario)->network == NETWORK_PACKET) {
        char *text = estimate_text(&cost, "");
        fputs(text, o->print ? stderr : stdout);
        free(text);
    }
    sim_free(sim);
    scenario_free(scenario);
    return good ? EXIT_DONE : EXIT_BAD_USE;
}

int command_list(const struct options *o)
{
    const char *what = o->n_args > 0 ? o->args[0] : NULL, *name = o->n_args > 1 ? o->args[1] : NULL;
    return list_print(stdout, what, name, &o->policies) == 0 ? EXIT_DONE : EXIT_BAD_USE;
}
