// SPDX-License-Identifier: MIT
// `explain`: how many causes of a run's time are tried.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"

static const struct param explain_params[] = {
    PARAM_ROW("try", COUNT, offsetof(struct explain_spec, tries), .def = "auto", .max = "100",
              .can_auto = true,
              .help =
                  "causes that `collwire run` removes, one at a time, to run the scenario again; "
                  "auto = 3 where the run had at most 20 million packet-hops, else 0"),
};
static const size_t n_explain_params = sizeof explain_params / sizeof *explain_params;

extern const struct object explain_object;
const struct object explain_object = {
    .key = "explain",
    .doc = "whether the causes of a run's time are tried",
    .stage = STAGE_REST,
    .params = explain_params,
    .n_params = &n_explain_params,
    .offset = offsetof(struct scenario, spec.explain),
};
