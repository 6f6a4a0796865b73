// SPDX-License-Identifier: MIT
// Time series as JSON, for metrics.json.
#pragma once

#include <jansson.h>

#include "sim/result/result.h"

json_t *series_json(const struct result *r);
