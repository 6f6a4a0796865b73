// SPDX-License-Identifier: MIT
// What every schedule of training out of core must obey, derived from what each pass needs and not
// from the schedule's own account of memory.
#pragma once

#include "engine/base/rng.h"
#include "workload/cnn/offload_schedule.h"

#define LAYERS_MAX 24

// Check that each pass has what it needs, and that the capacity holds, as planned and where
// operations take other times; and that the planned times and the planned peak are true.
void check_schedule(const struct offload_chain *c, const struct offload_choice *choice,
                    const struct offload_schedule *s, struct rng *rng);
