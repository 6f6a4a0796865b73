// SPDX-License-Identifier: MIT
// Processes of one run as threads of one program, which exchange copies in memory.
#pragma once

#include <stdint.h>

#include "collwire/processes.h"

#define NO_PROCESS UINT32_MAX

struct processes_in_threads {
    uint32_t n;
    uint32_t silent;       // this process does not take part any more ..
    uint64_t silent_after; // .. after so many exchanges; NO_PROCESS = all do
    // Called in a thread of each process.
    void (*run)(void *ctx, const struct collwire_processes *processes);
    void *ctx;
};

// Runs all and returns when all have ended. A silent process fails at its next exchange with the
// number of another one, as it has heard of none, and the others with its number.
void processes_in_threads(const struct processes_in_threads *given);
