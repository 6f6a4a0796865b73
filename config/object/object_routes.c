// SPDX-License-Identifier: MIT
// `routes`: routes that replace the shortest ones.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

#define FIELD(name) offsetof(struct route_spec, name)

static const struct param route_params[] = {
    PARAM_ROW("at", TEXT, FIELD(at), .help = "switch, as in spine0"),
    PARAM_ROW("dst", TEXT, FIELD(dst),
              .help = "rank, as in rank3; holds for all that hang on the same switch"),
    PARAM_ROW("via", TEXT, FIELD(via), .help = "neighbour to leave towards"),
};
static const size_t n_route_params = sizeof route_params / sizeof *route_params;

extern const struct object routes_object;
const struct object routes_object = {
    .key = "routes",
    .doc = "routes of switches in place of the shortest ones",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = route_params,
    .n_params = &n_route_params,
    .item_bytes = sizeof(struct route_spec),
    .offset = offsetof(struct scenario, spec.routes),
    .count_at = offsetof(struct scenario, spec.n_routes),
};
