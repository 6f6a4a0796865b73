// SPDX-License-Identifier: MIT
// Memory of the process: the amount that the machine allows, a reserve for the case that an
// allocation fails, and the check whether a run must end because of it.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Bytes that the process may use if `limits.memory` is "auto": 80 % of what the machine, the
// control group and the address-space limit leave, plus what the process uses already.
uint64_t memory_available(void);

// From now on `n` processes share the available memory.
void memory_share(uint64_t n);

// Allocate the reserve, and from now on compare resident memory with `limit_bytes` in memory_low().
void memory_guard(uint64_t limit_bytes);

// True if an allocation has failed or the process uses more than its limit. Cheap: reads /proc at
// most 20 times a second.
bool memory_low(void *unused);

// Resident memory of the process in bytes, from /proc.
uint64_t memory_resident(void);
