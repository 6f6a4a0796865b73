// SPDX-License-Identifier: MIT
// Time series as JSON, for metrics.json.
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "report/json_writer.h"
#include "sim/result/result.h"

void series_write(struct json_writer *w, const struct series *s);

// Returns true if samples or queue pairs were left out, so that a series is not as wanted.
bool series_thinned(const struct series *s);

// What was left out, as a sentence, from metrics.json; NULL = nothing. free() it.
char *series_thinned_text(const json_t *metrics);
