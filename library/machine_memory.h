// SPDX-License-Identifier: MIT
// Memory of the machine and of the process, from /proc, the control group and the limits.
#pragma once

#include <stdint.h>

// Bytes that a process may use if `limits.memory` is "auto": 80 % of what the machine, the control
// group and the address-space limit leave, divided among `sharers` processes, plus what it uses
// already.
uint64_t memory_available(uint64_t sharers);

// Resident memory of the process in bytes.
uint64_t memory_resident(void);
// The largest resident memory of the process so far, in bytes.
uint64_t memory_peak(void);
// Memory that the program and its allocations take, in whole megabytes: unlike the resident memory
// it does not depend on which pages of the program the system has loaded, so that two processes
// that have done the same get the same number.
uint64_t memory_allocated(void);
