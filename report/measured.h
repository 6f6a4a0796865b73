// SPDX-License-Identifier: MIT
// Messages from a capture beside their simulation, as text.
#pragma once

#include <jansson.h>

// Returns lines with the sums, and a table of the messages that differ most; "" if the run has
// none. To be freed. `metrics` has `measured` and `flows`.
char *measured_text(const json_t *metrics);
