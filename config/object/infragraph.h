// SPDX-License-Identifier: MIT
// Networks of InfraGraph, in YAML or JSON: devices of components, instances of devices, and edges
// between slices of them ("host[0:4]", "nic"). Every `xpu` is a rank, in the order of the
// instances; a device without an xpu is one switch, whatever its inside is. What else carries
// traffic is a switch, and NICs and ports between two links are parts of these (component_graph.h).
// Left out, with a warning: annotations, and rates in transfers a second, which say nothing without
// a number of lanes. An error: devices that contain devices, the scheme `ring`.
// Source: github.com/Keysight/infragraph, schema version 2.4.
#pragma once

#include "engine/text/read.h"
#include "net/topology/graph_kind.h"

bool infragraph_is(const char *text);

// Read the whole file into hosts, switches and links of `params`. Errors are added to r->err.
void infragraph_read(struct reader *r, const struct place *root, const struct link_spec *link,
                     struct graph_params *params);
