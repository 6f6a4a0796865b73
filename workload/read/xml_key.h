// SPDX-License-Identifier: MIT
// "library": {"kind": "xml", "file": "allreduce.xml", "chunk": "1MiB", "pxn": false}.
#pragma once

#include "collective/algorithm/collective.h"
#include "collective/nccl/executor_spec.h"
#include "workload/kind.h"
#include "workload/read/job_ranks.h"

// Read the own keys of the kind, and the file; `own`: the object's known keys. Errors leave
// `spec->xml` NULL.
void executor_xml_read(struct reader *r, const struct place *place, struct keys *own,
                       struct executor_spec *spec);
void executor_xml_write(json_t *library, const struct executor_spec *spec);
json_t *executor_xml_schema(void);

// Check that the file's algorithm is one of the operation, for `n` ranks and `bytes` (UINT64_MAX:
// any). Returns false after an error.
bool executor_xml_check(struct reader *r, const struct place *place,
                        const struct executor_spec *spec, enum coll_op op, uint64_t bytes,
                        uint32_t n);
