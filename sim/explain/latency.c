// SPDX-License-Identifier: MIT
// A sentence about propagation delays and the latency of switches, where the path consists of
// them: of many small messages, one after the other.
#include <stdlib.h>

#include "sim/explain/explain_internal.h"

#define SHARE_MIN 0.2     // of the path, from which it is said
#define LESS_THAN_ALL 0.9 // of its saving counts: an algorithm with fewer steps comes first

// The share of a full packet's time on the longest path that does not depend on its bytes.
static double delay_share(const struct fabric *fabric, uint32_t dim)
{
    struct longest_path longest = fabric_longest_path(fabric, dim, 0);
    const struct graph *g = &fabric->graph;
    ps_t delay = 0, store = 0;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        if (g->ports[p].dim != dim)
            continue;
        delay = g->ports[p].delay_ps > delay ? g->ports[p].delay_ps : delay;
        ps_t packet =
            serialization_ps(hosts_dim(&fabric->hosts, dim, 0)->full.wire, g->ports[p].rate_bps);
        store = packet > store ? packet : store;
    }
    if (longest.hops == 0 || delay == 0)
        return 0;
    return (double)delay / (double)(delay + store);
}

static void add_remedy(const struct fabric *fabric, struct reason_result *reason)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        const char *const *more = fabric->spec->dims[d].kind->links;
        reason_set(reason, "topology.dims[%u].link.delay=0ns", d);
        for (; more && *more; more++)
            reason_set(reason, "topology.dims[%u].%s.delay=0ns", d, *more);
    }
    reason_set(reason, "switch.latency=0ns");
}

void explain_latency(const struct fabric *fabric, struct result *r)
{
    double share = 0;
    char all[UNIT_TEXT], rtt[UNIT_TEXT];
    ps_t network = r->last ? r->last->critical.parts[PATH_NETWORK] : 0, longest = 0;
    for (uint32_t d = 0; d < fabric->graph.n_dims && network > 0; d++) {
        double of_dim = delay_share(fabric, d);
        ps_t base = fabric_longest_path(fabric, d, 0).base_rtt_ps;
        share = of_dim > share ? of_dim : share;
        longest = base > longest ? base : longest;
    }
    ps_t saving = network > 0 ? result_wait_saving_ps(r, (ps_t)(share * (double)network)) : 0;
    if (network == 0 || longest == 0 || r->retransmitted > 0 ||
        result_share_of(r, saving) < SHARE_MIN)
        return;
    double trips = (double)network / ((double)longest / 2);
    struct reason_result *reason = result_cause(
        r, REASON_LATENCY, (ps_t)(LESS_THAN_ALL * (double)saving),
        text_format("latency: propagation and switches take %s of the path, as long as %.0f times "
                    "the longest way of %s",
                    human_time(network, all), trips < 1 ? 1 : trips, human_time(longest / 2, rtt)),
        "without delays");
    add_remedy(fabric, reason);
}
