// SPDX-License-Identifier: MIT
// A scenario's program as execution traces, and the scenario that runs them.
#pragma once

#include "config/scenario.h"

// Write PREFIX.N.et for each rank, PREFIX.groups.json and PREFIX.json, the scenario with the job
// replaced by one of kind chakra. Returns 0, or -1 with errors.
int chakra_export(const struct scenario *scenario, const char *prefix, struct err *err);
