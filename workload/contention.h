// SPDX-License-Identifier: MIT
// Slowdown of computations by collectives that run on the same ranks.
//
// A collective on a GPU reads and writes its memory and holds some of its compute units; a
// collective that switches reduce takes less. While a rank takes part in collectives, its
// computations run at 1 - share of their speed, with the largest share of the collectives that are
// under way.
// Source: Rashidi et al., ISCA 2021 (ACE), sections 3 and 6: collectives take 6 to 30 % of compute
// units and of memory bandwidth.
#pragma once

#include "engine/base/param.h"

struct contention_params { // shares of the speed of computation, 0 = none
    double share, in_network;
};

// Rows for a struct contention_params at member `at` of the settings struct `of`.
#define CONTENTION_ROWS(of, at)                                                                    \
    {.name = "contention",                                                                         \
     .type = PARAM_RATIO,                                                                          \
     .offset = offsetof(of, at.share),                                                             \
     .def = "0",                                                                                   \
     .min = "0",                                                                                   \
     .max = "0.95",                                                                                \
     .help = "share of its compute speed that a rank loses while it takes part in a collective",   \
     .source = "Rashidi et al., ISCA 2021"},                                                       \
    {                                                                                              \
        .name = "contention_in_network", .type = PARAM_RATIO,                                      \
        .offset = offsetof(of, at.in_network), .def = "0", .min = "0", .max = "0.95",              \
        .help = "the same for collectives that switches reduce (in_network)",                      \
        .source = "Klenk et al., ISCA 2020"                                                        \
    }
