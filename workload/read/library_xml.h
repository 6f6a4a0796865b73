// SPDX-License-Identifier: MIT
// "library": {"kind": "xml", "file": "allreduce.xml", "chunk": "1MiB", "pxn": false}.
#pragma once

#include "collective/algorithm/collective.h"
#include "collective/nccl/library_spec.h"
#include "workload/kind.h"
#include "workload/read/job_ranks.h"

// Read the own keys of the kind, and the file; `own`: the object's known keys. Errors leave
// `spec->xml` NULL.
void library_xml_read(struct reader *r, const struct place *place, struct keys *own,
                      struct library_spec *spec);
void library_xml_write(json_t *library, const struct library_spec *spec);
json_t *library_xml_schema(void);

// Check that the file's algorithm is one of the operation, for `n` ranks and `bytes` (UINT64_MAX:
// any). Returns false after an error.
bool library_xml_check(struct reader *r, const struct place *place, const struct library_spec *spec,
                       enum coll_op op, uint64_t bytes, uint32_t n);
