// SPDX-License-Identifier: MIT
// The command `partition`. partition_command.c reads the model and writes the scenario; the other
// files divide one kind of model each.
#pragma once

#include "cli/options/options.h"

extern const struct command partition_command;
