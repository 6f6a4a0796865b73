// SPDX-License-Identifier: MIT
// collwire library.
#pragma once

#include "cli/options/options.h"

int command_library(const struct options *o); // returns the exit code
