// SPDX-License-Identifier: MIT
// collwire explain --verify: runs without the causes that a run names.
#pragma once

#include <jansson.h>

#include "cli/options/options.h"

// Run the scenario of the run in `dir` again without each of its first o->verify causes that a
// setting removes, several at a time, and write DIR/verified.json. Returns an exit code.
int verify_run(const struct options *o, const char *dir, const json_t *metrics);
