// SPDX-License-Identifier: MIT
// A scenario's program as execution traces, and the scenario that runs them.
#pragma once

#include "config/scenario.h"

// What the caller does about signals, so that an interruption leaves no file: `staged` gets the
// name of each file before it is made, `hold` blocks them while files get their names.
struct export_signals {
    void (*staged)(const char *path);
    void (*hold)(bool on);
};

// Write PREFIX.N.et for each rank, PREFIX.groups.json and PREFIX.json, the scenario with the job
// replaced by one of kind chakra. Returns 0, or -1 with errors.
int chakra_export(const struct scenario *scenario, const char *prefix,
                  const struct export_signals *signals, struct err *err);
