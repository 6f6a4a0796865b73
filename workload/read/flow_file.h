// SPDX-License-Identifier: MIT
// Flows from a CSV file.
#pragma once

#include "workload/flows.h"

// Read lines "src,dst,bytes,start_ns,measured_ns" of `file` (relative to `dir`); a heading line is
// allowed. Errors name `path` and the line. free() the list; its ranks are not checked. Returns
// NULL and *n = 0 on failure.
struct raw_flow *flow_file_read(const char *dir, const char *file, const char *path, size_t *n,
                                struct err *err);
