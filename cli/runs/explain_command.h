// SPDX-License-Identifier: MIT
// Why two runs differ, as text.
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

// Print why run `b` took longer or shorter than run `a`, the baseline: contents of metrics.json (at
// least `slowest` and `reasons`), and names. Returns the number of sentences.
size_t print_difference(FILE *out, const json_t *a, const char *name_a, const json_t *b,
                        const char *name_b, size_t width);
