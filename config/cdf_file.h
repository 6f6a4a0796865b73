// SPDX-License-Identifier: MIT
// Distributions of flow sizes from a file.
#pragma once

#include <stdint.h>

#include "engine/err.h"

struct cdf_point {
    double bytes, share; // share of flows that are no larger, 0..1
};

// Piecewise linear between the points; the first has share 0, the last 1.
struct cdf {
    struct cdf_point *points;
    size_t n;
};

// Lines "bytes percent", both rising, from 0 % to 100 %; a line that begins with # is a comment.
// Relative to folder `dir`. 0, or -1 with errors at `path` that name file and line. cdf_free() it.
int cdf_file_read(const char *dir, const char *file, const char *path, struct cdf *cdf,
                  struct err *err);
void cdf_free(struct cdf *cdf);

double cdf_mean_bytes(const struct cdf *cdf);

// The size below which a share `u` (0 <= u < 1) of the flows lies, at least a byte.
uint64_t cdf_bytes(const struct cdf *cdf, double u);
