// SPDX-License-Identifier: MIT
// A link of InfraGraph: {"name": "eth", "physical": {"bandwidth": {"gigabits_per_second": 400},
// "latency": {"us": 1}}}, of which all but the name may be left out.
#pragma once

#include "config/object/component_graph.h"
#include "engine/text/read.h"

// Find the link of an edge by its name, in the list `links` of a device or of the whole file. Sets
// *transfers where its rate is in transfers a second, which is then not given. Errors are added to
// r->err.
void infragraph_link_find(struct reader *r, const struct place *owner, const char *name,
                          const struct place *edge, struct component_link *link, bool *transfers);
