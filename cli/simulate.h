// SPDX-License-Identifier: MIT
// One run from a loaded scenario to its set of result files.
#pragma once

#include <stdbool.h>

#include "config/scenario.h"
#include "sim/estimate.h"
#include "sim/spec.h"

struct simulated {
    int code;      // exit code
    char *metrics; // text of metrics.json, also where it could not be written; NULL = nothing ran
    bool written;  // the files are in place
    char id[33];   // of the set of files
};

// Simulate into `dir`, by the reference engine where `plain`; progress on stderr. Errors are printed.
struct simulated simulate(const struct scenario *scenario, const char *dir, bool plain,
                          bool show_progress);
void simulated_free(struct simulated *run);

// Bytes of memory that `limits.memory` allows on this machine; called before the network is built.
uint64_t simulate_memory_limit(const struct spec *spec);
// Does a run of this estimate fit? 0, or -1 with an error that says what it needs.
int simulate_check_memory(const struct estimate *e, uint64_t limit_bytes, struct err *err);
