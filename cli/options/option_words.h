// SPDX-License-Identifier: MIT
// The words that options take, for the table of options.
#pragma once

#include <stddef.h>

static const char *const formats[] = {"table", "json", "csv", "text", NULL}; // enum format
static const char *const progresses[] = {"auto", "always", "never", NULL};
static const char *const nccl_versions[] = {"2.21.5", "2.27.7", "2.30.7", NULL};
static const char *const library_ops[] = {
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", NULL};
static const char *const parallels[] = {"data", "model", "hybrid", NULL};
