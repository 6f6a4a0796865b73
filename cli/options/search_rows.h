// SPDX-License-Identifier: MIT
// Rows of the table of options for commands that search for settings: fit and tune.
#pragma once

// clang-format off
#define SEARCH_ROWS                                                                                \
    {.name = "goal",                                                                               \
     .argument = "QUANTITY[:min|max]",                                                             \
     .help = "what is to be best (time): a quantity of fit, as max_queue or \"goodput "            \
             "rank0->rank2\", or a path of metrics.json; twice: the front of both",                \
     .commands = "tune",                                                                           \
     .type = OPTION_TEXTS,                                                                         \
     AT(goals)},                                                                                   \
    {.name = "guard",                                                                              \
     .argument = "QUANTITY<=VALUE",                                                                \
     .help = "a bound that must hold in each scenario, as \"drops<=0\" or busbw>=300Gbps",         \
     .commands = "tune",                                                                           \
     .type = OPTION_TEXTS,                                                                         \
     AT(guards)},                                                                                  \
    {.name = "faults",                                                                             \
     .argument = "N",                                                                              \
     .help = "also under N drawn links with half of their lanes, and then for the case at 90 %",   \
     .commands = "tune",                                                                           \
     .type = OPTION_COUNT,                                                                         \
     .max = 60,                                                                                    \
     AT(faults)},                                                                                  \
    {.name = "budget",                                                                             \
     .argument = "N",                                                                              \
     .help = "runs at most (300; diagnose: 2000)",                                                 \
     .commands = "fit tune diagnose",                                                              \
     .type = OPTION_COUNT,                                                                         \
     .max = 1000000,                                                                               \
     AT(budget)},                                                                                  \
    {.name = "job",                                                                                \
     .argument = "SCENARIO",                                                                       \
     .help = "the scenario whose jobs were measured on the network",                               \
     .commands = "diagnose",                                                                       \
     .type = OPTION_TEXT,                                                                          \
     .completes = COMPLETE_FILES,                                                                  \
     AT(job)},                                                                                     \
    {.name = "hold-out",                                                                           \
     .argument = "K",                                                                              \
     .help = "leave out K drawn values, and print what the fit says of them",                      \
     .commands = "fit",                                                                            \
     .type = OPTION_COUNT,                                                                         \
     .max = 100000,                                                                                \
     AT(hold_out)}
// clang-format on
