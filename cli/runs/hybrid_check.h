// SPDX-License-Identifier: MIT
// The hybrid network checked against packets: the run again, with packets in drawn windows.
#pragma once

#include <stdio.h>

#include "cli/options/options.h"
#include "cli/runs/simulate.h"

// Simulate the scenario of a run on the hybrid network again, with all messages in packets that are
// posted in `o->check` drawn windows, and print to `out` by how much the times of its jobs differ.
// Returns an exit code.
int hybrid_checked(const struct options *o, const struct collwire_scenario *scenario,
                   const char *metrics, FILE *out);
