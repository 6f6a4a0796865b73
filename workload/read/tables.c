// SPDX-License-Identifier: MIT
// Parameter tables that several kinds of jobs share.
#include "workload/read/tables.h"

#define TABLE_END(t) const size_t n_##t = sizeof t / sizeof *t

#define FL(f) offsetof(struct flow_params, f)
const struct param flow_params[] = {
    PARAM_ROW("src", COUNT, FL(src), .help = "rank that sends"),
    PARAM_ROW("dst", COUNT, FL(dst), .help = "rank that receives"),
    PARAM_ROW("bytes", BYTES, FL(bytes), .min = "1B", .max = "1PB", .help = "payload"),
    PARAM_ROW("start", TIME, FL(start_ps), .def = "0ns", .min = "0ns", .max = "100000s",
              .help = "after the start of the job"),
};
TABLE_END(flow_params);

#define ST(f) offsetof(struct straggler_params, f)
const struct param straggler_params[] = {
    PARAM_ROW("rank", COUNT, ST(rank), .help = "of the job"),
    PARAM_ROW("factor", RATIO, ST(factor), .min = "0", .max = "1000000",
              .help = "on its compute times"),
};
TABLE_END(straggler_params);
