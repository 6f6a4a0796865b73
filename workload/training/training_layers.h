// SPDX-License-Identifier: MIT
// Training jobs in a scenario: their keys, and checks that apply whatever their source.
#pragma once

#include "engine/text/read.h"
#include "workload/training/training_spec.h"

#define TRAINING_NS_MAX UINT64_C(100000000000000)     // 100000 s
#define TRAINING_BYTES_MAX UINT64_C(1000000000000000) // 1 PB

// Check that the arguments fit the keyword and the layers. Returns 0, or -1 with errors at `path`.
int training_check(const struct training_spec *spec, const char *path, struct err *err);

// Check that computed layers have times and bytes within the limits of a scenario. Returns 0, or -1
// with errors at `path`.
int training_check_sizes(const struct training_spec *spec, const char *path, struct err *err);

// Check that the model-parallel group can be built of these dimensions, innermost first: from
// complete dimensions, and a divisor of the size of the last one. Returns 0, or -1 with an error at
// `path`.
int training_check_group(const struct training_spec *spec, const uint32_t *dim_size,
                         uint32_t n_dims, const char *path, struct err *err);

// Read the keys `parallelism`, its arguments and `layers` of a job into *spec. Returns 0, or -1
// with errors and *spec empty. training_free() it.
int training_read(struct reader *r, const struct place *job, struct training_spec *spec);

// Write `parallelism`, its arguments and `layers` of a struct training_spec, `value`, into the
// resolved job `job`. Has the form of job_part.write; `key` is the name "parallelism".
void training_write(json_t *job, const char *key, const void *value, const json_t *given);
