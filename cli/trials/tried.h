// SPDX-License-Identifier: MIT
// Trials of a run whose results are in a folder.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/options/options.h"

#define TRIES 3 // of a run whose trials are cheap, or where no number is given

// The trials that a completed run makes by itself: `setting`, which is `explain.try` of its
// scenario; where that is PARAM_AUTO, TRIES. `quiet`: its sentences are not shown, so PARAM_AUTO is
// 0.
uint64_t tries_of(uint64_t setting, bool quiet);
// The same from the metrics of a run; 0 if it did not complete.
uint64_t tries_of_run(const json_t *metrics, bool quiet);
// What trials would cost, for a run that makes none since they are dear: one line, or NULL; to be
// freed.
char *tries_cost(const json_t *metrics, const char *dir);

// Run the scenario of the results in `dir` again without each of its first `n` causes, and put what
// was found into metrics.json. `budget`: a run of many packet-hops is tried on the hybrid network,
// or not at all where that takes as long. Returns an exit code; errors are printed.
int tried(const struct options *o, const char *dir, size_t n, bool budget);
