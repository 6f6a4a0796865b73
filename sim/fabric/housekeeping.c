// SPDX-License-Identifier: MIT
// The pending events, and whether any of them does work for a job.
#include "sim/fabric/fabric_internal.h"

// Of all processes; the events of the common engine are in each of them.
size_t fabric_pending(const struct fabric *fabric)
{
    struct shards *p = fabric->shards;
    // Every process holds a copy of the common events, so only the others are summed.
    uint64_t common = fabric->engine.queue.n, apart = p ? shards_pending(p) - common : 0;
    shards_sum(p, &apart, 1);
    return common + apart;
}

bool fabric_only_housekeeping(const struct fabric *fabric)
{
    // Housekeeping events repeat as long as the run lasts. If only they are left, no job can go on.
    return fabric_pending(fabric) <= fabric->housekeeping;
}

bool fabric_messages_running(const struct fabric *fabric)
{
    struct shards *p = fabric->shards;
    uint64_t running = fabric->hosts.n_running;
    for (uint32_t i = 0; p && i < p->n_own; i++)
        running += fabric->shard_hosts[i].n_running;
    shards_sum(p, &running, 1);
    return running > 0;
}
