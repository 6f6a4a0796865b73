// SPDX-License-Identifier: MIT
// A scenario from execution traces and files of ASTRA-sim 2.
#pragma once

#include "config/scenario.h"
#include "engine/base/err.h"

struct chakra_import {
    const char *prefix, *network, *system; // relative to the working directory
    const char *groups, *memory;           // NULL = none
    bool ignores_missing;                  // dependencies on nodes that a file does not have
    const char *output;                    // file of the scenario; NULL = the working directory's
};

// Make the scenario, as indented JSON, which names the traces relative to `output`; NULL with
// errors. free() it.
char *chakra_import(const struct chakra_import *from, struct err *err);

// What the traces of the scenario that was made hold, as a line for people. free() it.
char *chakra_import_summary(const struct scenario *scenario);
