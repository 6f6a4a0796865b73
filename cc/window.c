// SPDX-License-Identifier: MIT
// A static window of k bandwidth-delay products of the pair, at line rate.
//
// The window is not adapted. It limits the queue of one flow to (k - 1) BDP on an empty path and to
// k BDP on any path; a flow alone keeps its full rate. k = 1 loses about 5 %, because an ACK may
// wait behind a data frame on the reverse path, which the base RTT does not include: hence 1.1.
// The initial window of a transport (TCP) does not apply, and a loss does not reduce the window.
// Source: the window of the HPCC simulations (Li et al., SIGCOMM 2019, section 5) without its
// adaptation; the "PFC" case of Khan et al. (Hot Interconnects 2022) may be this one.
#include "collwire/cc.h"

struct window_params {
    double k;
    uint64_t bytes; // PARAM_AUTO = k BDPs
};

static const struct param window_param_table[] = {
    PARAM_ROW("k", RATIO, offsetof(struct window_params, k), .def = "1.1", .min = "0.001",
              .max = "1000", .help = "window in bandwidth-delay products of the pair",
              .evidence = EVIDENCE_MEASURED,
              .source = "k = 1 loses 5 %: ACKs wait behind data frames"),
    PARAM_ROW("bytes", BYTES, offsetof(struct window_params, bytes), .def = "auto", .min = "1B",
              .max = "1PB", .can_auto = true,
              .help = "the same window for every pair, near or far; auto = k BDPs of the pair",
              .evidence = EVIDENCE_DOCUMENTED,
              .source = "HPCC ns-3 sources: the largest BDP of the network"),
};

static void window_init(struct cc *cc, ps_t now)
{
    (void)now;
    const struct window_params *params = cc->params;
    cc->cwnd_bytes =
        params->bytes != PARAM_AUTO ? params->bytes : cc_window_bytes(cc->env, params->k);
}

static const struct cc_preset window_presets[] = {
    {.name = "default",
     .doc = "the only one; switches do not mark",
     .holds_bps = CC_GBPS(100),
     .profile = {.ecn = false}},
};

extern const struct cc_ops cc_window;
const struct cc_ops cc_window = {
    .contract = CC_CONTRACT,
    .name = "window",
    .doc = "line rate under a static window of k bandwidth-delay products",
    .paper = "the window of Li et al., SIGCOMM 2019, held constant",
    .params = window_param_table,
    .n_params = sizeof window_param_table / sizeof window_param_table[0],
    .params_bytes = sizeof(struct window_params),
    .presets = window_presets,
    .n_presets = sizeof window_presets / sizeof window_presets[0],
    .init = window_init,
};
