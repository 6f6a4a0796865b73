// SPDX-License-Identifier: MIT
// The entry of TCP in the catalogue of transports: its settings and functions.
#include "transport/tcp/tcp.h"

#include "transport/tcp/frame.h"

static const char *const connection_modes[] = {"auto", "pooled", "established", "per_message",
                                               NULL};
static const char *const ecn_modes[] = {"auto", "on", "off", NULL};
static const char *const off[] = {"off", "0B", NULL};

#define TC(f) offsetof(struct tcp_spec, f)
static const struct param params[] = {
    PARAM_ROW("mss", BYTES, TC(mss_bytes), .def = "1448B", .min = "64B", .max = "8960B",
              .help = "payload of a full segment: the MTU without 40 bytes of headers and the "
                      "options",
              .source = "RFC 6691"),
    PARAM_ROW("rto_min", TIME, TC(rto_min_ps), .def = "200ms", .min = "1us", .max = "100s",
              .help = "smallest variation in RTO = SRTT + max(4 deviations, rto_min)",
              .source = "Linux; RFC 6298 has 1 s; 1ms: Vasudevan et al., SIGCOMM 2009"),
    PARAM_ROW("rto_initial", TIME, TC(rto_initial_ps), .def = "1s", .min = "1us", .max = "100s",
              .help = "timeout of the first SYN", .source = "RFC 6298, section 2"),
    PARAM_ROW("retries", COUNT, TC(retries), .def = "15", .min = "0", .max = "1000",
              .help = "timeouts without progress before the connection is reset and the flow "
                      "fails",
              .source = "RFC 9293, section 3.8.3; Linux tcp_retries2"),
    PARAM_ROW("syn_retries", COUNT, TC(syn_retries), .def = "6", .min = "0", .max = "1000",
              .help = "repetitions of a SYN before the flow fails",
              .source = "Linux tcp_syn_retries"),
    PARAM_ROW("initial_window", COUNT, TC(initial_window), .def = "10", .min = "1", .max = "10000",
              .help = "segments that a new connection may send before the first ACK",
              .source = "RFC 6928"),
    PARAM_ROW("sack", BOOL, TC(sack), .def = "true",
              .help = "selective ACKs, with loss detection by RACK; false: duplicate ACKs alone",
              .source = "RFC 2018, 2883, 8985; without: RFC 6582"),
    PARAM_ROW("timestamps", BOOL, TC(timestamps), .def = "true",
              .help = "12 bytes of options in every packet", .source = "RFC 7323"),
    PARAM_ROW("tail_loss_probe", BOOL, TC(tail_loss_probe), .def = "true",
              .help = "send a segment two RTTs after the last ACK, before the timeout",
              .source = "RFC 8985, section 7"),
    PARAM_ROW("probe_slack", TIME, TC(probe_slack_ps), .def = "2ms", .min = "0ns", .max = "1s",
              .help = "added to two RTTs for a tail loss probe, and to a reordering timeout",
              .source = "Linux (TCP_TIMEOUT_MIN_US); RFC 8985 adds nothing"),
    PARAM_ROW(
        "receive_window", BYTES, TC(window_bytes), .def = "auto", .min = "64B",
        .max = "1073725440B", .can_auto = true,
        .help =
            "receive buffer, whole segments, at least one; auto = two bandwidth-delay products, "
            "at least 6 MiB",
        .source = "RFC 7323; Linux tcp_rmem"),
    PARAM_ROW(
        "send_buffer", BYTES, TC(send_buffer_bytes), .def = "auto", .min = "64B",
        .max = "1073725440B", .can_auto = true,
        .help = "payload that is written and not acknowledged, at least a segment: sends of "
                "programs end when their last byte is in it; auto = twice the window, as it grows",
        .source = "Linux tcp_wmem, tcp_sndbuf_expand()"),
    PARAM_ROW("slow_start_after_idle", BOOL, TC(slow_start_after_idle), .def = "true",
              .help = "halve the window for each RTO without sending, down to the initial window",
              .source = "RFC 5681, section 4.1; RFC 2861; Linux"),
    PARAM_ROW("pacing", BOOL, TC(pacing), .def = "false",
              .help = "send at 2 (slow start) or 1.2 windows per smoothed RTT",
              .source = "Linux tcp_pacing_ss_ratio, tcp_pacing_ca_ratio"),
    PARAM_ROW(
        "segmentation_offload", BYTES, TC(offload_bytes), .def = "0B", .choices = off,
        .max = "512KB",
        .help =
            "send bursts of up to this size, of what the pacing rate sends in 1/1024 s; a burst "
            "waits for room in the window; off = single segments",
        .source = "Linux: tcp_tso_autosize(), tcp_tso_should_defer(); 64 KB"),
    PARAM_ROW(
        "connections", ENUM, TC(connections), .def = "auto", .choices = connection_modes,
        .help = "pooled: the messages of a pair share connections, which their first message opens "
                "and which stay open; established: the same, but they are open before the start; "
                "per_message: each message has a handshake and a close; auto = established for "
                "collectives, training and programs, else pooled",
        .source = "NCCL and MPI connect at initialisation; remote procedure calls"),
    PARAM_ROW("connections_per_pair", COUNT, TC(connections_per_pair), .def = "1", .min = "1",
              .max = "256",
              .help = "pooled: connections of a pair of ranks, which its messages use in turn",
              .source = "NCCL_NSOCKS_PERTHREAD"),
    PARAM_ROW("duplex", BOOL, TC(duplex), .def = "false",
              .help = "the messages of both directions of a pair share a connection that is "
                      "established, so that data carries the ACKs of the other direction",
              .source = "RFC 9293; Open MPI's btl tcp"),
    PARAM_ROW("packet_counting", BOOL, TC(packet_counting), .def = "false",
              .help = "a packet that is acknowledged lets the window grow as a full segment does, "
                      "whatever its size; else by its bytes (RFC 3465)",
              .source = "Linux: tcp_slow_start(), tcp_cong_avoid_ai()"),
    PARAM_ROW("ecn", ENUM, TC(ecn), .def = "auto", .choices = ecn_modes,
              .help = "data is ECN capable; auto = if the policy's preset expects marks",
              .source = "RFC 3168"),
    PARAM_ROW("quick_ack", COUNT, TC(quick_ack), .def = "0", .max = "1000000000",
              .help = "segments at the start of a connection that are acknowledged one by one",
              .source = "Linux, while the receive window grows"),
    PARAM_ROW("sack_compression", TIME, TC(sack_compression_ps), .def = "0ns", .min = "0ns",
              .max = "1s",
              .help = "longest delay of the fourth and further ACKs for a gap, at most RTT / "
                      "20; 0 = none",
              .source = "Linux tcp_comp_sack_delay_ns (1 ms)"),
    PARAM_ROW("timer_tick", TIME, TC(tick_ps), .def = "0ns", .min = "0ns", .max = "1s",
              .help = "resolution of timers, as of a kernel's timer wheel; 0 = exact",
              .source = "Linux: 4 ms with HZ = 250"),
    PARAM_ROW("read_stop", TIME, TC(read_stop_ps), .def = "auto", .min = "0ns", .can_auto = true,
              .help = "time at which the receiving applications stop reading; auto = never",
              .source = "RFC 9293, section 3.8.6: zero windows"),
    PARAM_ROW("read_resume", TIME, TC(read_resume_ps), .def = "auto", .min = "0ns",
              .can_auto = true, .help = "time at which they read again; auto = never",
              .source = "RFC 9293, section 3.8.6"),
};

static const struct param delayed_ack_params[] = {
    PARAM_ROW("segments", COUNT, TC(delack_segments), .def = "2", .min = "1", .max = "1000",
              .help = "segments per ACK, whatever their size",
              .source = "RFC 9293, section 3.8.6.3"),
    PARAM_ROW("timeout", TIME, TC(delack_ps), .def = "40ms", .min = "1us", .max = "1s",
              .help = "longest delay of an ACK", .source = "Linux; RFC 9293: at most 500 ms"),
};

static const struct transport_group groups[] = {
    {"delayed_ack", "when data in order is acknowledged", delayed_ack_params,
     sizeof delayed_ack_params / sizeof *delayed_ack_params},
};

// The preset's notification settings are RoCE's. ECN capable data goes with its switch profile.
static void complete(struct transport_spec *t, const struct cc_preset *preset,
                     const struct nic_preset *nic)
{
    (void)nic;
    struct tcp_spec *spec = tcp_spec_of(t);
    spec->ect = spec->ecn == TCP_ECN_ON || (spec->ecn == TCP_ECN_AUTO && preset->profile.ecn);
}

#define MTU_BYTES 9000 // jumbo frames, the largest IP packet of common NICs and switches

static size_t check(const struct transport_spec *t, const struct transport_network *network,
                    struct transport_finding *out)
{
    const struct tcp_spec *spec = tcp_spec_const(t);
    uint32_t headers = spec->timestamps ? 52 : 40;
    size_t n = 0;
    (void)network;
    if (spec->mss_bytes + headers > MTU_BYTES)
        out[n++] = (struct transport_finding){
            "mss", "with its headers (40 B, and 12 B of timestamps) exceeds the MTU of 9000 B",
            true};
    if (spec->window_bytes < spec->mss_bytes)
        out[n++] = (struct transport_finding){
            "receive_window", "must have room for one segment (mss): smaller windows stay closed",
            true};
    if (spec->read_resume_ps != PARAM_AUTO_TIME && spec->read_resume_ps <= spec->read_stop_ps)
        out[n++] = (struct transport_finding){"read_resume", "must be later than read_stop", true};
    bool opens = spec->connections != TCP_CONNECTED && spec->connections != TCP_CONNECTIONS_AUTO;
    if (spec->duplex && (opens || spec->connections_per_pair > 1))
        out[n++] = (struct transport_finding){
            "duplex",
            "needs one connection of a pair, open before the start: connections established or "
            "auto, and connections_per_pair 1",
            true};
    if (spec->delack_ps > spec->rto_min_ps && spec->delack_segments > 1)
        out[n++] = (struct transport_finding){
            "delayed_ack",
            "its timeout exceeds rto_min: a single segment may be retransmitted before its ACK "
            "is sent; use a shorter timeout",
            false};
    return n;
}

void tcp_prepare(struct transport_dim *dim)
{
    const struct tcp_spec *spec = tcp_spec_const(&dim->spec);
    dim->mtu_bytes = dim->seq_bytes = (uint32_t)spec->mss_bytes;
    dim->fails_at_once = spec->retries == 0 || spec->syn_retries == 0;
    dim->packets_per_ack = (uint32_t)spec->delack_segments;
    dim->connections_per_pair = (uint32_t)spec->connections_per_pair;
    dim->initial_window_bytes = (uint32_t)spec->initial_window * dim->mtu_bytes;
    dim->fresh_connections = spec->connections == TCP_PER_MESSAGE;
    dim->retransmits = true;
    dim->echoes_marks = true;
    dim->empty_bytes = 1;
    dim->full = dim->first = tcp_data_sizes(&dim->spec, dim->mtu_bytes, false);
    dim->ack = tcp_ack_sizes(&dim->spec, 0);
}

static const char *const observed[] = {"window_pkts",  "state",       "in_flight_pkts",
                                       "unacked_pkts", "sacked_pkts", "lost_pkts",
                                       "srtt_us",      "rto_ms",      NULL};

static void observe(const struct sender *s, double *out)
{
    const struct tcp_sender *t = tcp_of(s);
    *out++ = t->cwnd;
    *out++ = t->state;
    *out++ = tcp_in_flight(s);
    *out++ = tcp_outstanding(s);
    *out++ = t->segs.sacked;
    *out++ = t->segs.lost;
    *out++ = (double)t->srtt_ps / (double)PS_PER_US;
    *out = (double)tcp_rto_ps(s) / (double)PS_PER_MS;
}

// Timers that a transmission starts: the retransmission timeout, and a tail loss probe after two
// smoothed RTTs. The base RTT is that of a full segment; a small segment's RTT may be shorter, but
// half the base RTT is taken as its lower limit. The first timeout holds until there is an RTT
// sample: none comes from a handshake whose SYN was repeated.
static ps_t shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps)
{
    const struct tcp_spec *spec = tcp_spec_const(t);
    ps_t probe_ps = base_rtt_ps / 2 + spec->probe_slack_ps, rto_ps = spec->rto_min_ps;
    rto_ps = rto_ps < spec->rto_initial_ps ? rto_ps : spec->rto_initial_ps;
    return probe_ps < rto_ps ? probe_ps : rto_ps;
}

const struct transport_ops tcp_transport = {
    .name = "tcp",
    .doc = "TCP with SACK, RACK-TLP, PRR and ECN",
    .source = "RFC 9293, 2018, 6298, 6937, 7323, 8985",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .groups = groups,
    .n_groups = sizeof groups / sizeof *groups,
    .spec_bytes = sizeof(struct tcp_spec),
    .complete = complete,
    .check = check,
    .provides = CC_NEEDS_ECN | CC_NEEDS_CE_SHARE | CC_NEEDS_GLOBAL_RTT | CC_NEEDS_SLOW_START,
    .default_cc = "cubic",
    .data_class = 0, // lossy
    .by_host = true,
    .prepare = tcp_prepare,
    .data_sizes = tcp_data_sizes,
    .shortest_timer_ps = shortest_timer_ps,
    .frames = &tcp_frames,
    .receiver_bytes = sizeof(struct tcp_receiver),
    .sender_bytes = sizeof(struct tcp_sender),
    .name_connection = tcp_name_connection,
    .open_sender = tcp_open_sender,
    .autos = tcp_autos,
    .receive_window = tcp_receive_window,
    .close_sender = tcp_close_sender,
    .fill = tcp_fill,
    .on_feedback = tcp_on_feedback,
    .on_timeout = tcp_on_timeout,
    .on_failed = tcp_on_failed,
    .on_window = tcp_on_window,
    .idle_rtos = tcp_idle_rtos,
    .on_post = tcp_on_post,
    .on_written = tcp_on_written,
    .open_receiver = tcp_open_receiver,
    .close_receiver = tcp_close_receiver,
    .on_data = tcp_on_data,
    .received_bytes = tcp_received_bytes,
    .hand_over_receiver = tcp_hand_over_receiver,
    .observed = observed,
    .observe = observe,
};
