// SPDX-License-Identifier: MIT
// The nodes of a made set: those of the set it is like, with other ranks, groups, times and sizes.
#pragma once

#include "cli/synth/synth.h"

struct made_source {
    const struct node_program *from;
    struct synth_survey survey;
    struct synth_growth growth;
    struct synth_times *times;
    struct synth_wish wish;
    struct synth_seat *seat; // [rank]
};

// `self` is a struct made_source.
extern const struct node_source_ops made_source_ops;
