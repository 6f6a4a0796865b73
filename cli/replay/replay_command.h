// SPDX-License-Identifier: MIT
// collwire replay: captures of real networks, as scenarios of flows.
#pragma once

#include "cli/options/options.h"

extern const struct command replay_command;
