// SPDX-License-Identifier: MIT
// Sentences about what switches did to packets beyond forwarding them.
#include "engine/base/text.h"
#include "sim/explain/explain_internal.h"

static bool any_trimming(const struct fabric *fabric)
{
    bool any = false;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        any |= fabric->spec->dims[d].sw.trimming.enabled;
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

static void explain_trims(const struct fabric *fabric, struct result *r)
{
    char bytes[UNIT_TEXT], queue[UNIT_TEXT];
    if (!any_trimming(fabric))
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

// Meters are the user's own limits: without them the same packets may go on.
static void explain_meters(struct result *r)
{
    const struct port_result *most = NULL;
    uint64_t beyond = 0;
    for (size_t i = 0; i < r->n_ports; i++) {
        uint64_t here = r->ports[i].counters.metered;
        beyond += here;
        if (here > 0 && (!most || here > most->counters.metered))
            most = &r->ports[i];
    }
    if (!most)
        return;
    char *seen = text_format("meters found %llu packets beyond their rate, most at %s: %llu",
                             (unsigned long long)beyond, most->at,
                             (unsigned long long)most->counters.metered);
    if (!result_has_path(r)) {
        result_explain(r, EXPLAIN_LOSS, seen);
        return;
    }
    ps_t saving = result_wait_saving_ps(
        r, critical_sum_ps(&r->last->critical, CAUSES_OF_LOSS | CAUSE(WINDOW) | CAUSE(PACE)));
    struct reason_result *reason =
        result_cause(r, REASON_METER, saving, seen, "without the meters");
    reason->at = text_format("%s", most->at);
    reason_set(reason, "meters=null");
}

static bool any_credits(const struct fabric *fabric)
{
    bool any = false;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        any |= fabric_uses_credits(fabric, d);
    return any;
}

static void explain_credits(const struct fabric *fabric, struct result *r)
{
    char time[UNIT_TEXT], longest[UNIT_TEXT];
    const struct pfc_port_result *most = NULL;
    if (!any_credits(fabric))
        return;
    for (size_t i = 0; i < r->n_credit_ports; i++)
        if (!most || r->credit_ports[i].paused_ps > most->paused_ps)
            most = &r->credit_ports[i];
    if (!most) {
        result_explain(r, EXPLAIN_REASON,
                       text_format("no port has waited for credit: the buffers behind the links "
                                   "were never full"));
        return;
    }
    double share = result_share(r, PATH_CREDIT);
    result_explain(
        r, share > EXPLAIN_LOSS ? share : EXPLAIN_LOSS,
        text_format(
            "%zu ports had no credit for a packet, %llu times and %s together; most at %s: %s",
            r->n_credit_ports, (unsigned long long)r->credit_waits,
            human_time(r->credit_waited_ps, time), most->at, human_time(most->paused_ps, longest)));
}

static void explain_switch_latency(const struct fabric *fabric, uint32_t dim, struct result *r)
{
    char each[UNIT_TEXT], sum[UNIT_TEXT], rtt[UNIT_TEXT];
    ps_t latency_ps = fabric->spec->dims[dim].sw.latency_ps;
    if (latency_ps == 0 || fabric->graph.dim_direct[dim])
        return;
    struct longest_path longest = fabric_longest_path(fabric, dim, 0);
    if (longest.hops < 2)
        return;
    result_explain(
        r, EXPLAIN_DETAIL,
        text_format("switches take %s for a packet, %s of the longest base round trip of %s",
                    human_time(latency_ps, each),
                    human_time(2 * (ps_t)(longest.hops - 1) * latency_ps, sum),
                    human_time(longest.base_rtt_ps, rtt)));
}

static void explain_forwarding(const struct fabric *fabric, uint32_t dim, struct result *r)
{
    unsigned long long early = 0, all = 0;
    if (fabric->spec->dims[dim].sw.forwarding != FORWARDING_CUT || fabric->graph.dim_direct[dim])
        return;
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++) {
        if (fabric->graph.ports[p].dim != dim || fabric_peer_node(fabric, p) < fabric->graph.n_ends)
            continue;
        all++;
        early += fabric_header_bytes(fabric, p) > 0;
    }
    result_explain(
        r, EXPLAIN_DETAIL,
        text_format("cut-through: switches forward packets of %llu of their %llu incoming links "
                    "before they have arrived wholly; the others are slower than another port "
                    "of the switch",
                    early, all));
}

void explain_switches(const struct fabric *fabric, struct result *r)
{
    explain_trims(fabric, r);
    explain_credits(fabric, r);
    explain_meters(r);
    for (uint32_t d = 0; d < fabric->graph.n_dims; d++) {
        explain_switch_latency(fabric, d, r);
        explain_forwarding(fabric, d, r);
    }
}
