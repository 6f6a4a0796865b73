// SPDX-License-Identifier: MIT
// Random streams that do not depend on the order of calls: Philox4x32-10 (Salmon et al., SC 2011,
// from the Random123 library) of (seed, use, entity, the entity's own counter).
#pragma once

#include "engine/base/units.h"

// The use of a stream. It is part of the Philox counter, so two uses never share a stream.
enum rng_use {
    RNG_ECN = 1,
    RNG_ECMP,
    RNG_JITTER,
    RNG_CLOCK,
    RNG_WORKLOAD,
    RNG_PINT,
    RNG_FAULT,
    RNG_ROUTING,
    RNG_MAPPING,
    RNG_POISSON,
    RNG_COMPUTE,
    RNG_BOOTSTRAP,
    RNG_EXPERTS,
    RNG_SUPPORT,
    RNG_SERVED,
    RNG_SPRAY,
    RNG_TRIM,
    RNG_QP_CACHE,
    RNG_HINT,
    RNG_NOISE,
    RNG_NOISE_START,
    RNG_NOISE_LINK,
    RNG_SYNTH,
    RNG_DRAWS,
    RNG_HYBRID_CHECK,
    RNG_HOST_THREAD
};

struct rng {
    uint64_t seed, counter;
    uint32_t use, index;
    uint32_t block[4]; // draws of the current counter block
};

struct rng rng_init(uint64_t seed, enum rng_use use, uint32_t index);
uint32_t rng_u32(struct rng *rng);                   // uniform over 32 bits
double rng_unit(struct rng *rng);                    // uniform in [0, 1), in steps of 2^-32
uint64_t rng_below(struct rng *rng, uint64_t bound); // uniform in [0, bound), bound > 0
// Fill list[n] with a random order of the numbers below n (Fisher and Yates).
void rng_permutation(struct rng *rng, uint32_t *list, uint32_t n);

// A fixed 64-bit hash (the finalizer of MurmurHash3), for ECMP and entropy.
static inline uint64_t hash_mix(uint64_t x)
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}
