// SPDX-License-Identifier: MIT
// Measured times beside what a library chooses for their sizes, and beside the times of runs.
#pragma once

#include "cli/library/query.h"
#include "cli/measured/measured_table.h"

// Simulate each size of the table on the hybrid network, the operation alone on the servers of the
// answer, and print choice, measured and simulated time; --bytes takes one of the sizes. Returns an
// exit code; errors are added to `err`.
int library_beside(const struct options *o, const struct answer *a, struct measured_table *t,
                   struct err *err);
