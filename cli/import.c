// SPDX-License-Identifier: MIT
// collwire import: makes scenarios from files of other simulators.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "config/import_astra.h"
#include "config/import_chakra.h"

static char *astra(const struct options *o, struct err *err)
{
    struct astra_import from = {.network = o->args[1],
                                .system = o->args[2],
                                .workload = o->args[3],
                                .passes = o->passes,
                                .compute_scale = o->compute_scale};
    return astra_import(&from, err);
}

static char *chakra(const struct options *o, struct err *err)
{
    struct chakra_import from = {.prefix = o->args[1],
                                 .network = o->network,
                                 .system = o->system,
                                 .groups = o->groups,
                                 .memory = o->memory,
                                 .output = o->file};
    return chakra_import(&from, err);
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
                        "chakra PREFIX --network FILE --system FILE; see collwire import --help\n");
        return EXIT_BAD_USE;
    }
    errors_print(&err);
    int code = text ? text_write(o->file, text) : EXIT_BAD_USE;
    free(text);
    return code;
}
