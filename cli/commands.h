// SPDX-License-Identifier: MIT
// The commands of the program; each returns the exit code.
#pragma once

#include "cli/options.h"

int command_run(const struct options *o);
int command_compare(const struct options *o);
int command_validate(const struct options *o);
int command_list(const struct options *o);
int command_import(const struct options *o);
int command_workload(const struct options *o);
int command_report(const struct options *o);

// True if progress is to be shown.
bool progress_wanted(const struct options *o);

// Return the command's only scenario argument, or NULL after a message.
const char *scenario_argument(const struct options *o);
