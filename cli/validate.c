// SPDX-License-Identifier: MIT
// collwire validate: reports all errors of a scenario without running it; collwire list.
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/list.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/signals.h"

int command_validate(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    signals_phase("reading the scenario");
    signals_show(progress_wanted(o));
    struct collwire_scenario *scenario = scenario_open(o, path, o->sets, o->n_sets, &err);
    struct collwire_cost cost;
    struct collwire_sim *sim = scenario ? simulation_build(scenario, &cost, &err) : NULL;
    signals_show(false);
    errors_print(&err);
    if (sim && o->print) {
        puts(collwire_scenario_json(scenario));
        char *derived = collwire_sim_describe(sim);
        fputs(derived, stderr);
        free(derived);
    } else if (sim && !o->quiet) {
        printf("%s: valid\n", collwire_scenario_name(scenario));
    }
    if (sim && !o->quiet && collwire_scenario_has_packets(scenario)) {
        char *text = collwire_sim_cost_text(sim, "");
        fputs(text, o->print ? stderr : stdout);
        free(text);
    }
    int code = sim ? EXIT_DONE : EXIT_BAD_USE;
    collwire_sim_free(sim);
    collwire_scenario_free(scenario);
    return code;
}

int command_list(const struct options *o)
{
    const char *what = o->n_args > 0 ? o->args[0] : NULL, *name = o->n_args > 1 ? o->args[1] : NULL;
    return list_print(stdout, what, name, options_catalogue(o)) == 0 ? EXIT_DONE : EXIT_BAD_USE;
}
