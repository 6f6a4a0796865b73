// SPDX-License-Identifier: MIT
// A scenario from three files of ASTRA-sim 1.0.
#pragma once

#include <stdint.h>

#include "engine/base/err.h"

struct astra_import {
    const char *network, *system, *workload; // files, relative to the working directory
    uint64_t passes;
    double compute_scale;
};

// Make one scenario that contains all three files, as indented JSON; NULL with errors. free() it.
char *astra_import(const struct astra_import *from, struct err *err);
