// SPDX-License-Identifier: MIT
// The files of one run: metrics.json (schema collwire.metrics/1), run.json, series.csv. Pure: texts
// are returned, to be freed by the caller.
#pragma once

#include "sim/result.h"

// `scenario` is the resolved scenario as JSON text. The same result gives the same bytes.
char *metrics_json(const struct result *r, const char *scenario);

// What depends on the machine: times, events, versions, captures.
char *run_json(const struct result *r, const char *version);

// The series as CSV: t_ns, then a column per line. NULL when there is none.
char *series_csv(const struct result *r);

// Training jobs as tables, times in us: a row per layer, per kind of phase, and per step of time and
// dimension. NULL when there is no training job.
char *training_end_to_end_csv(const struct result *r);
char *training_detailed_csv(const struct result *r);
char *training_dimensions_csv(const struct result *r);

// The timeline of training jobs in the Trace Event Format, for Perfetto and chrome://tracing. NULL when there is none.
char *timeline_json(const struct result *r);
