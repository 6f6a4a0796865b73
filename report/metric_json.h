// SPDX-License-Identifier: MIT
// Records to JSON and back, by tables of metrics.
#pragma once

#include <jansson.h>

#include "report/metric.h"

// The record as an object, keys in the order of the table.
json_t *metric_json(const struct metric_table *table, const void *record);

// What stands at "a.b.c" of an object that metric_json() wrote; NULL where it is missing. A path that
// the table does not have is a bug.
const json_t *metric_at(const struct metric_table *table, const json_t *object, const char *path);

// The mean of the numbers at a path, a list on the way standing for each of its items: NAN where there
// are none, or one of them is null.
double metric_mean(const struct metric_table *table, const json_t *object, const char *path);

// The metric at a path. A path that the table does not have is a bug.
const struct metric *metric_at_path(const struct metric_table *table, const char *path);
