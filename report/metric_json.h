// SPDX-License-Identifier: MIT
// Writes records as JSON and reads values back, by tables of metrics.
#pragma once

#include <jansson.h>

#include "report/json_writer.h"
#include "report/metric.h"

// Write the record as an object, with keys in the order of the table.
void metric_write(struct json_writer *w, const struct metric_table *table, const void *record);

// The value at "a.b.c" of an object that metric_write() wrote; NULL if it is missing. The path must
// be one of the table.
const json_t *metric_at(const struct metric_table *table, const json_t *object, const char *path);

// The mean of the numbers at a path; for a list on the path, over all its items. NAN if there are
// none, or if one is null.
double metric_mean(const struct metric_table *table, const json_t *object, const char *path);

// The metric at a path, which must be one of the table.
const struct metric *metric_at_path(const struct metric_table *table, const char *path);
