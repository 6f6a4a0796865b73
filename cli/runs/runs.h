// SPDX-License-Identifier: MIT
// Commands that simulate scenarios, or read the results of earlier runs. They return the exit code.
#pragma once

#include "cli/options/options.h"

int command_run(const struct options *o);
int command_compare(const struct options *o);
int command_explain(const struct options *o);
int command_report(const struct options *o);
int command_plot(const struct options *o);
