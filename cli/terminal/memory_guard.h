// SPDX-License-Identifier: MIT
// Memory of the process: a reserve for the case that an allocation fails, and the check whether a
// run must end because of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// From now on `n` processes share the available memory.
void memory_share(uint64_t n);
uint64_t memory_sharers(void);

// A failed allocation ends the program in order: call first.
void memory_guard_init(void);

// Allocate the reserve: a simulation is about to run.
void memory_guard(void);

// True if an allocation has failed, so that the run must end.
bool memory_failed(void);
