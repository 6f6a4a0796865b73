// SPDX-License-Identifier: MIT
// The points of a sweep: the grid of all combinations of axes. Paths on one axis advance together.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

#define GRID_POINTS_MAX 1000000

struct axis {
    char **paths;   // [n_paths]
    char ***values; // [path][n]
    size_t n_paths, n;
};

struct grid {
    struct axis *axes;
    size_t n_axes;
};

// Add an axis "PATH=v1,v2" or, for paths that advance together, "PATH=v1,v2;PATH=w1,w2". Values are
// separated by commas outside of brackets and quotes. Returns 0, or -1 with an error.
int grid_vary(struct grid *grid, const char *text, struct err *err);

// Add an axis of sizes "FROM:TO" or "FROM:TO:FACTOR": each size is FACTOR (2) times the one before,
// and TO is the last one. 8, 1K and 128M are binary, as nccl-tests writes them.
int grid_sizes(struct grid *grid, const char *path, const char *text, struct err *err);

// Add an axis of one path; the values are copied. Returns 0, or -1 with an error for a path that is
// varied already.
int grid_add(struct grid *grid, const char *path, const char *const *values, size_t n,
             struct err *err);

// Number of points; 0 with an error if there are more than GRID_POINTS_MAX.
size_t grid_points(const struct grid *grid, struct err *err);

// The number of varied paths, and path `p`.
size_t grid_paths(const struct grid *grid);
const char *grid_path(const struct grid *grid, size_t p);

// True if `path` is on one of the axes.
bool grid_varies(const struct grid *grid, const char *path);

// The value of path `p` at a point. The last axis changes first.
const char *grid_value(const struct grid *grid, size_t point, size_t p);

// "a=1, b=2" without the path `except` (NULL = with all paths); to be freed.
char *grid_label(const struct grid *grid, size_t point, const char *except);

// "1, 2": the values without those of the path `except`; to be freed.
char *grid_values_text(const struct grid *grid, size_t point, const char *except);

// {"a": "1", "b": "2"}: the values by path; a new reference.
json_t *grid_values_json(const struct grid *grid, size_t point);

void grid_free(struct grid *grid);
