// SPDX-License-Identifier: MIT
// The files of one run: metrics.json (schema collwire.metrics/1), run.json, series.csv. Pure: texts
// are returned, to be freed by the caller.
#pragma once

#include "sim/result/result.h"

// The text of metrics.json. `scenario` is the resolved scenario as JSON text. Equal results give
// equal bytes.
char *metrics_json(const struct result *r, const char *scenario);

// The text of run.json, which depends on the machine: times, events, versions, captures.
char *run_json(const struct result *r, const char *version);

// The series as CSV: t_ns, then a column per line of the series. NULL if there is no series.
char *series_csv(const struct result *r);

// Collectives that were measured in a real run as CSV: measured there, and simulated. NULL if there
// are none.
char *measured_collectives_csv(const struct result *r);
// Messages from a capture as CSV: measured there, and simulated. NULL if there are none.
char *measured_csv(const struct result *r);

// Training jobs as CSV tables, times in us: a row per layer, per kind of phase, per time step and
// dimension. NULL if there is no training job.
char *training_end_to_end_csv(const struct result *r);
char *training_detailed_csv(const struct result *r);
char *training_phases_csv(const struct result *r);
char *training_dimensions_csv(const struct result *r);

// The timeline of training jobs in the Trace Event Format, for Perfetto and chrome://tracing. NULL
// if the scenario does not request a timeline. To be freed by the caller.
char *timeline_json(const struct result *r);
