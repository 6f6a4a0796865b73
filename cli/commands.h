// SPDX-License-Identifier: MIT
// The table of commands. To add a command: its function, here or in the header of its room; a row
// in command_table.c; the options that it takes in options/option_table.c.
#pragma once

#include "cli/options/options.h"

extern const struct commands all_commands;

int command_validate(const struct options *o);
int command_list(const struct options *o);
int command_new(const struct options *o);
int command_shrink(const struct options *o);
int command_export(const struct options *o);
int command_workload(const struct options *o);
int command_help(const struct options *o);
int command_generate(const struct options *o);
