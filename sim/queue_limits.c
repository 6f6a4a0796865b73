// SPDX-License-Identifier: MIT
// The switches that have the fixed limit of queues of their dimension (`switch.queue_limit.at`).
#include <fnmatch.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/port_patterns.h"
#include "sim/sim_internal.h"

bool sim_queue_limit_everywhere(const struct queue_limit_spec *limit)
{
    return limit->at == NULL || limit->at[0] == '\0';
}

static bool names_switch(const struct sim *sim, uint32_t index, const char *pattern)
{
    char name[GRAPH_NAME];
    return fnmatch(pattern, sim_switch_name(sim, index, name), 0) == 0;
}

bool sim_queue_limit_at(const struct sim *sim, uint32_t index)
{
    const struct queue_limit_spec *limit =
        &sim->spec->dims[sim_switch_dim(sim, index)].sw.queue_limit;
    if (sim_queue_limit_everywhere(limit))
        return true;
    char *copy = memory_text(limit->at), *rest = copy, *pattern;
    bool named = false;
    while (!named && (pattern = port_patterns_next(&rest)) != NULL)
        named = names_switch(sim, index, pattern);
    free(copy);
    return named;
}

static bool names_any(const struct sim *sim, uint32_t dim, const char *pattern)
{
    uint32_t n = sim->switches.n_switches + sim->switches.n_routers;
    for (uint32_t i = 0; i < n; i++)
        if (sim_switch_dim(sim, i) == dim && names_switch(sim, i, pattern))
            return true;
    return false;
}

void sim_check_queue_limits(const struct sim *sim, struct err *err)
{
    for (uint32_t d = 0; d < sim->spec->n_dims; d++) {
        const struct queue_limit_spec *limit = &sim->spec->dims[d].sw.queue_limit;
        if (sim_queue_limit_everywhere(limit))
            continue;
        char *copy = memory_text(limit->at), *rest = copy, *pattern;
        while ((pattern = port_patterns_next(&rest)) != NULL)
            if (!names_any(sim, d, pattern))
                err_add(err, "switch.queue_limit.at", "no switch of dimension %u is called \"%s\"",
                        d, pattern);
        free(copy);
    }
}
