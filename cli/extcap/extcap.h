// SPDX-License-Identifier: MIT
// collwire extcap: the interface of Wireshark.
#pragma once

#include "cli/options/options.h"

extern const struct command extcap_command;
