// SPDX-License-Identifier: MIT
// Why a run lasts longer than its jobs.
#pragma once

#include <jansson.h>

// A sentence, from metrics.json, about a run that lasts much longer than all of its jobs, with both
// times; NULL = it does not. free() it.
char *after_jobs_text(const json_t *metrics);
