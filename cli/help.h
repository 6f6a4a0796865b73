// SPDX-License-Identifier: MIT
// Pages of help, made from the tables of commands and options.
#pragma once

#include <stdio.h>

#include "cli/commands.h"

extern const char help_question[]; // the question that the program answers, one line
extern const char help_notes[];    // paragraphs that apply to all commands

// Print the list of commands.
void help_overview(const struct commands *commands, FILE *out);

// Print the page of a command.
void help_page(FILE *out, const struct command *command);
