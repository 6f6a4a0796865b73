// SPDX-License-Identifier: MIT
// Training jobs as programs: each pass of the loop as nodes.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"
#include "workload/nodes/node.h"
#include "workload/training/training_job.h"

// Make the nodes of the job on `n_ranks` ranks. Returns false with errors if the job has what a
// program of nodes cannot say: collectives that run dimension by dimension, a library, jitter,
// samples that are read. Release with node_program_free().
bool export_training_make(const struct training_settings *s, uint32_t n_ranks,
                          struct node_program *program, struct err *err);

// Put the algorithms and chunks of the job's schedule, which may come from a `system` of ASTRA-sim
// 1.0, into a job of another kind.
void export_training_schedule(const struct training_settings *s, json_t *job);
