// SPDX-License-Identifier: MIT
// Helpers of the commands: values that follow from the options, and error messages.
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/options/options.h"
#include "cli/terminal/terminal.h"
#include "engine/base/err.h"
#include "engine/base/memory.h"

void options_set(struct options *o, const char *path, const char *value)
{
    o->sets = memory_resize(o->sets, o->n_sets + 1, sizeof *o->sets);
    o->sets[o->n_sets++] = (struct collwire_setting){path, value};
}

void options_set_all(struct options *o, const struct collwire_setting *sets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        options_set(o, sets[i].path, sets[i].value);
}

void options_shard(const struct options *o, size_t *part, size_t *parts, struct err *err)
{
    unsigned long i = 1, n = 1;
    char *end = NULL;
    if (o->shard && *o->shard >= '0' && *o->shard <= '9') {
        i = strtoul(o->shard, &end, 10);
        n = *end == '/' && end[1] >= '0' && end[1] <= '9' ? strtoul(end + 1, &end, 10) : 0;
    }
    if (o->shard && (!end || *end != '\0' || i < 1 || i > n || n > 1000000))
        err_add(err, "--shard", "\"%s\" is not I/N with I from 1 to N", o->shard);
    *part = i;
    *parts = n > 0 ? n : 1;
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
