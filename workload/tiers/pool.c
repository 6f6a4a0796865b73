// SPDX-License-Identifier: MIT
// Times are computed in floating point, in picoseconds of a byte, and rounded once.
#include "workload/tiers/pool.h"

#define PS_MOST 1e17 // 100000 s

// The longer side of the grid of `n` ranks that is nearest to a square.
static uint32_t longer_side(uint32_t n)
{
    uint32_t side = 1;
    for (uint32_t i = 1; (uint64_t)i * i <= n; i++)
        side = n % i == 0 ? i : side;
    return n / side;
}

// Ranks' bytes that cross a link of the fabric, for each byte of a rank.
static double fabric_load(const struct pool *p)
{
    double n = p->ranks;
    uint32_t k, less;
    uint64_t pairs;
    switch ((enum pool_kind)p->kind) {
    case POOL_HIERARCHICAL:
        return p->server_ranks;
    case POOL_RING:
        pairs = (uint64_t)p->ranks * p->ranks / 4;
        return (double)pairs / (2 * n);
    case POOL_MESH:
        k = longer_side(p->ranks);
        less = k / 2;
        return (double)less * (double)(k - less) / k;
    case POOL_NONE:
        break;
    }
    return 0;
}

static double byte_ps(uint64_t bps, double load)
{
    return bps == UINT64_MAX ? 0 : load * 8e12 / (double)bps;
}

ps_t pool_copy_ps(const struct pool *p, uint64_t bytes)
{
    double stages[] = {byte_ps(p->memory_bps, (double)p->ranks / (double)p->memories),
                       byte_ps(p->fabric_bps, fabric_load(p)), byte_ps(p->port_bps, 1)};
    double slowest = 0, sum = 0, first = (double)(bytes < p->chunk_bytes ? bytes : p->chunk_bytes);
    for (unsigned i = 0; i < sizeof stages / sizeof *stages; i++) {
        slowest = stages[i] > slowest ? stages[i] : slowest;
        sum += stages[i];
    }
    double takes = first * sum + ((double)bytes - first) * slowest;
    return takes < PS_MOST ? (ps_t)(takes + 0.5) : PS_NEVER;
}
