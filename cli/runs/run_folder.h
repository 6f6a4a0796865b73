// SPDX-License-Identifier: MIT
// The directory of one run of a comparison.
#pragma once

#include <stdint.h>

// Returns SCENARIO/NAME[-seedK], the directory of a run below that of the comparison: characters of
// NAME other than letters, digits, dots and underscores become hyphens, several of them one. `seed`
// is NULL where there is one seed. To be freed.
char *run_folder(const char *scenario, const char *name, const uint64_t *seed);
