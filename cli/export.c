// SPDX-License-Identifier: MIT
// collwire export: writes a program as files that other simulators read.
#include <string.h>

#include "cli/commands.h"
#include "cli/terminal/signals.h"
#include "config/export_chakra.h"

static int command_export(const struct options *o)
{
    struct err err = {0};
    if (o->n_args != 2 || strcmp(o->args[0], "chakra") != 0 || o->file == NULL) {
        fprintf(stderr, "collwire: export takes chakra SCENARIO -o PREFIX; see collwire export "
                        "--help\n");
        return EXIT_BAD_USE;
    }
    struct collwire_scenario *scenario = scenario_open(o, o->args[1], o->sets, o->n_sets, &err);
    static const struct export_signals signals = {signals_remove_later, signals_hold};
    int result =
        scenario != NULL ? chakra_export(scenario_of(scenario), o->file, &signals, &err) : -1;
    signals_keep();
    collwire_scenario_free(scenario);
    errors_print(&err);
    if (result == 0)
        printf("traces: %s.*.et\nscenario: %s.json\n", o->file, o->file);
    return result == 0 ? EXIT_DONE : EXIT_BAD_USE;
}

/* ---- its row ---- */

static const char export_text[] =
    "Writes a scenario's job (a program of nodes, a collective, a training loop, a list of "
    "messages) as execution traces of MLCommons Chakra, one file a rank: "
    "PREFIX.0.et, PREFIX.1.et, .. and PREFIX.groups.json with the communicators, for other "
    "simulators; and PREFIX.json, the scenario that runs the traces.\n"
    "\n"
    "  collwire export chakra scenarios/llm/mixtral-64.json -o traces/mixtral\n"
    "  collwire run traces/mixtral.json";

const struct command export_command = {
    .name = "export",
    .help = "a program as files for other simulators",
    .args = "chakra SCENARIO",
    .text = export_text,
    .run = command_export,
    .completes = COMPLETE_FILES,
};
