// SPDX-License-Identifier: MIT
// `links`: links whose rate differs from that of the topology.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

#define FIELD(name) offsetof(struct rate_spec, name)

static const struct param rate_params[] = {
    PARAM_ROW("at", TEXT, FIELD(at), .help = "places: leaf0->spine1, rank3, *->spine0"),
    PARAM_ROW("one_way", BOOL, FIELD(one_way), .def = "false",
              .help = "only the directions that `at` names; else both of each link"),
    PARAM_ROW("rate", RATE, FIELD(rate_bps), .min = "1Mbps", .max = "100Tbps",
              .help = "line rate in place of the topology's"),
};
static const size_t n_rate_params = sizeof rate_params / sizeof *rate_params;

extern const struct object links_object;
const struct object links_object = {
    .key = "links",
    .doc = "links whose rate differs from that of the topology, from the begin on",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = rate_params,
    .n_params = &n_rate_params,
    .item_bytes = sizeof(struct rate_spec),
    .offset = offsetof(struct scenario, spec.links),
    .count_at = offsetof(struct scenario, spec.n_links),
};
