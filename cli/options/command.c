// SPDX-License-Identifier: MIT
// Finds commands by name.
#include "cli/options/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"
#include "engine/base/err.h"
#include "engine/base/memory.h"

const struct command *command_find(const struct commands *list, const char *name)
{
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(name, list->items[i]->name) == 0)
            return list->items[i];
    return NULL;
}

const struct command *command_named(const struct commands *list, const char *name)
{
    const struct command *command = command_find(list, name);
    if (command)
        return command;
    const char **names = memory_zeroed(list->n + 1, sizeof *names);
    for (size_t i = 0, n = 0; i < list->n; i++)
        if (!list->items[i]->hidden)
            names[n++] = list->items[i]->name;
    const char *near = err_near_miss(name, names);
    free(names);
    fputs("collwire: unknown command \"", stderr);
    text_print(stderr, name);
    fputc('"', stderr);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?\n", near);
    else
        fputs("; see collwire --help\n", stderr);
    return NULL;
}
