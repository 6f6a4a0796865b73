// SPDX-License-Identifier: MIT
// Helpers of the commands: values that follow from the options, and error messages.
#include <stdio.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/terminal/terminal.h"
#include "engine/err.h"
#include "engine/memory.h"

void options_set(struct options *o, const char *path, const char *value)
{
    o->sets = memory_resize(o->sets, o->n_sets + 1, sizeof *o->sets);
    o->sets[o->n_sets++] = (struct collwire_setting){path, value};
}

void options_jobs(struct options *o)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t threads = o->threads > 0 ? o->threads : 1,
             most = cpus > 0 ? (uint64_t)cpus / threads : 1;
    if (o->jobs == 0)
        o->jobs = most > 0 ? most : 1;
}

bool options_print_results(const struct options *o)
{
    return !o->quiet || o->format != FORMAT_TABLE;
}

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
    fprintf(stderr, "collwire: %s takes one scenario file; see collwire %s --help\n", o->command,
            o->command);
    return NULL;
}

void errors_print(struct err *err)
{
    for (size_t i = 0; i < err->n_items; i++) {
        fprintf(stderr, "collwire: %s", err->items[i].warning ? "warning: " : "");
        text_print(stderr, err->items[i].text);
        fputc('\n', stderr);
    }
    err_free(err);
}
