// SPDX-License-Identifier: MIT
// collwire import: scenarios of other simulators, and recordings of real runs.
#pragma once

#include "cli/options/options.h"

int command_import(const struct options *o);
