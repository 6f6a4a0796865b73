// SPDX-License-Identifier: MIT
// collwire sweep.
#pragma once

#include "cli/options/options.h"

extern const struct command sweep_command;
