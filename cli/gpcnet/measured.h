// SPDX-License-Identifier: MIT
// What a network test measured: a value for each turn.
#pragma once

#include <stddef.h>

#include "cli/gpcnet/nodes.h"

struct measured {
    double *values; // us, or MiB/s of a rank
    size_t n, cap;
    size_t unfinished; // turns that had not ended: their values are of the time until then
};

// Add the turns of the first job of a run, in metrics.json.
void measured_add(struct measured *m, const char *metrics, enum gpcnet_test test);
void measured_free(struct measured *m);

double measured_mean(const struct measured *m);
// The value that 99 % are not worse than: of times the 99th percentile, of rates the first.
double measured_p99(const struct measured *m, enum gpcnet_test test);
