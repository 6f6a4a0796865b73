// SPDX-License-Identifier: MIT
// Time series as JSON, for metrics.json.
#pragma once

#include "report/json_writer.h"
#include "sim/result/result.h"

void series_write(struct json_writer *w, const struct series *s);
