// SPDX-License-Identifier: MIT
// The collectives that a system file of ASTRA-sim 2 gives as traces.
#pragma once

#include "engine/text/read.h"
#include "workload/kind.h"
#include "workload/read/astra2_system.h"

// Set the graphs of the operations that groups of the job use, whose schedules are known; errors
// are at the keys of `system`.
void custom_collectives_read(struct reader *r, const struct place *system,
                             const struct astra2_system *astra, const struct job_spec *job);
