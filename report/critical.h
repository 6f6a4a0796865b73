// SPDX-License-Identifier: MIT
// Causes of time as JSON.
#pragma once

#include "engine/critical_path.h"
#include "report/json_writer.h"

// Write an object with the time of every cause that is not zero, in ns, which add up to that of
// `total_ps`: the largest takes what rounding leaves over.
void causes_write(struct json_writer *w, const ps_t parts[PATH_CAUSES], ps_t total_ps);
