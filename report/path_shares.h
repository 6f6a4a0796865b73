// SPDX-License-Identifier: MIT
// The critical path of a run as shares by cause, for tables in which runs stand side by side.
#pragma once

#include <jansson.h>

#include "engine/critical_path.h"

// Set the share of every cause of the path, from `slowest` of metrics.json; they add up to 1. All
// are NAN if the run has no path.
void path_shares(const json_t *slowest, double shares[PATH_CAUSES]);

// Words of a cause: its key in `slowest.parts` without the unit, and the heading of its column,
// which is the same but for PFC.
const char *path_cause_key(enum path_cause cause);
const char *path_cause_heading(enum path_cause cause);
