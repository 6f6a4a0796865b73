// SPDX-License-Identifier: MIT
// Settings of the collectives of a program's groups: the algorithm of each operation and common
// settings. The schedule of a group of any size follows from them.
#pragma once

#include "collective/algorithm/schedule.h"
#include "collective/nccl/executor_spec.h"

struct group_params { // as in a scenario
    uint64_t chunks, active_chunks, reduce_bps;
    ps_t endpoint_ps;
};

struct group_choice {
    struct group_params params;
    // All algorithms with their settings, in the order of the registry.
    struct coll_choice algorithms[COLL_ALGORITHMS_MAX];
    struct coll_choice by_op[COLL_OPS];
    struct executor_spec library;
};

// The schedule of a group of `ranks`, flat over all of them.
struct coll_schedule group_schedule(const struct group_choice *choice, uint32_t ranks);

// Rows for a struct group_params at member `at` of the settings struct `of`.
#define GROUP_ROWS(of, at)                                                                         \
    {.name = "chunks",                                                                             \
     .type = PARAM_COUNT,                                                                          \
     .offset = offsetof(of, at.chunks),                                                            \
     .def = "1",                                                                                   \
     .min = "1",                                                                                   \
     .max = "4096",                                                                                \
     .help = "pieces of a collective"},                                                            \
        {.name = "active_chunks",                                                                  \
         .type = PARAM_COUNT,                                                                      \
         .offset = offsetof(of, at.active_chunks),                                                 \
         .def = "auto",                                                                            \
         .min = "1",                                                                               \
         .max = "4096",                                                                            \
         .can_auto = true,                                                                         \
         .help =                                                                                   \
             "pieces of a group's collectives that run at once, those of the highest priority "    \
             "first; auto = all"},                                                                 \
        {.name = "endpoint_delay",                                                                 \
         .type = PARAM_TIME,                                                                       \
         .offset = offsetof(of, at.endpoint_ps),                                                   \
         .def = "0ns",                                                                             \
         .max = "1s",                                                                              \
         .help = "of a rank before the messages of each step, and after the last",                 \
         .source = "ASTRA-sim: endpoint-delay"},                                                   \
    {                                                                                              \
        .name = "reduce_rate", .type = PARAM_RATE, .offset = offsetof(of, at.reduce_bps),          \
        .def = "auto", .min = "1Mbps", .can_auto = true,                                           \
        .help = "at which a rank adds what it receives; auto = at once"                            \
    }
