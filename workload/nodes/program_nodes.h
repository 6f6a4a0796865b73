// SPDX-License-Identifier: MIT
// The groups and nodes of a program in JSON.
#pragma once

#include "workload/nodes/program_job.h"
#include "workload/read/job_reader.h"

// Read `groups` and `nodes` of the object `root` into the job's program; the keys are added to
// `keys`.
void program_nodes_read(struct reader *r, const struct place *root, struct keys *keys,
                        const struct job_spec *job);

// The same from the job's file, whose errors are reported at `place`.
void program_file_read(struct reader *r, const struct place *place, const struct job_spec *job);

json_t *program_groups_schema(void);
json_t *program_nodes_schema(void);
