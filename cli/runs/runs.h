// SPDX-License-Identifier: MIT
// Commands that simulate scenarios, or read the results of earlier runs. They return the exit code.
#pragma once

#include "cli/options/options.h"

extern const struct command run_command;
extern const struct command compare_command;
extern const struct command explain_command;
extern const struct command report_command;
extern const struct command plot_command;
