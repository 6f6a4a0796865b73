// SPDX-License-Identifier: MIT
// Ranks that were not recorded, by symmetry with ranks that were.
#pragma once

#include "cli/import/recording.h"

// Give every rank below r->world without a recording a copy of a recorded one: of rank i mod n if
// the recorded ranks are 0 to n - 1, else of the last recorded one before it. A group is taken to
// be one of a grid: n ranks with equal distances d, of which the first is a multiple of n * d and
// an offset below d; the copy calls the group of its own place in the grid, unless it is a member.
// Peers of messages keep their distance. Errors name the group or message for which this is
// impossible.
void recording_replicate(struct recording *r);
