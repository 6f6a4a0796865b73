// SPDX-License-Identifier: MIT
// Sentences about what switches did to packets beyond forwarding them.
#include "engine/text.h"
#include "sim/sim_internal.h"

static bool any_trimming(const struct sim *sim)
{
    bool any = false;
    for (uint32_t d = 0; d < sim->spec->n_dims; d++)
        any |= sim->spec->dims[d].sw.trimming.enabled;
    return any;
}

static const struct port_result *most_trimmed(const struct result *r)
{
    const struct port_result *most = &r->ports[0];
    for (size_t i = 1; i < r->n_ports; i++)
        if (r->ports[i].trimmed_packets > most->trimmed_packets)
            most = &r->ports[i];
    return most;
}

static void explain_trims(const struct sim *sim, struct result *r)
{
    char bytes[UNIT_TEXT], queue[UNIT_TEXT];
    if (!any_trimming(sim))
        return;
    if (r->trimmed_packets == 0) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("no packet was trimmed: the longest queue held %s",
                                   human_bytes(r->max_queue_bytes, queue)));
        return;
    }
    const struct port_result *most = most_trimmed(r);
    result_explain(
        r, EXPLAIN_LOSS,
        text_format("switches trimmed %llu packets by %s, %llu of them at the port of their "
                    "destination; most at %s: %llu",
                    (unsigned long long)r->trimmed_packets, human_bytes(r->trimmed_bytes, bytes),
                    (unsigned long long)r->trimmed_last_hop, most->at,
                    (unsigned long long)most->trimmed_packets));
}

void sim_explain_switches(const struct sim *sim, struct result *r) { explain_trims(sim, r); }
