// SPDX-License-Identifier: MIT
// NSCC: the sender's window from delay, ECN marks and trimmed packets (cc/nscc_window.h).
#include "cc/nscc_window.h"

static struct nscc *nscc_of(struct cc *cc) { return (struct nscc *)(void *)cc->priv; }

static void nscc_init(struct cc *cc, ps_t now)
{
    (void)now;
    nscc_window_init(cc, nscc_of(cc), cc->params, false);
}

static void nscc_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    nscc_window_ack(cc, nscc_of(cc), cc->params, ack);
}

static void nscc_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    nscc_window_signal(cc, nscc_of(cc), cc->params, signal);
}

static size_t nscc_observe(const struct cc *cc, double *out, size_t cap)
{
    return nscc_window_observe((const struct nscc *)(const void *)cc->priv, out, cap);
}

static const struct param nscc_param_table[] = {{.include = nscc_window_params, .offset = 0}};

static const struct cc_basis uec_bases[] = {
    {"marking", EVIDENCE_DOCUMENTED, NSCC_MARKING},
};

static const struct cc_basis mrc_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     NSCC_MARKING "; the last hop spared: marks stand for uneven paths, MRC 1.0"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset nscc_presets[] = {
    {.name = "uec",
     .doc = "as uet-htsim and UEC 1.0",
     .holds_bps = CC_GBPS(800),
     BASES(uec_bases),
     .profile = {NSCC_PROFILE}},
    {.name = "mrc",
     .doc = "the same, but the last hop does not mark: MRC takes marks for uneven paths",
     .holds_bps = CC_GBPS(100),
     BASES(mrc_bases),
     .profile = {NSCC_PROFILE, .spares_last_hop = true}},
};

extern const struct cc_ops cc_nscc;
const struct cc_ops cc_nscc = {
    .contract = CC_CONTRACT,
    .name = "nscc",
    .doc = "Ultra Ethernet's window from delay, ECN marks and trimmed packets",
    .paper = "UEC 1.0, section 3.6.13",
    .needs = CC_NEEDS_ECN | CC_NEEDS_GLOBAL_RTT | CC_NEEDS_PACKET_NACKS,
    .params = nscc_param_table,
    .n_params = sizeof nscc_param_table / sizeof nscc_param_table[0],
    .params_bytes = sizeof(struct nscc_params),
    .priv_bytes = sizeof(struct nscc),
    .presets = nscc_presets,
    .n_presets = sizeof nscc_presets / sizeof nscc_presets[0],
    .init = nscc_init,
    .on_ack = nscc_on_ack,
    .on_signal = nscc_on_signal,
    .observe = nscc_observe,
    .observed = nscc_observed,
};
