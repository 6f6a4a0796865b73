// SPDX-License-Identifier: MIT
// The metrics of switches and links.
#include "report/metric_parts.h"
#include "sim/result/result.h"

static bool has_deadlock(const void *record)
{
    const struct result *r = record;
    return r->n_deadlock > 0;
}

static const struct metric pfc_port_rows[] = {
    {"at", METRIC_WORDS, "port that was paused", TEXT(pfc_port_result, at)},
    {"class", METRIC_WORDS, "traffic class", INTEGER(pfc_port_result, cls)},
    {"pauses", METRIC_COUNT, "times it was paused; refreshes are not counted",
     INTEGER(pfc_port_result, pauses)},
    {"paused_ns", METRIC_NS, "time paused", TIME(pfc_port_result, paused_ps)},
};
static METRIC_TABLE(pfc_port_table, pfc_port_rows);

static const struct metric pfc_rows[] = {
    {"pause_frames", METRIC_COUNT, "PFC frames with XOFF sent, refreshes included",
     INTEGER(result, pause_frames)},
    {"resume_frames", METRIC_COUNT, "PFC frames with XON sent", INTEGER(result, resume_frames)},
    {"lost_frames", METRIC_COUNT, "PFC frames lost on links (`faults`)",
     INTEGER(result, lost_pfc_frames)},
    {"paused_ns", METRIC_NS, "time paused, sum over ports and classes", TIME(result, paused_ps)},
    {"ports", METRIC_WORDS, "ports that were paused, by class",
     LIST(result, pfc_ports, n_pfc_ports, pfc_port_table)},
    {"watchdog_fired", METRIC_COUNT, "times the PFC watchdog acted",
     INTEGER(result, watchdog_fired)},
    {"deadlock", METRIC_WORDS, "ports that wait for each other in a cycle, in order; null = none",
     TEXTS(result, deadlock, n_deadlock), .known = has_deadlock},
};
METRIC_TABLE(pfc_table, pfc_rows);

static const struct metric credit_port_rows[] = {
    {"at", METRIC_WORDS, "port that waited for credit", TEXT(pfc_port_result, at)},
    {"class", METRIC_WORDS, "traffic class", INTEGER(pfc_port_result, cls)},
    {"waits", METRIC_COUNT, "times it had no credit for a full packet",
     INTEGER(pfc_port_result, pauses)},
    {"waited_ns", METRIC_NS, "time without", TIME(pfc_port_result, paused_ps)},
};
static METRIC_TABLE(credit_port_table, credit_port_rows);

static const struct metric credits_rows[] = {
    {"waits", METRIC_COUNT, "times that a port had no credit for a full packet",
     INTEGER(result, credit_waits)},
    {"waited_ns", METRIC_NS, "time without, sum over ports and classes",
     TIME(result, credit_waited_ps)},
    {"ports", METRIC_WORDS, "ports that had none, by class",
     LIST(result, credit_ports, n_credit_ports, credit_port_table)},
};
METRIC_TABLE(credits_table, credits_rows);

static double marked_share(const void *record)
{
    const struct result *r = record;
    return r->markable_packets ? (double)r->marked_packets / (double)r->markable_packets : 0.;
}

static const struct metric ecn_rows[] = {
    {"marked_packets", METRIC_COUNT, "packets marked by switches", INTEGER(result, marked_packets)},
    {"marked_share", METRIC_RATIO,
     "marked_packets / ECN-capable packets that left switch ports (with ecn.at arrival: that "
     "were admitted to them)",
     .type = METRIC_REAL, .real = marked_share},
};
METRIC_TABLE(ecn_table, ecn_rows);

#define COUNTER(key, help, field)                                                                  \
    {                                                                                              \
        key, METRIC_COUNT, help, INTEGER(transport_counters, field)                                \
    }
static const struct metric tcp_rows[] = {
    COUNTER("connections", "opened", connections),
    COUNTER("retransmitted_segments", "segments with payload sent again", retransmitted),
    COUNTER("fast_retransmits", "times a sender entered fast recovery", fast_retransmits),
    COUNTER("timeouts", "retransmission timeouts, of SYNs and FINs too", timeouts),
    COUNTER("tail_loss_probes", "RACK-TLP's probes", loss_probes),
    COUNTER("window_probes", "probes of closed receive windows", window_probes),
    COUNTER("duplicate_acks", "ACKs that repeat the last one, as packet analysers count them",
            duplicate_acks),
    COUNTER("spurious_retransmits", "segments that receivers report as duplicates (D-SACK)",
            spurious),
    COUNTER("resets", "connections given up after the last retry", resets),
};
METRIC_TABLE(tcp_table, tcp_rows);

static const struct metric uec_rows[] = {
    COUNTER("retransmitted_packets", "packets with payload sent again", retransmitted),
    COUNTER("nacks", "reports of trimmed packets that reached senders", nacks),
    COUNTER("timeouts", "times that a sender found packets without report", timeouts),
    COUNTER("spurious_retransmits", "packets that had arrived before", spurious),
    COUNTER("grants", "packets by which receivers granted credits", grants),
    COUNTER("requests", "packets without payload that asked for credits", requests),
    COUNTER("ack_requests", "the same for an ACK, where the window was below what was in flight",
            ack_requests),
    COUNTER("probes", "packets without payload on paths that had lost packets (spray mrc)", probes),
};
#undef COUNTER
METRIC_TABLE(uec_table, uec_rows);

static const struct metric admission_rows[] = {
    {"pieces", METRIC_COUNT, "pieces of messages that were posted",
     INTEGER(admission_result, pieces)},
    {"held_pieces", METRIC_COUNT,
     "of these, posted later than their message: they waited for a slot",
     INTEGER(admission_result, held)},
    {"waited_ns", METRIC_NS, "time that they waited, sum over the held pieces",
     TIME(admission_result, waited_ps)},
    {"grants", METRIC_COUNT, "grants sent, without those that are given at the start",
     INTEGER(admission_result, grants)},
};
METRIC_TABLE(admission_table, admission_rows);

static const struct metric not_quiet_rows[] = {
    {"reason", METRIC_WORDS,
     "meets (another message uses a port of its path), paths, transport, rate, slower_link, host, "
     "changes, credits, checked or watched (docs/hybrid.md)",
     TEXT(not_quiet_share, reason)},
    {"share", METRIC_RATIO, "of the payload bytes", REAL(not_quiet_share, share)},
};
static METRIC_TABLE(not_quiet_table, not_quiet_rows);
static const struct metric hybrid_error_rows[] = {
    {"kind", METRIC_WORDS, "of work; all = of any", TEXT(hybrid_error, kind)},
    {"cases", METRIC_COUNT, "drawn scenarios", INTEGER(hybrid_error, cases)},
    {"p50", METRIC_RATIO, "half of the times are closer", REAL(hybrid_error, p50)},
    {"p90", METRIC_RATIO, "nine of ten are closer", REAL(hybrid_error, p90)},
    {"max", METRIC_RATIO, "the largest distance", REAL(hybrid_error, most)},
    {"outside", METRIC_WORDS,
     "kind or ranks: the scenario is of another kind, or has more ranks, than the drawn ones; null "
     "= neither",
     TEXT(hybrid_error, outside)},
};
static METRIC_TABLE(hybrid_error_table, hybrid_error_rows);
static const struct metric hybrid_rows[] = {
    {"quiet_share", METRIC_RATIO, "of the payload bytes: sent in closed form",
     REAL(hybrid_result, quiet_share)},
    {"not_quiet", METRIC_WORDS, "why the others were packets",
     LIST(hybrid_result, reasons, n_reasons, not_quiet_table)},
    {"error", METRIC_WORDS,
     "distance of jobs' times from those of packets in drawn scenarios (docs/hybrid.md)",
     OBJECT(hybrid_result, error, hybrid_error_table)},
};
METRIC_TABLE(hybrid_table, hybrid_rows);

#define ROW(constant, key, help, sentence)                                                         \
    {key, METRIC_COUNT, help, INTEGER(result, drops[DROP_##constant])},
static const struct metric reason_rows[] = {DROP_LIST(ROW)};
#undef ROW
static METRIC_TABLE(reason_table, reason_rows);

static bool has_dropped(const void *item)
{
    const struct port_result *p = item;
    return p->dropped_packets > 0;
}

static bool is_of_switch(const void *item)
{
    const struct port_result *p = item;
    return p->from_switch;
}

static const struct metric place_rows[] = {
    {"at", METRIC_WORDS, "output port, and the link that it feeds", TEXT(port_result, at)},
    {"packets", METRIC_COUNT, "packets dropped there", INTEGER(port_result, dropped_packets)},
    {"bytes", METRIC_BYTES, "frame bytes dropped there", INTEGER(port_result, dropped_bytes)},
};
static METRIC_TABLE(place_table, place_rows);

static const struct metric drops_rows[] = {
    {"packets", METRIC_COUNT, "packets dropped", INTEGER(result, dropped_packets)},
    {"bytes", METRIC_BYTES, "frame bytes dropped", INTEGER(result, dropped_bytes)},
    {"by_reason", METRIC_COUNT, "packets by reason", PART_OF(result, reason_table)},
    {"by_place", METRIC_WORDS, "where packets were dropped",
     LIST(result, ports, n_ports, place_table), .wanted = has_dropped},
};
METRIC_TABLE(drops_table, drops_rows);

static bool has_trimmed(const void *item)
{
    const struct port_result *p = item;
    return p->trimmed_packets > 0;
}

static const struct metric trim_place_rows[] = {
    {"at", METRIC_WORDS, "output port of a switch", TEXT(port_result, at)},
    {"packets", METRIC_COUNT, "packets trimmed there", INTEGER(port_result, trimmed_packets)},
    {"bytes", METRIC_BYTES, "frame bytes removed there", INTEGER(port_result, trimmed_bytes)},
};
static METRIC_TABLE(trim_place_table, trim_place_rows);

static const struct metric trims_rows[] = {
    {"packets", METRIC_COUNT, "packets that lost their payload in a switch (`switch.trimming`)",
     INTEGER(result, trimmed_packets)},
    {"bytes", METRIC_BYTES, "frame bytes removed from them", INTEGER(result, trimmed_bytes)},
    {"last_hop_packets", METRIC_COUNT, "those trimmed at the port of their destination",
     INTEGER(result, trimmed_last_hop)},
    {"by_place", METRIC_WORDS, "where packets were trimmed",
     LIST(result, ports, n_ports, trim_place_table), .wanted = has_trimmed},
};
METRIC_TABLE(trims_table, trims_rows);

static bool has_retried(const void *item)
{
    const struct port_result *p = item;
    return p->retries > 0;
}

static const struct metric retry_link_rows[] = {
    {"at", METRIC_WORDS, "one direction of a link", TEXT(port_result, at)},
    {"packets", METRIC_COUNT, "packets that it sent again", INTEGER(port_result, retried_packets)},
    {"retries", METRIC_COUNT, "times that it sent a packet again", INTEGER(port_result, retries)},
    {"waited_ns", METRIC_NS, "time that it took", TIME(port_result, retry_ps)},
};
static METRIC_TABLE(retry_link_table, retry_link_rows);

static const struct metric retry_rows[] = {
    {"packets", METRIC_COUNT, "packets that links sent again", INTEGER(result, retried_packets)},
    {"retries", METRIC_COUNT, "times that links sent a packet again", INTEGER(result, retries)},
    {"waited_ns", METRIC_NS, "time that it took, sum over links", TIME(result, retry_ps)},
    {"links", METRIC_WORDS, "links that sent packets again",
     LIST(result, ports, n_ports, retry_link_table), .wanted = has_retried},
};
METRIC_TABLE(retry_table, retry_rows);

static const struct metric recovery_rows[] = {
    {"naks", METRIC_COUNT, "NAKs sent by receivers", INTEGER(result, naks)},
    {"timeouts", METRIC_COUNT, "retransmission timeouts", INTEGER(result, timeouts)},
    {"retransmitted_packets", METRIC_COUNT, "data packets sent again",
     INTEGER(result, retransmitted)},
};
METRIC_TABLE(recovery_table, recovery_rows);

static const struct metric change_rows[] = {
    {"t_ns", METRIC_NS, "simulated time", TIME(link_change, at_ps)},
    {"at", METRIC_WORDS, "link, or `routes` of the whole network", TEXT(link_change, at)},
    {"what", METRIC_WORDS, "what happened", TEXT(link_change, what)},
};
METRIC_TABLE(change_table, change_rows);

static const struct metric switch_rows[] = {
    {"at", METRIC_WORDS, "switch, or router of a rank", TEXT(switch_result, at)},
    {"max_bytes", METRIC_BYTES, "longest queue of its output ports",
     INTEGER(switch_result, max_queue_bytes)},
    {"mean_bytes", METRIC_BYTES, "mean over time of all its queues together",
     ROUNDED(switch_result, mean_queue_bytes)},
    {"shared_bytes", METRIC_BYTES, "shared part of its buffer",
     INTEGER(switch_result, shared_bytes)},
    {"max_shared_used_bytes", METRIC_BYTES, "most of the shared part that was used at once",
     INTEGER(switch_result, max_buffer_bytes)},
    {"max_ingress_bytes", METRIC_BYTES,
     "most that one ingress port held of one class (of lossless classes where there are any)",
     INTEGER(switch_result, max_ingress_bytes)},
    {"max_headroom_bytes", METRIC_BYTES, "most headroom that one ingress port used",
     INTEGER(switch_result, max_headroom_bytes)},
    {"headroom_limit_bytes", METRIC_BYTES, "headroom of the ingress port that has most",
     INTEGER(switch_result, headroom_limit_bytes)},
};
static METRIC_TABLE(switch_table, switch_rows);

static const struct metric queue_port_rows[] = {
    {"at", METRIC_WORDS, "output port", TEXT(port_result, at)},
    {"max_bytes", METRIC_BYTES, "longest queue", INTEGER(port_result, max_queue_bytes)},
    {"mean_bytes", METRIC_BYTES, "mean queue over time", ROUNDED(port_result, mean_queue_bytes)},
    {"marked_packets", METRIC_COUNT, "packets marked there", INTEGER(port_result, counters.marked)},
};
static METRIC_TABLE(queue_port_table, queue_port_rows);

static const struct metric queues_rows[] = {
    {"max_bytes", METRIC_BYTES,
     "longest queue of any switch output port: frame bytes held from enqueue until transmission "
     "starts",
     INTEGER(result, max_queue_bytes)},
    {"switches", METRIC_WORDS, "by switch", LIST(result, switches, n_switches, switch_table)},
    {"ports", METRIC_WORDS, "by output port of a switch",
     LIST(result, ports, n_ports, queue_port_table), .wanted = is_of_switch},
};
METRIC_TABLE(queues_table, queues_rows);

static const struct metric nic_rows[] = {
    {"at", METRIC_WORDS, "its rank", TEXT(nic_result, at)},
    {"dim", METRIC_WORDS, "dimension of its links", INTEGER(nic_result, dim)},
    {"send_share", METRIC_RATIO, "share of the time for which it was fetching packets to send",
     REAL(nic_result, busy_share[0])},
    {"receive_share", METRIC_RATIO,
     "share of the time for which it was handling packets that had arrived",
     REAL(nic_result, busy_share[1])},
    {"bus_read_share", METRIC_RATIO, "share of the time for which its bus read payload",
     REAL(nic_result, bus_share[0])},
    {"bus_write_share", METRIC_RATIO, "share of the time for which its bus wrote payload",
     REAL(nic_result, bus_share[1])},
    {"send_lookups", METRIC_COUNT,
     "packets to send for which it looked up a context of a queue pair",
     INTEGER(nic_result, qp_lookups[0])},
    {"send_misses", METRIC_COUNT, "those whose context was not in its cache",
     INTEGER(nic_result, qp_misses[0])},
    {"receive_lookups", METRIC_COUNT, "the same of packets that had arrived",
     INTEGER(nic_result, qp_lookups[1])},
    {"receive_misses", METRIC_COUNT, "those whose context was not in its cache",
     INTEGER(nic_result, qp_misses[1])},
    {"max_held_bytes", METRIC_BYTES, "most of its buffer that packets of data classes held",
     INTEGER(nic_result, max_held_bytes)},
    {"pauses", METRIC_COUNT, "times it paused a class of a link, without refreshes",
     INTEGER(nic_result, pauses)},
    {"dropped_packets", METRIC_COUNT, "packets dropped since its buffer was full",
     INTEGER(nic_result, dropped_packets)},
};
METRIC_TABLE(nic_table, nic_rows);

static const struct metric aggregator_rows[] = {
    {"at", METRIC_WORDS, "aggregator of a switch (switch.reduction)", TEXT(aggregator_result, at)},
    {"buffer_bytes", METRIC_BYTES, "its buffer", INTEGER(aggregator_result, buffer_bytes)},
    {"max_bytes", METRIC_BYTES, "most of it that segments held at once, two places each",
     INTEGER(aggregator_result, max_bytes)},
    {"reduced_bytes", METRIC_BYTES,
     "received from ranks and other aggregators to be added or copied",
     INTEGER(aggregator_result, reduced_bytes)},
};
METRIC_TABLE(aggregator_table, aggregator_rows);

static const struct metric link_rows[] = {
    {"at", METRIC_WORDS, "one direction of a link", TEXT(port_result, at)},
    {"bytes", METRIC_BYTES, "frame bytes sent", INTEGER(port_result, bytes)},
    {"packets", METRIC_COUNT, "packets sent", INTEGER(port_result, packets)},
    {"utilization", METRIC_RATIO, "share of the simulated time spent sending",
     REAL(port_result, utilization)},
};
METRIC_TABLE(link_table, link_rows);
