// SPDX-License-Identifier: MIT
// The results of gpcnet as text in the benchmark's form, and as JSON.
#pragma once

#include <jansson.h>
#include <stdio.h>

#include "cli/gpcnet/gpcnet_measured.h"

// A policy's results, of all seeds together.
struct impact {
    const char *policy;
    struct measured alone[GPCNET_TESTS], beside[GPCNET_TESTS];
};

// How many times worse than alone.
double impact_mean(const struct impact *i, enum gpcnet_test test);
double impact_p99(const struct impact *i, enum gpcnet_test test);

void impact_print(FILE *out, const struct impact *i, const struct gpcnet_nodes *nodes);
// Print a line for each test, with the impact on it under each of the `n` policies of `list`.
void impacts_print(FILE *out, const struct impact *list, size_t n);
json_t *impacts_json(const struct impact *list, size_t n, const struct gpcnet_nodes *nodes);
