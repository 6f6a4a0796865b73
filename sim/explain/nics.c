// SPDX-License-Identifier: MIT
// Sentences about NICs that are not ideal.
#include <stdio.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "transport/nic/adapter.h"

#define BUSY 0.85       // use of a NIC from which it bounds the run
#define MISSED_MIN 0.05 // share of the time from which missing contexts are named

// Returns the NIC with the busiest pipeline. If that NIC paused links or dropped packets,
// *direction is ADAPTER_RECEIVES, since other ranks wait for it.
static const struct nic_result *busiest(const struct result *r, unsigned *direction)
{
    const struct nic_result *best = NULL;
    for (size_t i = 0; i < r->n_nics; i++)
        for (unsigned d = 0; d < ADAPTER_DIRECTIONS; d++)
            if (!best || r->nics[i].busy_share[d] > best->busy_share[*direction]) {
                best = &r->nics[i];
                *direction = d;
            }
    if (best && best->pauses + best->dropped_packets > 0)
        *direction = ADAPTER_RECEIVES;
    return best;
}

static uint64_t port_rates(const struct fabric *fabric, const struct adapter *a)
{
    uint64_t bps = 0;
    for (uint32_t p = a->first_port; p < a->first_port + a->n_ports; p++)
        bps += fabric->graph.ports[p].rate_bps;
    return bps;
}

// Write what limits a NIC, as in "its bus carries 50 Gb/s of payload, its links 100 Gb/s", or
// another limit.
static void limit_text(const struct fabric *fabric, const struct nic_result *nic,
                       unsigned direction, const struct adapter *a, FILE *out)
{
    const struct nic_spec *spec = a->spec;
    uint32_t mtu = hosts_dim(&fabric->hosts, a->dim, 0)->mtu_bytes;
    double share = (double)mtu / (double)nic_bus_bytes(spec, mtu);
    char rate[UNIT_TEXT], links[UNIT_TEXT];
    if (nic->missed_share[direction] >= MISSED_MIN)
        fprintf(out,
                "contexts of queue pairs were missing for %llu of %llu packets, which took %.0f "
                "%% of the time (nic.qp_cache %llu)",
                (unsigned long long)nic->qp_misses[direction],
                (unsigned long long)nic->qp_lookups[direction], 100 * nic->missed_share[direction],
                (unsigned long long)spec->qp_cache);
    else if (nic_packet_ps(spec, mtu) > nic_packet_ps(spec, 0))
        fprintf(out, "its bus carries %s of payload%s, its links %s",
                human_rate(share * (double)spec->bus_rate_bps, rate),
                spec->bus_duplex == BUS_HALF_DUPLEX ? " in both directions together" : "",
                human_rate((double)port_rates(fabric, a), links));
    else
        fprintf(out, "it handles %llu packets a second (nic.message_rate)",
                (unsigned long long)spec->message_rate);
}

#define HOST_MIN 0.05 // share of the run from which NICs that are not busy are named
#define MAY_BIND 0.2  // use of a NIC from which it may delay others, whose policy then cuts
#define BESIDE 0.5    // of its use: about what such a NIC costs

// Doorbells, pipelines and completions on the path, where no NIC is busy.
static void explain_host(struct result *r)
{
    char host[UNIT_TEXT];
    if (!result_has_path(r))
        return;
    ps_t cost = r->last->critical.parts[PATH_HOST], saving = result_wait_saving_ps(r, cost);
    if (result_share_of(r, saving) < HOST_MIN)
        return;
    struct reason_result *reason =
        result_cause(r, REASON_NIC, saving,
                     text_format("NICs took %s of the path (doorbells, pipelines, completions)",
                                 human_time(cost, host)),
                     "with ideal NICs");
    reason_set(reason, "nic=ideal");
}

static void explain_busiest(const struct fabric *fabric, struct result *r)
{
    unsigned direction = 0;
    const struct nic_result *nic = busiest(r, &direction);
    double use = nic ? nic->busy_share[direction] : 0;
    bool host = result_has_path(r) && result_share(r, PATH_HOST) >= HOST_MIN;
    if (use < MAY_BIND || (use < BUSY && host)) {
        explain_host(r);
        return;
    }
    const struct port_result *link = result_busiest_link(r);
    bool most = use >= BUSY && (!link || use >= result_use(r, link));
    struct text text;
    FILE *out = text_open(&text);
    fprintf(out, "%sthe NIC of %s was busy %.0f %% of the time with packets %s: ",
            most ? "bottleneck: " : "", nic->at, 100 * use,
            direction == ADAPTER_SENDS ? "to send" : "that had arrived");
    limit_text(fabric, nic, direction, &fabric->hosts.adapters->list[nic - r->nics], out);
    char *seen = text_close(out, &text);
    if (!result_has_path(r)) {
        result_explain(r, EXPLAIN_LOSS, seen);
        return;
    }
    ps_t least = link ? result_busy_ps(r, link) : 0,
         saving = result_saving_ps(r, r->last->critical.total_ps, least);
    struct reason_result *reason =
        result_cause(r, REASON_NIC, most ? saving : (ps_t)(BESIDE * use * (double)saving), seen,
                     "with ideal NICs");
    reason->at = text_format("%s", nic->at);
    reason_set(reason, "nic=ideal");
}

// Returns the NIC that has held most bytes. *n is the number of NICs that have paused links,
// *pauses the number of their pauses.
static const struct adapter *fullest(const struct fabric *fabric, size_t *n, uint64_t *pauses)
{
    const struct adapters *all = fabric->hosts.adapters;
    const struct adapter *most = NULL;
    *n = 0;
    *pauses = 0;
    for (uint32_t i = 0; all && i < all->n; i++) {
        *n += all->list[i].counters.pauses > 0;
        *pauses += all->list[i].counters.pauses;
        if (!most || all->list[i].counters.max_held_bytes > most->counters.max_held_bytes)
            most = &all->list[i];
    }
    return most;
}

static void explain_buffers(const struct fabric *fabric, struct result *r)
{
    size_t n;
    uint64_t pauses;
    const struct adapter *most = fullest(fabric, &n, &pauses);
    char held[UNIT_TEXT], buffer[UNIT_TEXT], name[GRAPH_NAME];
    if (n > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%zu NIC%s paused %s links %llu times: packets arrived "
                                   "faster than %s took them; receivers that grant credits at "
                                   "that rate, or slots (transport.admission), avoid it",
                                   n, n > 1 ? "s" : "", n > 1 ? "their" : "its",
                                   (unsigned long long)pauses, n > 1 ? "they" : "it"));
    else if (most && most->counters.max_held_bytes > 0 && !most->credits)
        result_explain(
            r, EXPLAIN_DETAIL,
            text_format("no NIC has paused its links: the buffer of %s held up to %s of %s",
                        graph_node_name(&fabric->graph, most->node, name),
                        human_bytes(most->counters.max_held_bytes, held),
                        human_bytes(most->spec->buffer_bytes, buffer)));
}

void explain_nics(const struct fabric *fabric, struct result *r)
{
    explain_busiest(fabric, r);
    explain_buffers(fabric, r);
}
