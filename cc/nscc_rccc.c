// SPDX-License-Identifier: MIT
// NSCC and RCCC together: a packet needs room in the sender's window and a credit of its receiver.
// The receiver's downlink is left to the credits: its switch port does not mark, and packets
// trimmed there do not shrink the window.
#include "cc/nscc_window.h"
#include "cc/rccc_credits.h"

struct both_params {
    struct nscc_params window;
    struct rccc_params credits;
};

static struct nscc *nscc_of(struct cc *cc) { return (struct nscc *)(void *)cc->priv; }
static const struct nscc_params *window_params(const struct cc *cc)
{
    return &((const struct both_params *)cc->params)->window;
}

static void both_init(struct cc *cc, ps_t now)
{
    (void)now;
    nscc_window_init(cc, nscc_of(cc), window_params(cc), true);
}

static void both_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    nscc_window_ack(cc, nscc_of(cc), window_params(cc), ack);
}

static void both_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    nscc_window_signal(cc, nscc_of(cc), window_params(cc), signal);
}

static size_t both_observe(const struct cc *cc, double *out, size_t cap)
{
    return nscc_window_observe((const struct nscc *)(const void *)cc->priv, out, cap);
}

static struct cc_credits both_credits(const void *params, const struct cc_env *env)
{
    return rccc_credits_of(&((const struct both_params *)params)->credits, env);
}

static const struct param both_param_table[] = {
    {.include = nscc_window_params, .offset = offsetof(struct both_params, window)},
    {.include = rccc_credit_params, .offset = offsetof(struct both_params, credits)},
};

static const struct cc_basis uec_bases[] = {
    {"marking", EVIDENCE_ESTIMATED,
     NSCC_MARKING "; the last hop spared since every path ends with it"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
static const struct cc_preset both_presets[] = {
    {.name = "uec",
     .doc = "as uet-htsim and UEC 1.0",
     .holds_bps = CC_GBPS(800),
     BASES(uec_bases),
     .profile = {NSCC_PROFILE, .spares_last_hop = true}},
};

extern const struct cc_ops cc_nscc_rccc;
const struct cc_ops cc_nscc_rccc = {
    .contract = CC_CONTRACT,
    .name = "nscc_rccc",
    .doc = "Ultra Ethernet's window at the sender and credits of the receiver",
    .paper = "UEC 1.0, sections 3.6.13 and 3.6.14",
    .needs = CC_NEEDS_ECN | CC_NEEDS_GLOBAL_RTT | CC_NEEDS_PACKET_NACKS | CC_NEEDS_CREDITS,
    .params = both_param_table,
    .n_params = sizeof both_param_table / sizeof both_param_table[0],
    .params_bytes = sizeof(struct both_params),
    .priv_bytes = sizeof(struct nscc),
    .presets = both_presets,
    .n_presets = sizeof both_presets / sizeof both_presets[0],
    .init = both_init,
    .on_ack = both_on_ack,
    .on_signal = both_on_signal,
    .observe = both_observe,
    .observed = nscc_observed,
    .credits = both_credits,
};
