// SPDX-License-Identifier: MIT
// collwire library.
#pragma once

#include "cli/options/options.h"

extern const struct command library_command;
