// SPDX-License-Identifier: MIT
// Messages from a capture, and collectives of a real run, beside their simulation, as text.
#pragma once

#include <jansson.h>

// Returns lines with the sums, and tables of the messages that differ most and of the sizes of
// collectives, and beside a file; "" if the run has none. To be freed. `metrics` has `measured`,
// `flows`, `measured_collectives` and `against`.
char *measured_text(const json_t *metrics);
