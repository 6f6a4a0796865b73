// SPDX-License-Identifier: MIT
// collwire import FILE|DIR...: decides by the content of the files.
#pragma once

#include "cli/options/options.h"

// Import what the arguments hold. Returns the exit code.
int import_any(const struct options *o);
