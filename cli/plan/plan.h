// SPDX-License-Identifier: MIT
// collwire plan.
#pragma once

#include "cli/options/options.h"

int command_plan(const struct options *o); // returns the exit code
