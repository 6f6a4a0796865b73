// SPDX-License-Identifier: MIT
// Parameter table of the RoCE transport and the sizes of its packets on the wire.
//
// Data: Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 (+ RETH 16) + payload padded to 4 + ICRC 4, then FCS 4,
// then 20 of preamble and inter-packet gap (IEEE 802.3; InfiniBand annex A17). ACK: AETH 4 instead.
// CNP: BTH + 16 reserved bytes. A custom overhead stands for all bytes beyond the payload, as other
// simulators count them. INT is a trailer of fixed size behind the IP packet of data and ACKs.
#include "transport/transport_spec.h"

static const char *const kinds[] = {"roce", NULL};
static const char *const ack_classes[] = {"data", "control", NULL};
static const char *const cnp_modes[] = {"auto", "np_timer", "per_ack", NULL};
static const char *const cnp_scopes[] = {"auto", "qp", "destination", "port", NULL};
static const char *const recoveries[] = {"go_back_n", "selective_repeat", "none", NULL};
static const char *const qp_modes[] = {"persistent", "per_message", NULL};
static const char *const entropies[] = {"qpn", "none", NULL};
const char *const overhead_words[] = {"ethernet", "none", NULL};

#define TR(f) offsetof(struct transport_spec, f)
const struct param transport_params[] = {
    {.name = "kind",
     .type = PARAM_ENUM,
     .offset = TR(kind),
     .def = "roce",
     .choices = kinds,
     .help = "RoCEv2 reliable connections",
     .source = "InfiniBand annex A17"},
    {.name = "mtu",
     .type = PARAM_BYTES,
     .offset = TR(mtu_bytes),
     .def = "4096B",
     .min = "64B",
     .max = "9000B",
     .help = "payload of a full packet",
     .source = "InfiniBand 9.2"},
    {.name = "ack_interval",
     .type = PARAM_COUNT,
     .offset = TR(ack_interval),
     .def = "1",
     .min = "1",
     .max = "1000000",
     .help = "packets per ACK; the last of a message and the one that fills the window always ask",
     .source = "InfiniBand 9.7.5"},
    {.name = "class",
     .type = PARAM_COUNT,
     .offset = TR(cls),
     .def = "auto",
     .max = "5",
     .can_auto = true,
     .help = "traffic class of data, as of a scale-up dimension; auto = the job's",
     .source = "IEEE 802.1Q priority"},
    {.name = "ack_class",
     .type = PARAM_ENUM,
     .offset = TR(ack_class),
     .def = "data",
     .choices = ack_classes,
     .help = "ACKs queue and pause with the data, or ride in class 6",
     .source = "RoCE deployments"},
    {.name = "cnp",
     .type = PARAM_ENUM,
     .offset = TR(cnp),
     .def = "auto",
     .choices = cnp_modes,
     .help = "CNP packets at most one per interval, or CE echoed on every ACK; auto = as the "
             "policy's preset expects, np_timer where it says nothing",
     .source = "Zhu et al., SIGCOMM 2015; HPCC simulator"},
    {.name = "cnp_interval",
     .type = PARAM_TIME,
     .offset = TR(cnp_interval_ps),
     .def = "auto",
     .min = "1ns",
     .max = "1s",
     .can_auto = true,
     .help = "window of the notification point; auto = the preset's, else 50us",
     .source = "Zhu et al., SIGCOMM 2015"},
    {.name = "cnp_scope",
     .type = PARAM_ENUM,
     .offset = TR(cnp_scope),
     .def = "auto",
     .choices = cnp_scopes,
     .help = "what shares a window: a queue pair, all of one sender's address (the CNP's "
             "destination), or all of the receiver's port; auto = the preset's, else qp",
     .source = "per queue pair in Zhu et al., SIGCOMM 2015; NICs limit CNPs per port or address"},
    {.name = "rto",
     .type = PARAM_TIME,
     .offset = TR(rto_ps),
     .def = "67108864ns",
     .min = "1us",
     .max = "100s",
     .help = "retransmission timeout; stopped while the NIC's class is paused",
     .source = "InfiniBand 9.7.6.1.3: 4.096 us * 2^14"},
    {.name = "retry_limit",
     .type = PARAM_COUNT,
     .offset = TR(retry_limit),
     .def = "7",
     .min = "0",
     .max = "1000",
     .help = "timeouts without progress before the flow fails",
     .source = "InfiniBand 9.7.6"},
    {.name = "recovery",
     .type = PARAM_ENUM,
     .offset = TR(recovery),
     .def = "go_back_n",
     .choices = recoveries,
     .help = "go_back_n: a NAK or a timeout sends all again from the first missing packet; "
             "selective_repeat: the receiver keeps what comes early, only what is lost goes again",
     .source = "InfiniBand 9.7; Mittal et al., SIGCOMM 2018 (IRN)"},
    {.name = "rto_low",
     .type = PARAM_TIME,
     .offset = TR(rto_low_ps),
     .def = "auto",
     .min = "1us",
     .max = "100s",
     .can_auto = true,
     .help = "selective_repeat: timeout with at most 3 packets in flight; auto = 2 base RTTs",
     .source = "Mittal et al., SIGCOMM 2018: 100 us on its 40G network"},
    {.name = "rto_high",
     .type = PARAM_TIME,
     .offset = TR(rto_high_ps),
     .def = "auto",
     .min = "1us",
     .max = "100s",
     .can_auto = true,
     .help = "selective_repeat: timeout with more in flight; auto = base RTT and the time in which "
             "every switch of the path drains its whole buffer",
     .source = "Mittal et al., SIGCOMM 2018: 320 us on its 40G network"},
    {.name = "reorder",
     .type = PARAM_COUNT,
     .offset = TR(reorder_packets),
     .def = "0",
     .max = "1000000",
     .help = "selective_repeat: a packet is lost once one sent more than so many later has arrived",
     .source = "for sprayed packets; RFC 8985 has the idea"},
    {.name = "bdp_cap",
     .type = PARAM_BOOL,
     .offset = TR(bdp_cap),
     .def = "true",
     .help = "selective_repeat: at most one bandwidth-delay product in flight",
     .source = "Mittal et al., SIGCOMM 2018, section 3.2"},
    {.name = "qp",
     .type = PARAM_ENUM,
     .offset = TR(qp),
     .def = "persistent",
     .choices = qp_modes,
     .help = "queue pairs outlive messages with their congestion state, or every message is fresh",
     .source = "NCCL; HPCC simulator"},
    {.name = "qps_per_pair",
     .type = PARAM_COUNT,
     .offset = TR(qps_per_pair),
     .def = "1",
     .min = "1",
     .max = "256",
     .help = "queue pairs a pair's messages take in turn",
     .source = "NCCL_IB_QPS_PER_CONNECTION"},
    {.name = "stripe",
     .type = PARAM_BOOL,
     .offset = TR(stripe),
     .def = "true",
     .help = "each message is cut in equal parts over all planes of its dimension, or over the "
             "parallel links to a neighbour, a queue pair each; it has one record",
     .source = "NVLink spreads over all NVSwitches; NCCL_IB_SPLIT_DATA_ON_QPS"},
    {.name = "entropy",
     .type = PARAM_ENUM,
     .offset = TR(entropy),
     .def = "qpn",
     .choices = entropies,
     .help = "UDP source port: a hash of both queue pair numbers, or the same for all",
     .source = "InfiniBand annex A17; NIC drivers"},
    {.name = "start_jitter",
     .type = PARAM_TIME,
     .offset = TR(start_jitter_ps),
     .def = "0ns",
     .min = "0ns",
     .max = "1s",
     .help = "each rank's starts are late by up to this, seeded",
     .source = "breaks ties of identical ranks"},
    {.name = "clock_ppm",
     .type = PARAM_RATIO,
     .offset = TR(clock_ppm),
     .def = "0",
     .min = "0",
     .max = "1000",
     .help = "each NIC's line rate is off by up to this, seeded",
     .source = "IEEE 802.3: 100 ppm"},
};
const size_t n_transport_params = sizeof transport_params / sizeof *transport_params;

const struct param overhead_params[] = {
    {.name = "data",
     .type = PARAM_BYTES,
     .offset = TR(overhead_data),
     .min = "0B",
     .max = "1000B",
     .help = "all bytes of a data packet beyond its payload",
     .source = "cross-checks"},
    {.name = "ack",
     .type = PARAM_BYTES,
     .offset = TR(overhead_ack),
     .min = "1B",
     .max = "1000B",
     .help = "all bytes of an ACK or CNP",
     .source = "cross-checks"},
};
const size_t n_overhead_params = sizeof overhead_params / sizeof *overhead_params;

struct cc_notification notification_of(const struct cc_preset *preset)
{
    struct cc_notification n = preset->notification;
    if (n.cnp == CNP_AUTO)
        n.cnp = CNP_NP_TIMER;
    if (n.scope == CNP_SCOPE_AUTO)
        n.scope = CNP_SCOPE_QP;
    if (n.interval_ps == 0)
        n.interval_ps = CC_CNP_INTERVAL_PS;
    return n;
}

void notification_fill(struct transport_spec *t, const struct cc_preset *preset)
{
    struct cc_notification n = notification_of(preset);
    if (t->cnp == CNP_AUTO)
        t->cnp = (int)n.cnp;
    if (t->cnp_scope == CNP_SCOPE_AUTO)
        t->cnp_scope = (int)n.scope;
    if (t->cnp_interval_ps == PARAM_AUTO_TIME)
        t->cnp_interval_ps = n.interval_ps;
}

enum {
    FCS = 4,
    GAP = 20,       // preamble 7, start delimiter 1, inter-packet gap 12
    MIN_FRAME = 64, // with FCS
    BASE = 14 + 20 + 8 + 12,
    ICRC = 4,
    RETH = 16,
    AETH = 4,
    CNP_BODY = 16,
};

static struct packet_sizes sizes(const struct transport_spec *t, uint32_t headers, uint32_t body)
{
    uint32_t frame = headers + (body + 3) / 4 * 4 + ICRC;
    if (t->overhead == OVERHEAD_NONE)
        return (struct packet_sizes){frame, frame};
    frame = frame + FCS < MIN_FRAME ? MIN_FRAME : frame + FCS;
    return (struct packet_sizes){frame, frame + GAP};
}

// A packet whose overhead the scenario states. It occupies the line for a byte at least: packets that take
// no time at all would have no order among themselves on links without delay.
static struct packet_sizes on_line(uint32_t bytes)
{
    uint32_t all = bytes > 0 ? bytes : 1;
    return (struct packet_sizes){all, all};
}

struct packet_sizes data_sizes(const struct transport_spec *t, uint32_t payload, bool reth)
{
    if (t->overhead == OVERHEAD_CUSTOM) {
        return on_line(payload + (uint32_t)t->overhead_data + t->int_bytes);
    }
    return sizes(t, BASE + (reth ? RETH : 0u) + t->int_bytes, payload);
}

struct packet_sizes ack_sizes(const struct transport_spec *t)
{
    if (t->overhead == OVERHEAD_CUSTOM) {
        return on_line((uint32_t)t->overhead_ack + t->int_bytes);
    }
    return sizes(t, BASE + AETH + t->int_bytes, 0);
}

struct packet_sizes cnp_sizes(const struct transport_spec *t)
{
    if (t->overhead == OVERHEAD_CUSTOM)
        return on_line((uint32_t)t->overhead_ack);
    return sizes(t, BASE, CNP_BODY);
}
