// SPDX-License-Identifier: MIT
// The dependency graph of one rank's nodes: finds ids that occur twice, dependencies on nodes that
// do not exist, and cycles.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct deps_node {
    uint64_t id;
    size_t first, n; // in `after`
};

struct deps {
    struct deps_node *nodes;
    size_t n_nodes, cap_nodes;
    uint64_t *after; // ids of the nodes that a node is after
    size_t n_after, cap_after;
};

// Zero-initialise; release with deps_free().
void deps_free(struct deps *g);
void deps_clear(struct deps *g); // keeps the memory
void deps_add(struct deps *g, uint64_t id, const uint64_t *after, size_t n);

// Check the graph. Errors at `path` begin with `where`. Returns 0, or -1 with at least one error.
int deps_check(struct deps *g, const char *where, const char *path, struct err *err);

// Remove dependencies on nodes that do not exist. `missing` is called with each of those nodes, in
// ascending order, once.
void deps_cut(struct deps *g, void *ctx, void (*missing)(void *ctx, uint64_t id));
