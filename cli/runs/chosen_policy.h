// SPDX-License-Identifier: MIT
// A scenario under the policy that --cc names.
#pragma once

#include "cli/options/options.h"

// Load a scenario with the settings of the command line and, if --cc is given, with that policy in
// place of its own. "-" is stdin. NULL with errors, one of them if --cc names several policies.
struct collwire_scenario *scenario_chosen(const struct options *o, const char *path,
                                          struct err *err);
