// SPDX-License-Identifier: MIT
// Tiers of memory, as a job describes them: memories beside a GPU's own, between which its ranks
// copy data.
//
// A local tier is a memory that a rank has alone, or shares with neighbours; the memory of a remote
// tier is at other ranks of the network and is reached by messages (remote.c); a pool has a fabric
// of its own and takes a time in closed form (pool.h). Plain data; config/ reads it.
#pragma once

#include <stdbool.h>

#include "engine/base/param.h"
#include "workload/tiers/pool.h"

struct tier_params {              // as in a scenario
    uint64_t rate_bps;            // reads and writes together; PARAM_AUTO = no limit
    uint64_t read_bps, write_bps; // PARAM_AUTO = `rate`
    ps_t latency_ps;
    uint64_t capacity_bytes; // PARAM_AUTO = no limit
    /* remote */
    uint64_t stripe_bytes, request_bytes;
    uint64_t cls; // PARAM_AUTO = that of the job
    /* pool */
    int pool; // enum pool_kind
    uint64_t memories, fabric_bps, port_bps, chunk_bytes;
};

// Keys of every tier, keys that only tiers with `hosts` take, and keys that only pools take.
extern const struct param tier_params[], tier_remote_params[], tier_pool_params[];
extern const size_t n_tier_params, n_tier_remote_params, n_tier_pool_params;

struct tier {
    char *name;
    struct tier_params p;
    /* local */
    uint32_t *memory_of; // [rank of the job] number of the memory that it uses; NULL = its own
    uint32_t n_memories;
    /* remote */
    uint32_t *hosts; // [n_hosts] ranks of the network; NULL = the tier is local
    uint32_t n_hosts;
    /* pool */
    struct pool pool;
};

// The tiers of a job. The first is the GPU's own memory, `hbm`.
struct tier_set {
    struct tier *items;
    uint32_t n;
};

#define TIER_NONE UINT32_MAX
uint32_t tier_find(const struct tier_set *set, const char *name); // TIER_NONE = there is none

// Add a tier with the default of each key.
struct tier *tier_add(struct tier_set *set, const char *name);
void tier_set_free(struct tier_set *set);

static inline bool tier_is_pool(const struct tier *t) { return t->p.pool != POOL_NONE; }

// True if reads and writes of the tier share one bandwidth.
bool tier_is_joint(const struct tier *t);

// Bandwidth of one direction; PARAM_AUTO = no limit.
uint64_t tier_rate(const struct tier *t, bool writes);

// True if copies of one rank of the job may delay those of another without a message between them.
bool tier_set_is_shared(const struct tier_set *set);

// Bytes of the messages of a copy of `bytes`, 0 where both tiers are local.
uint64_t tier_message_bytes(const struct tier *from, const struct tier *to, uint64_t bytes);
