// SPDX-License-Identifier: MIT
// RCCC alone: the receiver's credits limit the sender, and it has no window (cc/rccc_credits.h).
#include "cc/nscc_window.h"
#include "cc/rccc_credits.h"

static void rccc_init(struct cc *cc, ps_t now)
{
    (void)cc;
    (void)now;
}

static struct cc_credits rccc_credits(const void *params, const struct cc_env *env)
{
    return rccc_credits_of(params, env);
}

static const struct param rccc_param_table[] = {{.include = rccc_credit_params, .offset = 0}};

// The rate does not depend on ECN marks; the transport uses them to choose paths (spray). Switch
// ports that lead to a rank set none, since every path to the rank ends with that link.
static const struct cc_basis uec_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     NSCC_MARKING "; the last hop spared since every path ends with it"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset rccc_presets[] = {
    {.name = "uec",
     .doc = "as uet-htsim and UEC 1.0",
     .holds_bps = CC_GBPS(800),
     BASES(uec_bases),
     .profile = {NSCC_PROFILE, .spares_last_hop = true}},
};

extern const struct cc_ops cc_rccc;
const struct cc_ops cc_rccc = {
    .contract = CC_CONTRACT,
    .name = "rccc",
    .doc = "Ultra Ethernet's credits, granted by the receiver at its line rate",
    .paper = "UEC 1.0, section 3.6.14",
    .needs = CC_NEEDS_GLOBAL_RTT | CC_NEEDS_CREDITS,
    .params = rccc_param_table,
    .n_params = sizeof rccc_param_table / sizeof rccc_param_table[0],
    .params_bytes = sizeof(struct rccc_params),
    .presets = rccc_presets,
    .n_presets = sizeof rccc_presets / sizeof rccc_presets[0],
    .init = rccc_init,
    .credits = rccc_credits,
};
