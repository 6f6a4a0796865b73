// SPDX-License-Identifier: MIT
// Optional information about a policy beyond its hooks. A policy works without it, but its runs are
// then explained in less detail. A policy sets cc_ops.extras to
//   static const struct cc_extras extras = {CC_EXTRAS, .growth = my_growth};
#pragma once

#include "collwire/cc.h"

// Slow growth of a policy's rate or window after a cut, for explanations: a step in each interval.
struct cc_growth {
    uint64_t step_bps;   // of the rate; 0 = it grows by its window
    uint64_t step_bytes; // of the window
    ps_t every_ps;
};

struct cc_extras {
    uint32_t bytes, growth_bytes; // CC_EXTRAS
    // True if the policy writes cc->path, so a flow's port numbers may change with packets in
    // flight.
    bool changes_path;
    // Returns the growth of the flow's rate or window where no other rule makes it grow faster.
    struct cc_growth (*growth)(const struct cc *cc);
    const struct cc_host *host; // of this program; not for policies
};
#define CC_EXTRAS .bytes = sizeof(struct cc_extras), .growth_bytes = sizeof(struct cc_growth)
