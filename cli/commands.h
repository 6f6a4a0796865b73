// SPDX-License-Identifier: MIT
// The table of commands. To add a command: its function, here or in the header of its room; its row
// beside it and a line in command_table.c; the options that it takes in options/option_table.c.
#pragma once

#include "cli/options/options.h"

extern const struct commands all_commands;

extern const struct command validate_command;
extern const struct command list_command;
extern const struct command new_command;
extern const struct command shrink_command;
extern const struct command export_command;
extern const struct command workload_command;
extern const struct command help_command;
extern const struct command generate_command;
