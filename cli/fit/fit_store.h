// SPDX-License-Identifier: MIT
// Runs of a fit that have ended: lines of JSON {"of": mark, "key": point and seed, "values": [..]}.
#pragma once

#include <jansson.h>
#include <stddef.h>

// Add the runs of a scenario with this mark and so many values to `known`, by their keys; other
// lines are left out.
void fit_store_read(json_t *known, const char *path, const char *mark, size_t n_values);
