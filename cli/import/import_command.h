// SPDX-License-Identifier: MIT
// collwire import: scenarios of other simulators, and recordings of real runs.
#pragma once

#include "cli/options/options.h"

extern const struct command import_command;
