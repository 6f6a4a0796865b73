// SPDX-License-Identifier: MIT
// `engine`: how the run is computed. Nothing here changes a result.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

static const char *const modes[] = {"off", "exact", NULL};

static const struct param engine_params[] = {
    PARAM_ROW(
        "fast_forward", ENUM, offsetof(struct spec, fast_forward), .def = "off", .choices = modes,
        .help = "exact: where the whole state of the network returns, what follows is repeated "
                "instead of simulated; no byte of the results changes",
        .source = "docs/fast-forward.md"),
};
static const size_t n_engine_params = sizeof engine_params / sizeof *engine_params;

extern const struct object engine_object;
const struct object engine_object = {
    .key = "engine",
    .doc = "how the run is computed; no result depends on it",
    .stage = STAGE_REST,
    .params = engine_params,
    .n_params = &n_engine_params,
    .offset = offsetof(struct scenario, spec),
};
