// SPDX-License-Identifier: MIT
// collwire import: makes scenarios from files of other simulators.
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "config/import_astra.h"

int command_import(const struct options *o)
{
    struct err err = {0};
    if (o->n_args != 4 || strcmp(o->args[0], "astra") != 0) {
        fprintf(stderr, "collwire: import takes astra NETWORK.json SYSTEM.txt WORKLOAD.txt; see "
                        "collwire import --help\n");
        return EXIT_BAD_USE;
    }
    struct astra_import from = {.network = o->args[1],
                                .system = o->args[2],
                                .workload = o->args[3],
                                .passes = o->passes,
                                .compute_scale = o->compute_scale};
    char *text = astra_import(&from, &err);
    errors_print(&err);
    int code = text ? text_write(o->file, text) : EXIT_BAD_USE;
    free(text);
    return code;
}
