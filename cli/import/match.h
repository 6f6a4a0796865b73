// SPDX-License-Identifier: MIT
// Whether the recordings of all ranks are of one job and one time: groups, counts, sizes, steps.
#pragma once

#include "cli/import/recording.h"

// Check all ranks against each other, number the collectives of each group, and set the sizes that
// its members agree on. Errors name the ranks and files.
void recording_match(struct recording *r);

// The number of ranks of the group whose recordings are missing.
uint32_t group_missing(const struct recording *r, const struct recorded_group *group);
