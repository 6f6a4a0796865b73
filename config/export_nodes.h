// SPDX-License-Identifier: MIT
// Jobs that are no programs, as programs: collectives, training loops, and lists of messages.
#pragma once

#include <stdbool.h>

#include "engine/base/err.h"
#include "sim/spec/spec.h"
#include "workload/nodes/node.h"

// Make the nodes of a job of one of these kinds. Returns false with an error if the job is of
// another kind, or has what a program of nodes cannot say. Release with node_program_free().
bool export_nodes_make(const struct spec *spec, const struct job_spec *job,
                       struct node_program *program, struct err *err);
