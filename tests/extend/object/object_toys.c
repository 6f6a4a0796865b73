// SPDX-License-Identifier: MIT
// `toys`: a list of objects for tests, described by a table only.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

static const struct param toy_params[] = {
    PARAM_ROW("size", COUNT, offsetof(struct toy_spec, size), .def = "3", .max = "9",
              .help = "of the toy"),
};
static const size_t n_toy_params = sizeof toy_params / sizeof *toy_params;

extern const struct object toys_object;
const struct object toys_object = {
    .key = "toys",
    .doc = "for tests",
    .stage = STAGE_REST,
    .params = toy_params,
    .n_params = &n_toy_params,
    .item_bytes = sizeof(struct toy_spec),
    .offset = offsetof(struct scenario, spec.toys),
    .count_at = offsetof(struct scenario, spec.n_toys),
};
