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
