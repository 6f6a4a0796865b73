// SPDX-License-Identifier: MIT
// Whether the collectives of a rank wait for its computations.
//
// Converters that lose the events between streams (mlcommons/chakra issue 215) leave collectives
// behind the operations of the CPU that launch them alone: they run at once, beside the
// computations that make their data.
#pragma once

#include "engine/base/err.h"
#include "engine/base/table.h"
#include "workload/trace/trace_node.h"

struct wait_watch {
    struct table waits; // ids of nodes -> 1 = after no computation of the GPU, 2 = after one
    uint64_t collectives, waiting, computations;
};

// Zero-initialise; take the nodes in the order of the file.
void wait_watch_add(struct wait_watch *w, const struct trace_node *node);

// Warn at `path` if the rank computes and has collectives, none of which waits for a computation.
void wait_watch_end(const struct wait_watch *w, const char *file, const char *path,
                    struct err *err);
void wait_watch_free(struct wait_watch *w);
