// SPDX-License-Identifier: MIT
// For tests that different ways to run a random scenario give the same bytes.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/support/random.h"

#define ANY_FEATURE (-1) // no particular one

// A scenario of random_feature() for an enum random_feature; for ANY_FEATURE of random_bounds() in
// a third of the cases, and else of random_any().
void same_bytes_scenario(struct fixture *f, uint64_t seed, int feature);

// The results of a run as texts.
struct outcome {
    char *metrics;  // metrics.json
    char *timeline; // NULL = the scenario has none
};
struct outcome outcome_of(const struct result *r);
void outcome_free(struct outcome *o);

// Shows where the texts of two outcomes begin to differ. Returns true if they do.
bool outcomes_differ(const struct outcome *one, const struct outcome *more);

// How many scenarios a test has: COLLWIRE_RANDOM, or else `n`, or a quarter of it with sanitizers.
uint64_t same_bytes_scenarios(uint64_t n);

// Call a function with `n` seeds, from COLLWIRE_SEED on, or else from 1. With COLLWIRE_SEED each
// seed is printed before the call, so that one that does not end is known.
void same_bytes_each(uint64_t n, void (*compare)(uint64_t seed, int feature, void *sums),
                     int feature, void *sums);
