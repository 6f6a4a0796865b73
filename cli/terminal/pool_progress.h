// SPDX-License-Identifier: MIT
// The progress of a pool of runs as one line on stderr.
#pragma once

#include "report/study/worker_pool.h"

struct pool_line {
    const char *noun; // "runs"
    bool shown;
};

#define POOL_PROGRESS_S 0.5

// The function for struct pool_ops; `line` is its context.
void pool_line_show(struct pool_line *line, const struct pool_progress *p);

// Remove the line before something else is printed.
void pool_line_clear(struct pool_line *line);
