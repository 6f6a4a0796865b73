// SPDX-License-Identifier: MIT
// The timeline of training jobs in the Trace Event Format, for Perfetto and chrome://tracing.
#pragma once

#include "sim/result.h"

// NULL when none was asked for. To be freed by the caller.
char *timeline_json(const struct result *r);
