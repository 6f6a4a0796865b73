// SPDX-License-Identifier: MIT
// The kind mpi of the key `library`.
#pragma once

#include "collective/algorithm/collective.h"
#include "workload/kind.h"
#include "workload/read/library.h"

void library_mpi_read(struct reader *r, const struct place *place, struct keys *own,
                      struct library_spec *spec);
void library_mpi_write(json_t *library, const struct library_spec *spec);
json_t *library_mpi_schema(void);

// library_check() for this kind. An operation of LIBRARY_ANY_BYTES is one of several in a program,
// and runs by the fixed rules where `algo` is not one of its algorithms.
bool library_mpi_check(struct reader *r, const struct place *place, const struct job_spec *job,
                       const struct library_spec *spec, const struct coll_shape *shape,
                       const uint32_t *members);
