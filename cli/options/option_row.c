// SPDX-License-Identifier: MIT
// What a row of the table of options says of a command, and how it is spelt.
#include <stdio.h>
#include <string.h>

#include "cli/options/option_table.h"

bool option_fits(const struct option_row *row, const char *command)
{
    if (!row->commands)
        return true;
    size_t length = strlen(command);
    for (const char *at = row->commands; (at = strstr(at, command)) != NULL; at += length)
        if ((at == row->commands || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

const char *option_spelling(const struct option_row *row, char text[32])
{
    if (row->name)
        snprintf(text, 32, "--%s", row->name);
    else
        snprintf(text, 32, "-%c", row->letter);
    return text;
}
