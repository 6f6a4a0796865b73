// SPDX-License-Identifier: MIT
// The object `dlrm` of a training job.
#pragma once

#include "engine/text/object.h"
#include "engine/text/read.h"
#include "workload/training/dlrm.h"

// Read batch, tables, sharding, dense layers and machine, and make the loop over `ranks` ranks.
// Returns 0, or -1 with errors and *spec empty.
int dlrm_read(struct reader *r, const struct place *place, uint32_t ranks,
              struct training_spec *spec);

// The object as it was given, with defaults added.
json_t *dlrm_json(const json_t *given);

// The keys that are not in dlrm_params or gemm_params, for `collwire list`, and all keys as a
// schema.
extern const struct own_key dlrm_keys[];
extern const size_t n_dlrm_keys;
json_t *dlrm_schema(void);
