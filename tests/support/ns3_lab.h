// SPDX-License-Identifier: MIT
// Scenarios of the measured ns-3 runs, with that tree's packet sizes, buffers, windows and presets.
#pragma once

#include <jansson.h>

#include "tests/support/fixture.h"

// The differences between the scenarios.
struct ns3_setup {
    const char *file;                 // "incast8.json"
    void (*build)(struct fixture *f); // topology and flows
    const char *window;               // largest BDP of the network
    uint64_t headroom_bytes, kmin_bytes, kmax_bytes, step_bytes;
};

struct ns3_figures {
    double mean_us, max_us, max_queue_kb;
};

// The compared policies, by the names of the files; NULL-terminated.
extern const char *const ns3_policies[];

// The measured runs in tests/data/ns3; ORIGIN.md there has their origin.
json_t *ns3_load(const struct ns3_setup *setup);
struct ns3_figures ns3_theirs(const json_t *root, const char *policy);
struct ns3_figures ns3_ours(const struct ns3_setup *setup, const char *policy, uint64_t seed);

// Each measured figure must be inside the range of ours over at most 20 ECMP seeds.
void ns3_check_range(const struct ns3_setup *setup, const json_t *root, const char *policy);
