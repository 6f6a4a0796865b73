// SPDX-License-Identifier: MIT
// A hash table of environments of policies.
#include "transport/sender/envs.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

static bool equal(const struct cc_env *a, const struct cc_env *b)
{
    return a->line_bps == b->line_bps && a->base_rtt_ps == b->base_rtt_ps &&
           a->global_rtt_ps == b->global_rtt_ps && a->mtu_bytes == b->mtu_bytes &&
           a->full_wire_bytes == b->full_wire_bytes && a->ack_packets == b->ack_packets &&
           a->hops == b->hops && a->initial_window_bytes == b->initial_window_bytes &&
           a->trims == b->trims && a->helpers == b->helpers && a->watch == b->watch;
}

static struct cc_env **slot_of(const struct cc_envs *envs, const struct cc_env *env)
{
    uint64_t hash = hash_mix(hash_mix(env->line_bps) + (uint64_t)env->base_rtt_ps);
    size_t i = hash_mix(hash + env->mtu_bytes) & (envs->cap - 1);
    while (envs->slots[i] && !equal(envs->slots[i], env))
        i = (i + 1) & (envs->cap - 1);
    return &envs->slots[i];
}

static void grow(struct cc_envs *envs)
{
    struct cc_envs old = *envs;
    envs->cap = old.cap ? 2 * old.cap : 16;
    envs->slots = memory_zeroed(envs->cap, sizeof(struct cc_env *));
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i])
            *slot_of(envs, old.slots[i]) = old.slots[i];
    free(old.slots);
}

const struct cc_env *cc_envs_keep(struct cc_envs *envs, const struct cc_env *env)
{
    if (2 * envs->n >= envs->cap)
        grow(envs);
    struct cc_env **slot = slot_of(envs, env);
    if (!*slot) {
        *slot = memory_zeroed(1, sizeof **slot);
        **slot = *env;
        envs->n++;
    }
    return *slot;
}

void cc_envs_free(struct cc_envs *envs)
{
    for (size_t i = 0; i < envs->cap; i++)
        free(envs->slots[i]);
    free(envs->slots);
}
