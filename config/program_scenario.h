// SPDX-License-Identifier: MIT
// A scenario whose job is another's nodes in a file.
#pragma once

#include <jansson.h>

#include "config/scenario.h"

// The job of kind `program` with the nodes of `file`: of the scenario's only job it keeps the
// settings that programs have too (algorithms, library, tiers, contention, class, transport), but
// not its ranks. NULL if it has several jobs or its job has no nodes, with an error.
json_t *program_job_like(const struct scenario *scenario, const char *file, unsigned comm_streams,
                         struct err *err);
