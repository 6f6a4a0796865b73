// SPDX-License-Identifier: MIT
// Random small scenarios for property tests. The same seed gives the same scenario.
#pragma once

#include "tests/support/fixture.h"

// A fabric or direct links that cannot deadlock, with random rates, delays and policies: lossless
// traffic without recovery to a hot spot, in up to three classes. Half of the scenarios leave
// sw.buffer_bytes 0, and the caller sets it (fixture_buffer_for) so that senders are paused all the
// time.
void random_lossless(struct fixture *f, uint64_t seed);

// The same with all further features of scenarios: rings that may deadlock, PFC off and loss,
// unusual ECN thresholds, response times, short timeouts, per-message queue pairs, collectives,
// horizons.
void random_any(struct fixture *f, uint64_t seed);

// Scenarios for the test of ideal times. Half of them are those of random_any with messages of any
// size. The other half have unequal links, planes, NICs shared by ranks, parallel links or two
// dimensions.
void random_bounds(struct fixture *f, uint64_t seed);

// Scenarios of random_any with one further feature, whose settings are random.
enum random_feature {
    FEATURE_LINK_RETRY,
    FEATURE_TIMELINE,
    FEATURE_CIRCUITS,
    FEATURE_NICS,
    FEATURE_ADMISSION,
    FEATURE_CREDITS,
    FEATURE_HOSTS,
    RANDOM_FEATURES
};
void random_feature(struct fixture *f, uint64_t seed, enum random_feature feature);

// In half of the cases, spread the flows of the first job over up to three jobs of different,
// lossless classes.
void random_classes(struct fixture *f, uint64_t seed);

// Returns the smallest buffer that leaves `shared` bytes of shared buffer on every switch.
uint64_t fixture_buffer_for(const struct fixture *f, uint64_t shared);
