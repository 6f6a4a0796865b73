// SPDX-License-Identifier: MIT
// The parameters of RCCC and the credits that follow from them.
#include "cc/rccc_credits.h"

#define HTSIM "uet-htsim, UEC 1.0 section 3.6.14"

#define FIELD(name) offsetof(struct rccc_params, name)
const struct param rccc_credit_params[] = {
    PARAM_ROW("credit_rate", RATIO, FIELD(rate), .def = "0.99", .min = "0.01", .max = "1",
              .help = "rate at which a receiving port grants credits, as a share of its line "
                      "rate",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    PARAM_ROW("credit_grant", BYTES, FIELD(grant_bytes), .def = "16384B", .min = "256B",
              .max = "1MB", .help = "credits of one grant, in wire bytes; rounded up to 256 B",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM ": 4 packets of 4096 B"),
    PARAM_ROW("credit_initial_bdp", RATIO, FIELD(initial_bdp), .def = "1.5", .min = "0.01",
              .max = "100",
              .help = "credits that a flow starts with, asks for and holds at most, in "
                      "bandwidth-delay products",
              .evidence = EVIDENCE_DOCUMENTED, .source = HTSIM),
    {0},
};

struct cc_credits rccc_credits_of(const struct rccc_params *p, const struct cc_env *env)
{
    ps_t rtt_ps = env->global_rtt_ps > 0 ? env->global_rtt_ps : env->base_rtt_ps;
    double bdp = (double)env->line_bps * (double)rtt_ps / 8e12;
    uint64_t max = (uint64_t)(p->initial_bdp * bdp);
    max = max > env->full_wire_bytes ? max : env->full_wire_bytes;
    uint64_t rate_bps = (uint64_t)(p->rate * (double)env->line_bps);
    return (struct cc_credits){.rate_bps = rate_bps > 0 ? rate_bps : 1,
                               .grant_bytes = (uint32_t)((p->grant_bytes + 255) / 256 * 256),
                               .initial_bytes = max,
                               .max_bytes = max};
}
