// SPDX-License-Identifier: MIT
// The switches that have the fixed limit of queues of their dimension (`switch.queue_limit.at`).
#include <fnmatch.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"

bool fabric_queue_limit_everywhere(const struct queue_limit_spec *limit)
{
    return limit->at == NULL || limit->at[0] == '\0';
}

static bool names_switch(const struct fabric *fabric, uint32_t index, const char *pattern)
{
    char name[GRAPH_NAME];
    return fnmatch(pattern, fabric_switch_name(fabric, index, name), 0) == 0;
}

bool fabric_queue_limit_at(const struct fabric *fabric, uint32_t index)
{
    const struct queue_limit_spec *limit =
        &fabric->spec->dims[fabric_switch_dim(fabric, index)].sw.queue_limit;
    if (fabric_queue_limit_everywhere(limit))
        return true;
    char *copy = memory_text(limit->at), *rest = copy, *pattern;
    bool named = false;
    while (!named && (pattern = port_patterns_next(&rest)) != NULL)
        named = names_switch(fabric, index, pattern);
    free(copy);
    return named;
}

static bool names_any(const struct fabric *fabric, uint32_t dim, const char *pattern)
{
    uint32_t n = fabric->switches.n_switches + fabric->switches.n_routers;
    for (uint32_t i = 0; i < n; i++)
        if (fabric_switch_dim(fabric, i) == dim && names_switch(fabric, i, pattern))
            return true;
    return false;
}

void fabric_check_queue_limits(const struct fabric *fabric, struct err *err)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        const struct queue_limit_spec *limit = &fabric->spec->dims[d].sw.queue_limit;
        if (fabric_queue_limit_everywhere(limit))
            continue;
        char *copy = memory_text(limit->at), *rest = copy, *pattern;
        while ((pattern = port_patterns_next(&rest)) != NULL)
            if (!names_any(fabric, d, pattern))
                err_add(err, "switch.queue_limit.at", "no switch of dimension %u is called \"%s\"",
                        d, pattern);
        free(copy);
    }
}
