// SPDX-License-Identifier: MIT
// collwire extcap: the interface of Wireshark.
#pragma once

#include "cli/options/options.h"

int command_extcap(const struct options *o); // returns the exit code
