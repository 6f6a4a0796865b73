// SPDX-License-Identifier: MIT
// collwire: calls the command.
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/invocation.h"
#include "cli/signals.h"
#include "engine/memory.h"

static int command_help(const struct options *o)
{
    (void)o;
    options_usage(stdout);
    return EXIT_DONE;
}

static const struct command {
    const char *name;
    int (*run)(const struct options *o);
} commands[] = {
    {"run", command_run},           {"compare", command_compare}, {"validate", command_validate},
    {"list", command_list},         {"help", command_help},       {"import", command_import},
    {"workload", command_workload}, {"report", command_report},
};
#define N_COMMANDS (sizeof commands / sizeof *commands)

bool progress_wanted(const struct options *o)
{
    if (o->quiet || o->progress == PROGRESS_NEVER)
        return false;
    return o->progress == PROGRESS_ALWAYS || isatty(STDERR_FILENO);
}

const char *scenario_argument(const struct options *o)
{
    if (o->n_args == 1)
        return o->args[0];
    fprintf(stderr, "collwire: %s takes one scenario file; see collwire --help\n", o->command);
    return NULL;
}

static int dispatch(const struct options *o)
{
    const char *names[N_COMMANDS + 1] = {NULL};
    if (o->version) {
        puts("collwire " COLLWIRE_VERSION);
        return EXIT_DONE;
    }
    if (o->help || !o->command) {
        options_usage(o->help ? stdout : stderr);
        return o->help ? EXIT_DONE : EXIT_BAD_USE;
    }
    for (size_t i = 0; i < N_COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(o->command, commands[i].name) == 0)
            return commands[i].run(o);
    }
    const char *near = err_near_miss(o->command, names);
    fprintf(stderr, "collwire: unknown command \"%s\"%s%s%s; see collwire --help\n", o->command,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return EXIT_BAD_USE;
}

int main(int argc, char **argv)
{
    struct options options;
    invocation_keep(argc, argv);
    signals_install();
    json_set_alloc_funcs(memory_bytes, free);
    int status = options_parse(&options, argc, argv) == 0 ? dispatch(&options) : EXIT_BAD_USE;
    options_free(&options);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "collwire: stdout could not be written\n");
        status = status == EXIT_DONE ? EXIT_NOT_COMPLETED : status;
    }
    return status;
}
