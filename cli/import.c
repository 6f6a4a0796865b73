// SPDX-License-Identifier: MIT
// collwire import: makes scenarios from files of other simulators.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/results/output.h"
#include "cli/terminal/terminal.h"
#include "config/import_astra.h"
#include "config/import_chakra.h"
#include "engine/text.h"

static char *astra(const struct options *o, struct err *err)
{
    struct astra_import from = {.network = o->args[1],
                                .system = o->args[2],
                                .workload = o->args[3],
                                .passes = o->passes,
                                .compute_scale = o->compute_scale};
    return astra_import(&from, err);
}

// Check the scenario with its traces, as `validate` does. Returns false with errors.
static bool chakra_check(const struct options *o, const char *text, struct err *err)
{
    const char *slash = o->file ? strrchr(o->file, '/') : NULL;
    char *folder = slash ? text_format("%.*s", (int)(slash - o->file), o->file) : NULL;
    struct collwire_scenario *scenario = collwire_scenario_parse(text, folder ? folder : ".", NULL,
                                                                 0, o->policies, messages_of(err));
    bool good = scenario != NULL;
    collwire_scenario_free(scenario);
    free(folder);
    return good;
}

static char *chakra(const struct options *o, struct err *err)
{
    struct chakra_import from = {.prefix = o->args[1],
                                 .network = o->network,
                                 .system = o->system,
                                 .groups = o->groups,
                                 .memory = o->memory,
                                 .output = o->file};
    char *text = chakra_import(&from, err);
    if (text && chakra_check(o, text, err))
        return text;
    free(text);
    return NULL;
}

int command_import(const struct options *o)
{
    struct err err = {0};
    char *text;
    if (o->n_args == 4 && strcmp(o->args[0], "astra") == 0) {
        text = astra(o, &err);
    } else if (o->n_args == 2 && strcmp(o->args[0], "chakra") == 0 && o->network && o->system) {
        text = chakra(o, &err);
    } else {
        fprintf(stderr, "collwire: import takes astra NETWORK.json SYSTEM.txt WORKLOAD.txt, or "
                        "chakra PREFIX --network FILE --system FILE; see collwire import "
                        "--help\n");
        return EXIT_BAD_USE;
    }
    errors_print(&err);
    int code = text ? text_write(o->file, text) : EXIT_BAD_USE;
    if (code == EXIT_DONE && o->file && !o->quiet)
        path_print(stdout, "scenario: %s\n", o->file);
    free(text);
    return code;
}
