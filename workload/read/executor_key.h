// SPDX-License-Identifier: MIT
// The key `library` of a job: what runs its collectives.
#pragma once

#include "collective/algorithm/collective.h"
#include "collective/nccl/executor_spec.h"
#include "workload/kind.h"
#include "workload/read/job_parts.h"
#include "workload/read/job_ranks.h"

// Read `library`: "textbook", or an object of kind nccl, rccl, xml or mpi. For textbook
// executor_is_given() stays false.
void executor_read(struct reader *r, const struct place *place, struct executor_spec *spec);
// The library of a machine's vendor with its own choices: what runs where a scenario names a
// machine, and nothing that a library decides.
void executor_default(struct reader *r, struct executor_spec *spec);
void executor_write(json_t *json, const char *key, const void *value, const json_t *given);
json_t *executor_schema(void); // refers to the definition, which is added once
void executor_definition(json_t *defs);

#define EXECUTOR_ANY_BYTES UINT64_MAX

// Check that the library runs on the job's ranks, that it has an algorithm for the operation, and
// that the pairs of this algorithm can exchange messages. Returns false after an error. `shape`:
// the operation, its ranks, root and bytes (EXECUTOR_ANY_BYTES = of any size); `members`: rank of
// the job of each member, NULL = all.
bool executor_check(struct reader *r, const struct place *place, const struct job_spec *job,
                    const struct executor_spec *spec, const struct coll_shape *shape,
                    const uint32_t *members);

// True if executor_check() checks all ranks of the network for any group, so that one group's
// answer holds for the others.
static inline bool executor_checks_all(const struct executor_spec *spec)
{
    return spec->machine != NULL;
}

// Its row for a struct executor_spec at member `at` of the settings struct `of`.
#define LIBRARY_PART(of, at, only_)                                                                \
    PART_ROW("library", "word or object", "textbook; of a collective on a machine its vendor's",   \
             "textbook: the algorithms above; or {\"kind\": \"nccl\", ...}, or \"rccl\": as NCCL " \
             "or RCCL runs them on the machine of the topology (docs/nccl.md); or {\"kind\": "     \
             "\"xml\", ...}: as MSCCL runs the algorithm of a file there "                         \
             "(docs/xml-algorithms.md); or {\"kind\": \"mpi\", ...}: as Open MPI runs them on "    \
             "any network (docs/mpi.md)",                                                          \
             .offset = offsetof(of, at), .write = executor_write, .schema = executor_schema,       \
             .only = only_)
