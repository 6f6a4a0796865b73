// SPDX-License-Identifier: MIT
// The file of a `graph` topology.
#pragma once

#include "config/object/scenario_parts.h"
#include "engine/text/read.h"
#include "net/topology/graph_kind.h"

// Read params->file, relative to the scenario, into the other fields of `params`; properties that a
// link does not give are taken from `link`. Errors at `place` name the file and the position in it.
// Ranks are not checked. free() the links.
void graph_file_read(struct reader *r, const struct place *place, struct graph_params *params,
                     const struct link_spec *link);
