// SPDX-License-Identifier: MIT
// The directory of one run of a comparison.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// Returns SCENARIO/NAME[-seedK], the directory of a run below that of the comparison: characters of
// NAME other than letters, digits, dots and underscores become hyphens, several of them one. `seed`
// is NULL where there is one seed. To be freed.
char *run_folder(const char *scenario, const char *name, const uint64_t *seed);

// The same for a row of compare.json. `seeds`: the comparison has several.
char *run_folder_of(const json_t *row, bool seeds);
