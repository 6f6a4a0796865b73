// SPDX-License-Identifier: MIT
// What a network test measured: a value for each turn.
#pragma once

#include <stddef.h>

#include "cli/gpcnet/nodes.h"

struct measured {
    double *values; // us, or MiB/s of a rank
    size_t n, cap;
    size_t runs, unfinished; // unfinished: runs whose test had not ended
};

// Add the turns of the first job of a run, in metrics.json, which ended at `end_ns`. A turn that
// had not ended counts with the time until then if that is longer than those before took.
void measured_add(struct measured *m, const char *metrics, enum gpcnet_test test, uint64_t end_ns);
// Add the values of another.
void measured_join(struct measured *m, const struct measured *more);
void measured_free(struct measured *m);

double measured_mean(const struct measured *m);
// The 99th percentile of times; of rates, where less is worse, the first percentile.
double measured_p99(const struct measured *m, enum gpcnet_test test);
