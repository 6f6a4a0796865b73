// SPDX-License-Identifier: MIT
// Time series. Times are in ps; -1 = null.
#pragma once

#include <stddef.h>

#include "engine/base/units.h"

struct series_line {
    char *key;   // port pattern or flow
    char *field; // for SERIES_OBSERVE the name of the value, else NULL
    double *values;
    size_t first; // sample at which the line begins; earlier values are null
};

enum series_kind {
    SERIES_QUEUE,
    SERIES_RATE,
    SERIES_CWND,
    SERIES_PAUSED,
    SERIES_OBSERVE,
    SERIES_KINDS
};

struct series {
    ps_t step_ps, asked_ps; // between samples; as `report.sample` gives it
    size_t n_flows;         // queue pairs of the run
    size_t n_left_out;      // of them without lines, because of the limit SERIES_MAX_VALUES
    size_t n_samples;
    struct series_line *lines[SERIES_KINDS];
    size_t n_lines[SERIES_KINDS];
};
