// SPDX-License-Identifier: MIT
// The process's memory: what the machine allows, a reserve for the time when nothing is left, and whether
// a run is to end because of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Bytes that the process may use when `limits.memory` is "auto": 80 % of what the machine, the control
// group and the limit on address space leave, plus what it uses already.
uint64_t memory_available(void);

// From now on `n` processes share what is available.
void memory_share(uint64_t n);

// Keep a reserve, and from now on hold memory_low() against `limit_bytes` of resident memory.
void memory_guard(uint64_t limit_bytes);

// Has an allocation failed, or does the process use more than its limit? Cheap: it looks 20 times a
// second.
bool memory_low(void *unused);

// Resident bytes of the process, from /proc.
uint64_t memory_resident(void);
