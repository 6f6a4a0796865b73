// SPDX-License-Identifier: MIT
// The pending events, and whether any of them does work for a job.
#include "sim/fabric/fabric_internal.h"

size_t fabric_pending(const struct fabric *fabric)
{
    return fabric->partition ? partition_pending(fabric->partition) : fabric->engine.queue.n;
}

bool fabric_only_housekeeping(const struct fabric *fabric)
{
    return fabric_pending(fabric) <= fabric->housekeeping;
}

bool fabric_messages_running(const struct fabric *fabric)
{
    bool running = fabric->hosts.n_running > 0;
    for (uint32_t i = 0; fabric->partition && i < fabric->partition->n; i++)
        running |= fabric->shard_hosts[i].n_running > 0;
    return running;
}
