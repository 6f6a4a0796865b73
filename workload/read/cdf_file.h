// SPDX-License-Identifier: MIT
// Distributions of flow sizes from a file.
#pragma once

#include <stdint.h>

#include "engine/base/err.h"

struct cdf_point {
    double bytes, share; // share: of flows that are not larger, 0..1
};

// Piecewise linear between the points; the first has share 0, the last 1.
struct cdf {
    struct cdf_point *points;
    size_t n;
};

// Read lines "bytes percent", both increasing, from 0 % to 100 %; a line that begins with # is a
// comment, and the first line may be a heading. Fractions of 1 are read where the last line has 1;
// of three columns the first are packets of 1460 bytes, with a warning, as in files for ns-2. The
// last line may be nearly 1 or 100. `file` is relative to folder `dir`. Returns 0, or -1 with
// errors at `path` that name file and line. cdf_free() the result.
int cdf_file_read(const char *dir, const char *file, const char *path, struct cdf *cdf,
                  struct err *err);
void cdf_free(struct cdf *cdf);

double cdf_mean_bytes(const struct cdf *cdf);

// The size at quantile `u` (0 <= u < 1) of the distribution, at least one byte.
uint64_t cdf_bytes(const struct cdf *cdf, double u);
