// SPDX-License-Identifier: MIT
// Random small scenarios for property tests: the same seed gives the same scenario.
#pragma once

#include "tests/support/fixture.h"

// Fabric or direct links that cannot deadlock, rates, delays, policies, recovery-free lossless
// traffic into a hot spot, in up to three classes. Half of them leave sw.buffer_bytes 0: the caller
// sets it (fixture_buffer_for), for pauses all the time.
void random_lossless(struct fixture *f, uint64_t seed);

// The same with everything a scenario can turn on besides: rings that may deadlock, PFC off and
// loss, ECN at odd thresholds, response times, short timeouts, per-message queue pairs,
// collectives, horizons.
void random_any(struct fixture *f, uint64_t seed);

// What ideal times have to bound: half of them random_any with messages of any size, half networks that
// it does not draw, with unequal links, planes, NICs that ranks share, parallel links, two dimensions.
void random_bounds(struct fixture *f, uint64_t seed);

// Half of the time: the flows of the first job go to up to three jobs of different classes, all lossless.
void random_classes(struct fixture *f, uint64_t seed);

// The smallest buffer that leaves `shared` bytes to share on every switch.
uint64_t fixture_buffer_for(const struct fixture *f, uint64_t shared);
