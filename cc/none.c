// SPDX-License-Identifier: MIT
// No congestion control: line rate, no window. Only PFC limits the senders.
#include "collwire/cc.h"

// cc_begin() has already set line rate and no window.
static void none_init(struct cc *cc, ps_t now)
{
    (void)cc;
    (void)now;
}

static const struct cc_preset none_presets[] = {
    {.name = "default", .doc = "the only one; switches do not mark", .profile = {.ecn = false}},
};

extern const struct cc_ops cc_none;
const struct cc_ops cc_none = {
    .contract = CC_CONTRACT,
    .name = "none",
    .doc = "line rate without a window; only PFC holds a sender back",
    .paper = "IEEE 802.1Qbb (PFC alone)",
    .presets = none_presets,
    .n_presets = sizeof none_presets / sizeof none_presets[0],
    .init = none_init,
};
