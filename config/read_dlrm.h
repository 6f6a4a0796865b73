// SPDX-License-Identifier: MIT
// The object `dlrm` of a training job.
#pragma once

#include "config/read.h"
#include "workload/dlrm.h"

// Batch, tables, sharding, dense layers and machine into the loop over `ranks`. 0, or -1 with errors,
// and *spec is empty.
int dlrm_read(struct reader *r, const struct place *place, uint32_t ranks,
              struct training_spec *spec);

// The object as it was given, with the defaults of what it leaves out.
json_t *dlrm_json(const json_t *given);
