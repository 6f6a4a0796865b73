// SPDX-License-Identifier: MIT
// config/object/job_registry.c with a line for the new kind; the linker uses this table instead of
// the original.
#include "workload/collective_job.h"
#include "workload/read/job_reader.h"

extern const struct job_kind pairwise_kind;

const struct job_entry job_registry[] = {
    {&collective_kind, &collective_reader},
    {&pairwise_kind, NULL},
    {NULL, NULL},
};
