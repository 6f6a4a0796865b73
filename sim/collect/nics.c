// SPDX-License-Identifier: MIT
// Results of NICs that are not ideal.
#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "transport/nic/adapter.h"

void collect_nics(const struct fabric *fabric, struct result *r)
{
    const struct adapters *all = fabric->hosts.adapters;
    double time = (double)r->sim_time_ps;
    char name[GRAPH_NAME];
    if (!all)
        return;
    r->n_nics = all->n;
    r->nics = memory_zeroed(all->n, sizeof *r->nics);
    for (uint32_t i = 0; i < all->n; i++) {
        const struct adapter *a = &all->list[i];
        struct nic_result *out = &r->nics[i];
        *out =
            (struct nic_result){.at = memory_text(graph_node_name(&fabric->graph, a->node, name)),
                                .dim = a->dim,
                                .max_held_bytes = a->max_held_bytes,
                                .pauses = a->pauses,
                                .dropped_packets = a->dropped.packets};
        for (unsigned d = 0; d < ADAPTER_DIRECTIONS && time > 0; d++) {
            ps_t ahead = a->free_ps[d] > r->sim_time_ps ? a->free_ps[d] - r->sim_time_ps : 0;
            ps_t busy = a->busy_ps[d] > ahead ? a->busy_ps[d] - ahead : 0;
            out->busy_share[d] = (double)busy / time;
            out->bus_share[d] = (double)a->bus_busy_ps[d] / time;
            out->bus_share[d] = out->bus_share[d] < 1 ? out->bus_share[d] : 1;
            out->missed_share[d] = (double)a->missed_ps[d] / time;
            out->qp_lookups[d] = a->lookups[d];
            out->qp_misses[d] = a->misses[d];
        }
    }
}
