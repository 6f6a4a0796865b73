// SPDX-License-Identifier: MIT
// Optional information about a policy beyond its hooks. A policy works without it, but its runs are
// then simulated in full and explained in less detail. A policy sets cc_ops.extras to
//   static const struct cc_extras extras = {CC_EXTRAS, .growth = my_growth};
#pragma once

#include "collwire/cc.h"

// Slow growth of a policy's rate or window after a cut, for explanations: a step in each interval.
struct cc_growth {
    uint64_t step_bps;   // of the rate; 0 = it grows by its window
    uint64_t step_bytes; // of the window
    ps_t every_ps;
};

// Shift of a flow's state in time and in sequence numbers.
struct cc_shift {
    ps_t time_ps;
    uint64_t bytes;
};

// Move a time, unless it is PS_NEVER.
static inline void cc_shift_time(ps_t *time, const struct cc_shift *by)
{
    if (*time != PS_NEVER)
        *time += by->time_ps;
}

struct cc_extras {
    uint32_t bytes, growth_bytes, shift_bytes; // CC_EXTRAS
    // True if the policy writes cc->path, so a flow's port numbers may change with packets in
    // flight.
    bool changes_path;
    // Returns the growth of the flow's rate or window where no other rule makes it grow faster.
    struct cc_growth (*growth)(const struct cc *cc);
    // For fast-forward (engine.fast_forward). Move the absolute times of `priv` by `by->time_ps`,
    // which may be negative, and its sequence numbers by `by->bytes`, modulo 2^64. All else in
    // `priv` must be equal for the flow's future to be the same. A policy with private state and
    // without this hook is always simulated in full.
    void (*shift)(struct cc *cc, const struct cc_shift *by);
    // For fast-forward: set to a constant, in a copy, the parts of `priv` that only on_signal,
    // on_timer, and on_ack with ce_bytes > 0 read and write. All that `shift` moves must be among
    // them. A flow without congestion is then found to repeat even if it had congestion long ago.
    void (*forget)(struct cc *cc);
    const struct cc_host *host; // of this program; not for policies
};
#define CC_EXTRAS                                                                                  \
    .bytes = sizeof(struct cc_extras), .growth_bytes = sizeof(struct cc_growth),                   \
    .shift_bytes = sizeof(struct cc_shift)
