// SPDX-License-Identifier: MIT
// Parameter tables that several objects share.
#include "config/tables.h"

#define TABLE_END(t) const size_t n_##t = sizeof t / sizeof *t

const struct param link_params[] = {
    {.name = "rate",
     .type = PARAM_RATE,
     .offset = offsetof(struct link_spec, rate_bps),
     .def = "100Gbps",
     .min = "1Mbps",
     .max = "100Tbps",
     .help =
         "line rate of each direction; beside `reverse` of the one away from the rank or the lower "
         "tier, to the next rank, or from a to b"},
    {.name = "delay",
     .type = PARAM_TIME,
     .offset = offsetof(struct link_spec, delay_ps),
     .def = "1us",
     .min = "0ns",
     .max = "1s",
     .help = "propagation delay of each direction; beside `reverse` of that direction"},
};
TABLE_END(link_params);

#define FL(f) offsetof(struct flow_params, f)
const struct param flow_params[] = {
    {.name = "src", .type = PARAM_COUNT, .offset = FL(src), .help = "rank that sends"},
    {.name = "dst", .type = PARAM_COUNT, .offset = FL(dst), .help = "rank that receives"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = FL(bytes),
     .min = "1B",
     .max = "1PB",
     .help = "payload"},
    {.name = "start",
     .type = PARAM_TIME,
     .offset = FL(start_ps),
     .def = "0ns",
     .min = "0ns",
     .max = "100000s",
     .help = "after the start of the job"},
};
TABLE_END(flow_params);

#define ST(f) offsetof(struct straggler_params, f)
const struct param straggler_params[] = {
    {.name = "rank", .type = PARAM_COUNT, .offset = ST(rank), .help = "of the job"},
    {.name = "factor",
     .type = PARAM_RATIO,
     .offset = ST(factor),
     .min = "0",
     .max = "1000000",
     .help = "on its compute times"},
};
TABLE_END(straggler_params);
