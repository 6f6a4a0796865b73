// SPDX-License-Identifier: MIT
// Messages from a capture, and collectives of a real run, beside their simulation, as text.
#pragma once

#include <jansson.h>

// Returns lines with the sums, and tables of the messages that differ most and of the sizes of
// collectives; "" if the run has none. To be freed. `metrics` has `measured`, `flows` and
// `measured_collectives`.
char *measured_text(const json_t *metrics);
