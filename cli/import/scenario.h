// SPDX-License-Identifier: MIT
// The scenario of a recording.
#pragma once

#include "cli/import/recording.h"

// Returns the scenario as JSON text: the network of the scenario `network`, or one by the number of
// GPUs, and a job whose program is in the file `program`. NULL with errors.
char *recording_scenario(const struct recording *r, const char *network, const char *program,
                         const char *name, struct err *err);
