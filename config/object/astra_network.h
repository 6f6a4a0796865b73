// SPDX-License-Identifier: MIT
// The network file of ASTRA-sim 1.0: a list per dimension of kinds, sizes, links and latencies.
#pragma once

#include "config/object/scenario_parts.h"
#include "engine/text/read.h"

// Read the file that `place` names, relative to the scenario, into the dimensions of the
// description. Errors at `place` name the file and the position in it. Returns true if there were
// no errors.
bool astra_network_read(struct reader *r, const struct place *place);

// Returns true for the text of a network of ASTRA-sim's other back end, Garnet: lines "key: value".
bool astra_garnet_is(const char *text);

// Why it is refused, and which network takes its place; to be freed.
char *astra_garnet_error(const char *text);
