// SPDX-License-Identifier: MIT
// The object `dlrm` of a training job.
#pragma once

#include "workload/read/job_parts.h"
#include "workload/training/dlrm.h"

// Read batch, tables, sharding, dense layers and machine, and make the loop over `ranks` ranks.
// Returns 0, or -1 with errors and *spec empty.
int dlrm_read(struct reader *r, const struct place *place, uint32_t ranks,
              struct training_spec *spec);

// Write the object as it was given, with defaults added; `value` is not used.
void dlrm_write(json_t *job, const char *key, const void *value, const json_t *given);

// The keys that are not in dlrm_params or gemm_params, and all keys as a schema.
extern const struct job_part dlrm_parts[];
json_t *dlrm_schema(void);
