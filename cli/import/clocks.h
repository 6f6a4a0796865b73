// SPDX-License-Identifier: MIT
// Offsets of the ranks' clocks.
#pragma once

#include "cli/import/recording.h"

struct clock_estimate {
    uint32_t n_ranks; // whose offset is known, without the first
    uint64_t n_ends;  // of collectives and messages from which they are estimated
    uint32_t worst_rank;
    int64_t worst_ns;  // the largest offset, of worst_rank
    int64_t spread_ns; // the largest of any rank: 90th percentile of the distance from its offset
};

// Estimate each rank's offset_ns against the first rank: the median difference of the ends of
// collectives that no member can leave before all have contributed, so that their kernels end at
// nearly the same instant on all ranks. Ranks that share no group with the first one are reached
// over others, and where no collective leads to them, by the ends of messages. The recording must
// be matched.
struct clock_estimate clocks_estimate(struct recording *r);
