// SPDX-License-Identifier: MIT
// The kind mpi of the key `library`.
#pragma once

#include "config/algorithm/library.h"

void library_mpi_read(struct reader *r, const struct place *place, struct keys *own,
                      struct library_spec *spec);
void library_mpi_write(json_t *library, const struct library_spec *spec);
json_t *library_mpi_schema(void);

// Check that the library has the operation and, where it is the `one` operation of the job, that
// the algorithm is of it (a program's others run by the fixed rules). Returns false after an error.
bool library_mpi_check(struct reader *r, const struct place *place, const struct library_spec *spec,
                       enum coll_op op, bool one);
