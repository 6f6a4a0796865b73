// SPDX-License-Identifier: MIT
// The training loops of a result as JSON.
#pragma once

#include <jansson.h>

#include "sim/result.h"

// Of one training job an object, of several a list; null where there is none.
json_t *trainings_json(const struct result *r);
