// SPDX-License-Identifier: MIT
// `meters`: rates at which switches drop or mark packets without a queue.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "switch/meter.h"

#define FIELD(name) offsetof(struct meter_spec, name)

static const char *const excesses[] = {"drop", "mark", NULL};

static const struct param meter_params[] = {
    PARAM_ROW("at", TEXT, FIELD(at),
              .help = "ports: leaf0->spine1, *->rank3; of a rank, rank3->leaf0, where its packets "
                      "enter. Each port has a meter of its own"),
    PARAM_ROW("rate", RATE, FIELD(rate_bps), .min = "1Mbps", .max = "100Tbps",
              .help = "at which tokens come, for bytes of frames"),
    PARAM_ROW("burst", BYTES, FIELD(burst_bytes), .def = "64KB", .min = "64B", .max = "4GB",
              .help = "tokens that the bucket holds; what is longer than that never passes",
              .source = "RFC 2697, committed burst size"),
    PARAM_ROW("excess", ENUM, FIELD(excess), .def = "drop", .choices = excesses,
              .help = "packets beyond the rate: drop (a policer), or mark those that are ECN "
                      "capable and send all of them"),
    PARAM_ROW("class", COUNT, FIELD(cls), .def = "auto", .max = "5", .can_auto = true,
              .help = "class whose packets it counts; auto = all data classes"),
};
static const size_t n_meter_params = sizeof meter_params / sizeof *meter_params;

extern const struct object meters_object;
const struct object meters_object = {
    .key = "meters",
    .doc = "rates of ports of switches beyond which packets are dropped or marked, without a queue",
    .source = "RFC 2697",
    .stage = STAGE_REST,
    .packets_only = true,
    .params = meter_params,
    .n_params = &n_meter_params,
    .item_bytes = sizeof(struct meter_spec),
    .offset = offsetof(struct scenario, spec.meters),
    .count_at = offsetof(struct scenario, spec.n_meters),
};
