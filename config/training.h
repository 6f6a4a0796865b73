// SPDX-License-Identifier: MIT
// Training jobs in a scenario: their keys, and what must hold whatever they come from.
#pragma once

#include "config/read.h"
#include "workload/training_spec.h"

#define TRAINING_NS_MAX UINT64_C(100000000000000)     // 100000 s
#define TRAINING_BYTES_MAX UINT64_C(1000000000000000) // 1 PB

// Do the arguments fit the keyword and the layers? 0, or -1 with errors at `path`.
int training_check(const struct training_spec *spec, const char *path, struct err *err);

// Are its times and bytes what a scenario may have? For layers that were computed: 0, or -1.
int training_check_sizes(const struct training_spec *spec, const char *path, struct err *err);

// Can the model-parallel group be built of these dimensions, innermost first? It must take whole
// dimensions, of the last one a part that divides it. 0, or -1 with an error at `path`.
int training_check_group(const struct training_spec *spec, const uint32_t *dim_size,
                         uint32_t n_dims, const char *path, struct err *err);

// The keys `parallelism`, its arguments and `layers` of a job into *spec, added to `keys`: 0, or -1
// with errors, and *spec is empty. training_free() it.
int training_read(struct reader *r, const struct place *job, struct keys *keys,
                  struct training_spec *spec);

// The same keys as they are read: into the object `job`.
void training_write(json_t *job, const struct training_spec *spec);
