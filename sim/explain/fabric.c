// SPDX-License-Identifier: MIT
// Makes sentences about the fabric from counters: which links were busy, how evenly equal paths
// were used, where packets were dropped.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/topology/group.h"
#include "sim/explain/explain_internal.h"

// ---- links ----

static int busier(const void *a, const void *b)
{
    const struct port_result *x = *(const struct port_result *const *)a;
    const struct port_result *y = *(const struct port_result *const *)b;
    if (x->utilization != y->utilization)
        return x->utilization < y->utilization ? 1 : -1;
    return x < y ? -1 : x > y;
}

#define BUSIEST 3

static void explain_busiest_links(struct result *r)
{
    const struct port_result **order = memory_zeroed(r->n_ports, sizeof(void *));
    uint64_t all = 0, top = 0;
    size_t n = 0;
    for (size_t i = 0; i < r->n_ports; i++) {
        all += r->ports[i].bytes;
        if (r->ports[i].bytes > 0)
            order[n++] = &r->ports[i];
    }
    qsort(order, n, sizeof(void *), busier);
    char text[512];
    size_t used = 0;
    for (size_t i = 0; i < n && i < BUSIEST; i++) {
        top += order[i]->bytes;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s, in use %.0f %% of the time",
                             i > 0 ? "; " : "", order[i]->at, 100 * result_use(r, order[i]));
    }
    if (n > 0)
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("busiest link%s: %s; together %.0f %% of the bytes of all links",
                                   n > 1 ? "s" : "", text, 100 * (double)top / (double)all));
    free(order);
}

// ---- planes ----

// Count the ports by which ranks reach the switches of a dimension, and how many of them have sent.
// Ranks with one such port, and ranks that sent nothing, are left out.
static void count_planes(const struct fabric *fabric, uint32_t dim, uint32_t *ports, uint32_t *used)
{
    const struct graph *g = &fabric->graph;
    *ports = *used = 0;
    for (uint32_t rank = 0; rank < g->n_ranks && !g->dim_direct[dim]; rank++) {
        uint32_t first, n = graph_ports_in(g, rank, dim, &first), sent = 0;
        for (uint32_t i = 0; i < n; i++)
            sent += fabric->net.ports[first + i].tx_bytes > 0;
        if (n > 1 && sent > 0) {
            *ports += n;
            *used += sent;
        }
    }
}

#define PAIRS_PER_PORT 4 // queue pairs, so that their hashes meet most ports

// What removes idle ports: stripes over planes, or, where switches of one plane are side by side,
// messages split over queue pairs, which take different ports by their hashes. Returns false if the
// transport has neither.
static bool planes_remedy(const struct fabric *fabric, uint32_t dim, ps_t saving, char *seen,
                          struct result *r)
{
    const struct transport_spec *t = &fabric->spec->dims[dim].transport;
    const struct rank_group group = rank_group_at(&fabric->graph, dim, 0);
    const uint16_t *first;
    uint32_t ports = routes_from(fabric_first_routes(fabric), group_rank(&group, 0),
                                 group_rank(&group, group.size - 1), dim, &first);
    bool pairs = param_find(t->ops->params, t->ops->n_params, "qp_scaling").name && ports > 1;
    if (!t->stripe) {
        reason_set(result_cause(r, REASON_PLANES, saving, seen,
                                "with transport.stripe, which splits it over all"),
                   "transport.stripe=true");
        return true;
    }
    if (!pairs)
        return false;
    char change[96];
    uint32_t n = PAIRS_PER_PORT * ports;
    snprintf(change, sizeof change, "with %u queue pairs per pair of ranks, over which it is split",
             n);
    struct reason_result *reason = result_cause(r, REASON_PLANES, saving, seen, change);
    reason_set(reason, "transport.qps_per_pair=%u", n);
    reason_set(reason, "transport.qp_scaling=split");
    return true;
}

static void explain_planes(const struct fabric *fabric, struct result *r)
{
    for (uint32_t d = 0; d < fabric->graph.n_dims; d++) {
        uint32_t ports, used;
        count_planes(fabric, d, &ports, &used);
        if (4 * used > 3 * ports || ports == 0)
            continue;
        char *seen = text_format("idle planes: ranks sent by %u of their %u ports in dimension %u, "
                                 "since a message uses one plane",
                                 used, ports, d);
        enum { BUSY = CAUSE(SENDING) | CAUSE(NIC) | CAUSE(QUEUED) };
        double idle = 1 - (double)used / ports,
               busy = result_has_path(r) ? (double)critical_sum_ps(&r->last->critical, BUSY) : 0;
        if (busy <= 0 || !planes_remedy(fabric, d, (ps_t)(idle * busy), seen, r))
            result_explain(r, EXPLAIN_LOSS, seen);
    }
}

// ---- drops ----

static void explain_drop_place(struct result *r)
{
    const struct port_result *most = result_most_dropped(r);
    if (most)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("most drops: %s, %llu of %llu packets", most->at,
                                   (unsigned long long)most->dropped_packets,
                                   (unsigned long long)r->dropped_packets));
}

void explain_fabric(const struct explain_facts *facts, struct result *r)
{
    const struct fabric *fabric = facts->fabric;
    explain_tree(fabric, r);
    explain_busiest_links(r);
    explain_paths(facts, r);
    explain_planes(fabric, r);
    explain_drop_place(r);
}
