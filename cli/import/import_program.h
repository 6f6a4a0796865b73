// SPDX-License-Identifier: MIT
// A recording as a program of collwire (docs/programs.md), in JSON lines.
#pragma once

#include <stdio.h>

#include "cli/import/recording.h"

// Write the groups, then the nodes of every rank; the recording must be matched and its clocks
// estimated.
void recording_write(FILE *out, const void *recording);

// Communication streams of the rank that has most.
uint32_t recording_comm_streams(const struct recording *r);
