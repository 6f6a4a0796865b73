// SPDX-License-Identifier: MIT
// The scenario of an imported recording: its network, machine and library by what the files name.
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "cli/import/recording.h"
#include "engine/base/err.h"

struct recording_scenario {
    const char *output;  // file of the scenario; NULL = not written
    const char *network; // a scenario whose network the job gets; NULL = by what the files name
    const char *program; // as the scenario names the program's file
    const char *name;
};

// Returns the scenario as JSON text; NULL with errors. What the files named, and what they did not,
// is written to `said` as lines; what was taken in place of it is an assumption of the recording.
char *recording_scenario(struct recording *r, const struct recording_scenario *from, FILE *said,
                         struct err *err);
