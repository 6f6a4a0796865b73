// SPDX-License-Identifier: MIT
// "topology": {"machine": "dgx_h100", "nodes": 4}: servers by name.
#pragma once

#include "config/object/scenario_parts.h"
#include "engine/text/read.h"

// Read `machine`, `nodes` and `fabric` of a topology. Without `dims` the dimensions follow from
// them and are added to the topology's JSON. Returns false after an error.
bool machine_read(struct reader *r, const struct place *topology, struct keys *keys);
void machine_write(json_t *topology, const struct spec *spec);
void machine_schema(json_t *topology);
