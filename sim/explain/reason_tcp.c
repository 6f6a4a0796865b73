// SPDX-License-Identifier: MIT
// Sentences about TCP connections: what was sent again and why, the message that waited longest for
// timeouts, and the connections that were given up.
#include <stdlib.h>
#include <string.h>

#include "sim/explain/explain_internal.h"

#define RESETS_MAX 3

static void explain_retransmissions(const struct transport_counters *t, struct result *r)
{
    if (t->retransmitted == 0)
        return;
    struct text causes;
    FILE *out = text_open(&causes);
    const struct {
        uint64_t n;
        const char *noun;
    } all[] = {{t->fast_retransmits, "fast recoveries"},
               {t->loss_probes, "tail loss probes"},
               {t->timeouts, "retransmission timeouts"}};
    const char *separator = "";
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].n > 0) {
            fprintf(out, "%s%llu %s", separator, (unsigned long long)all[i].n, all[i].noun);
            separator = ", ";
        }
    char *text = text_close(out, &causes);
    result_explain(r, EXPLAIN_LOSS,
                   text_format("TCP sent %llu segments again: %s",
                               (unsigned long long)t->retransmitted, text));
    free(text);
    if (t->spurious > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu of these segments had arrived before (D-SACK): they "
                                   "were reordered, or a timer was shorter than the queues",
                                   (unsigned long long)t->spurious));
}

// The slowest message, if it waited for timeouts.
static void explain_slowest(const struct fabric *fabric, struct result *r)
{
    const struct flow_record *slowest = NULL;
    char time[UNIT_TEXT], ideal[UNIT_TEXT], from[GRAPH_NAME], to[GRAPH_NAME];
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        if (f->status == MESSAGE_DONE && (!slowest || f->fct_ps > slowest->fct_ps))
            slowest = f;
    }
    if (!slowest || slowest->timeouts == 0 ||
        !fabric_is_tcp(fabric->hosts.senders[fabric->flow_order[slowest->qp]]->dim))
        return;
    result_explain(r, EXPLAIN_LOSS,
                   text_format("the slowest message, %s -> %s, took %s, %s alone, and waited "
                               "for %u retransmission timeouts",
                               graph_node_name(&fabric->graph, slowest->src, from),
                               graph_node_name(&fabric->graph, slowest->dst, to),
                               human_time(slowest->fct_ps, time),
                               human_time(slowest->ideal_ps, ideal), slowest->timeouts));
}

static void explain_resets(const struct fabric *fabric, struct result *r)
{
    uint64_t n = 0;
    char from[GRAPH_NAME], to[GRAPH_NAME];
    for (uint32_t i = 0; i < fabric->hosts.flows.n && n < RESETS_MAX; i++) {
        uint32_t flow = fabric->flow_order[i]; // the order of numbers depends on threads
        const struct sender *s = fabric->hosts.senders[flow];
        const struct flow_id *id = &fabric->hosts.flows.ids[flow];
        if (!s->failed || !fabric_is_tcp(s->dim))
            continue;
        n++;
        result_explain(r, EXPLAIN_LOSS,
                       text_format("connection %s -> %s was reset after %u timeouts in a row "
                                   "without an ACK",
                                   graph_node_name(&fabric->graph, id->src, from),
                                   graph_node_name(&fabric->graph, id->dst, to), s->retries));
    }
}

// A connection that opens in the run costs a round trip before its first byte.
static void explain_handshake(const struct fabric *fabric, struct result *r)
{
    uint32_t n = 0;
    ps_t rtt_ps = 0;
    char rtt[UNIT_TEXT];
    for (uint32_t i = 0; i < fabric->hosts.flows.n; i++) {
        uint32_t flow = fabric->flow_order[i];
        const struct sender *s = fabric->hosts.senders[flow];
        if (!fabric_is_tcp(s->dim) || fabric->hosts.flows.ids[flow].established)
            continue;
        n++;
        rtt_ps = sender_env(s)->base_rtt_ps > rtt_ps ? sender_env(s)->base_rtt_ps : rtt_ps;
    }
    ps_t waits = result_has_path(r) ? r->last->critical.parts[PATH_WINDOW] : 0;
    if (n == 0 || waits == 0 || result_share_of(r, rtt_ps < waits ? rtt_ps : waits) < SAVING_MIN)
        return;
    struct reason_result *reason = result_cause(
        r, REASON_HANDSHAKE, rtt_ps < waits ? rtt_ps : waits,
        text_format("%u connections were opened in the run, each by a handshake of a round trip of "
                    "up to %s",
                    n, human_time(rtt_ps, rtt)),
        "with connections that are open before");
    reason_set(reason, "transport.connections=established");
}

void explain_tcp(const struct fabric *fabric, struct result *r)
{
    if (r->n_tcp == 0)
        return;
    explain_retransmissions(r->tcp, r);
    explain_slowest(fabric, r);
    explain_resets(fabric, r);
    explain_handshake(fabric, r);
    if (r->tcp->window_probes > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("receivers closed their windows: senders probed them %llu "
                                   "times",
                                   (unsigned long long)r->tcp->window_probes));
}
