// SPDX-License-Identifier: MIT
// Causes of time as JSON.
#pragma once

#include <jansson.h>

#include "engine/critical_path.h"

// An object with the time of every cause that is not zero, in ns, which add up to that of
// `total_ps`: the largest takes what rounding leaves over.
json_t *causes_json(const ps_t parts[PATH_CAUSES], ps_t total_ps);
