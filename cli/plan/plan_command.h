// SPDX-License-Identifier: MIT
// collwire plan.
#pragma once

#include "cli/options/options.h"

extern const struct command plan_command;
