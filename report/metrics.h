// SPDX-License-Identifier: MIT
// The files of one run: metrics.json (schema collwire.metrics/1), run.json and others. Each is
// written value by value, so that memory does not grow with the file. Errors are left to the
// stream (ferror()).
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "sim/result/result.h"

// Write metrics.json. `scenario` is the resolved scenario as JSON text. Equal results give equal
// bytes. `brief`: long lists as metrics_brief() has them (report/metrics_brief.h).
void metrics_write(FILE *out, const struct result *r, const char *scenario, bool brief);

// The same as a text with all records of `flows`, to be freed.
char *metrics_json(const struct result *r, const char *scenario);

// The text of run.json, which depends on the machine: times, events, versions, captures. To be
// freed.
char *run_json(const struct result *r, const char *version);

// Each of the following writes a file, or returns false without writing anything if the result
// does not have it.

// The series as CSV: t_ns, then a column per line of the series. Without series: false.
bool series_csv(FILE *out, const struct result *r);

// Collectives that were measured in a real run as CSV: measured there, and simulated. Without any:
// false.
bool measured_collectives_csv(FILE *out, const struct result *r);
// Messages from a capture as CSV: measured there, and simulated. Without any: false.
bool measured_csv(FILE *out, const struct result *r);

// Training jobs as CSV tables, times in us: a row per layer, per kind of phase, per time step and
// dimension. Without a training job: false.
bool training_end_to_end_csv(FILE *out, const struct result *r);
bool training_detailed_csv(FILE *out, const struct result *r);
bool training_phases_csv(FILE *out, const struct result *r);
bool training_dimensions_csv(FILE *out, const struct result *r);

// The timeline of training jobs in the Trace Event Format, for Perfetto and chrome://tracing.
// False if the scenario does not request a timeline.
bool timeline_json(FILE *out, const struct result *r);
