// SPDX-License-Identifier: MIT
// Philox streams. Each block yields four draws.
#include "engine/base/rng.h"

#include <Random123/philox.h>

struct rng rng_init(uint64_t seed, enum rng_use use, uint32_t index)
{
    return (struct rng){.seed = seed, .use = (uint32_t)use, .index = index};
}

uint32_t rng_u32(struct rng *rng)
{
    unsigned lane = (unsigned)(rng->counter & 3);
    if (lane == 0) {
        uint64_t block = rng->counter >> 2;
        philox4x32_ctr_t ctr = {{(uint32_t)block, (uint32_t)(block >> 32), rng->index, rng->use}};
        philox4x32_key_t key = {{(uint32_t)rng->seed, (uint32_t)(rng->seed >> 32)}};
        philox4x32_ctr_t out = philox4x32(ctr, key);
        for (unsigned i = 0; i < 4; i++)
            rng->block[i] = out.v[i];
    }
    rng->counter++;
    return rng->block[lane];
}

double rng_unit(struct rng *rng) { return rng_u32(rng) * 0x1p-32; }

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    uint64_t high = rng_u32(rng), draw = high << 32 | rng_u32(rng);
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)((u128)draw * bound >> 64);
}

void rng_permutation(struct rng *rng, uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        list[i] = i;
    for (uint32_t i = n; i > 1; i--) {
        uint32_t other = (uint32_t)rng_below(rng, i), kept = list[i - 1];
        list[i - 1] = list[other];
        list[other] = kept;
    }
}
