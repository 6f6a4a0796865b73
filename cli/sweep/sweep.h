// SPDX-License-Identifier: MIT
// collwire sweep.
#pragma once

#include "cli/options/options.h"

int command_sweep(const struct options *o); // returns the exit code
