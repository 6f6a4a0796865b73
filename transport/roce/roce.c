// SPDX-License-Identifier: MIT
// The entry of RoCE in the catalogue of transports: its settings and functions.
#include "transport/roce/roce.h"

#include "transport/roce/frame.h"

static const char *const ack_classes[] = {"data", "control", NULL};
static const char *const auto_or_bool[] = {"auto", "true", "false", NULL};
static const char *const cnp_modes[] = {"auto", "np_timer", "per_ack", NULL};
static const char *const cnp_scopes[] = {"auto", "qp", "destination", "port", NULL};
static const char *const recoveries[] = {"go_back_n", "selective_repeat", "none", NULL};
static const char *const qp_modes[] = {"persistent", "per_message", NULL};
static const char *const scalings[] = {"turn", "split", NULL};
static const char *const entropies[] = {"qpn", "none", NULL};

#define RO(f) offsetof(struct roce_spec, f)
static const struct param params[] = {
    PARAM_ROW("mtu", BYTES, RO(mtu_bytes), .def = "4096B", .min = "64B", .max = "9000B",
              .help = "payload of a full packet", .source = "InfiniBand 9.2"),
    PARAM_ROW("ack_interval", COUNT, RO(ack_interval), .def = "1", .min = "1", .max = "1000000",
              .help =
                  "packets per ACK; the last packet of a message and the one that fills the window "
                  "always request an ACK",
              .source = "InfiniBand 9.7.5"),
    PARAM_ROW("ack_class", ENUM, RO(ack_class), .def = "data", .choices = ack_classes,
              .help = "data: ACKs share queues and pauses with the data; control: ACKs use "
                      "class 6",
              .source = "RoCE deployments"),
    PARAM_ROW("cnp", ENUM, RO(cnp), .def = "auto", .choices = cnp_modes,
              .help = "np_timer: for policies that need CNPs at most one per interval; per_ack: "
                      "none; ACKs echo CE in any case; auto = as the preset expects, else np_timer",
              .source = "Zhu et al., SIGCOMM 2015; HPCC simulator"),
    PARAM_ROW("cnp_interval", TIME, RO(cnp_interval_ps), .def = "auto", .min = "1ns", .max = "1s",
              .can_auto = true,
              .help = "window of the notification point; auto = the preset's, else 50us",
              .source = "Zhu et al., SIGCOMM 2015"),
    PARAM_ROW("cnp_scope", ENUM, RO(cnp_scope), .def = "auto", .choices = cnp_scopes,
              .help = "flows that share a window: those of a queue pair, of a sender's address "
                      "(the CNP's destination), or of the receiver's port; auto = the preset's, "
                      "else qp",
              .source = "per queue pair in Zhu et al., SIGCOMM 2015; NICs limit CNPs per port "
                        "or address"),
    PARAM_ROW("cnp_delay", TIME, RO(cnp_delay_ps), .def = "auto", .max = "1s", .can_auto = true,
              .help =
                  "time that the notification point takes to make a CNP; marks meanwhile are of "
                  "the same CNP; auto = the NIC's",
              .source = "docs/nic.md"),
    PARAM_ROW("nak_cnp", ENUM, RO(nak_cnp), .def = "auto", .choices = auto_or_bool,
              .help = "a receiver sends a CNP with each NAK, though nothing is marked; auto = the "
                      "NIC's, else false",
              .source = "counters of ConnectX-5 and -6 in lossy incasts (docs/nic.md)"),
    PARAM_ROW("nak_repeat", TIME, RO(nak_repeat_ps), .def = "auto", .max = "1s", .can_auto = true,
              .help = "go_back_n: a packet that arrives out of order this long after the last NAK "
                      "of the same gap gets another one; 0 = one NAK per gap; auto = the NIC's",
              .source = "InfiniBand 9.7.5.1.1: one; HPCC ns-3 sources: every 500 us"),
    PARAM_ROW(
        "slow_restart", TIME, RO(slow_restart_ps), .def = "auto", .max = "100s", .can_auto = true,
        .help = "after a NAK or a timeout the sender's rate falls to a share, and reaches the "
                "rate of its port again so much later; 0 = no reaction; auto = the NIC's",
        .source = "mlxreg of ConnectX-4 and later (roce_slow_restart); docs/nic.md"),
    PARAM_ROW("slow_restart_share", RATIO, RO(slow_restart_share), .def = "0.5", .min = "0.001",
              .max = "1", .help = "slow_restart: rate after a loss over the rate before",
              .source = "an estimate"),
    PARAM_ROW(
        "rto_adaptive", TIME, RO(rto_adaptive_ps), .def = "auto", .max = "100s", .can_auto = true,
        .help = "the first timeout of a queue pair is drawn between this time and its double, "
                "and doubles with each timeout without progress, up to rto; those before rto "
                "are no retries; 0 = rto from the first; auto = the NIC's",
        .source = "mlxreg of ConnectX-4 and later (adaptive retransmission); docs/nic.md"),
    PARAM_ROW("window_packets", COUNT, RO(window_packets), .def = "auto", .max = "1000000",
              .can_auto = true,
              .help = "selective_repeat: packets in flight at most; 0 = no limit; auto = the NIC's",
              .source = "512 in current firmware of ConnectX, 128 in older (docs/nic.md)"),
    PARAM_ROW("rto", TIME, RO(rto_ps), .def = "67108864ns", .min = "1us", .max = "100s",
              .help = "retransmission timeout; stopped while the NIC's class is paused",
              .source = "InfiniBand 9.7.6.1.3: 4.096 us * 2^14"),
    PARAM_ROW("retry_limit", COUNT, RO(retry_limit), .def = "7", .min = "0", .max = "1000",
              .help = "timeouts without progress before the flow fails",
              .source = "InfiniBand 9.7.6"),
    PARAM_ROW("recovery", ENUM, RO(recovery), .def = "go_back_n", .choices = recoveries,
              .help =
                  "go_back_n: a NAK or a timeout retransmits everything from the first missing "
                  "packet; selective_repeat: the receiver keeps early packets, only lost ones are "
                  "retransmitted",
              .source = "InfiniBand 9.7; Mittal et al., SIGCOMM 2018 (IRN)"),
    PARAM_ROW(
        "rto_low", TIME, RO(rto_low_ps), .def = "auto", .min = "1us", .max = "100s",
        .can_auto = true,
        .help =
            "selective_repeat: timeout with at most 3 packets in flight; auto = 100us, at least "
            "2 base RTTs and at most rto_high; rto_high where switches trim packets",
        .source = "Mittal et al., SIGCOMM 2018: 100 us on its 40G network"),
    PARAM_ROW("rto_high", TIME, RO(rto_high_ps), .def = "auto", .min = "1us", .max = "100s",
              .can_auto = true,
              .help =
                  "selective_repeat: timeout with more in flight; auto = base RTT and the time in "
                  "which every switch of the path drains its whole buffer, or its queue_limit, at "
                  "least 100us and 2 base RTTs; six times the drain where switches trim packets",
              .source = "Mittal et al., SIGCOMM 2018: 320 us on its 40G network"),
    PARAM_ROW("reorder", COUNT, RO(reorder_packets), .def = "0", .max = "1000000",
              .help = "selective_repeat: a packet counts as lost when one sent more than this "
                      "many packets later has arrived",
              .source = "for sprayed packets; RFC 8985 has the idea"),
    PARAM_ROW("bdp_cap", BOOL, RO(bdp_cap), .def = "true",
              .help = "selective_repeat: at most one bandwidth-delay product in flight",
              .source = "Mittal et al., SIGCOMM 2018, section 3.2"),
    PARAM_ROW("qp", ENUM, RO(qp), .def = "persistent", .choices = qp_modes,
              .help = "persistent: queue pairs and their congestion state outlive messages; "
                      "per_message: every message uses a fresh queue pair",
              .source = "NCCL; HPCC simulator"),
    PARAM_ROW("qps_per_pair", COUNT, RO(qps_per_pair), .def = "1", .min = "1", .max = "256",
              .help = "queue pairs per pair of ranks, or per channel of one",
              .source = "NCCL_IB_QPS_PER_CONNECTION"),
    PARAM_ROW("qp_scaling", ENUM, RO(qp_scaling), .def = "turn", .choices = scalings,
              .help = "several queue pairs per pair: turn = every message uses the next one; "
                      "split = every message is split equally over all of them, with one record",
              .source = "Gangidi et al., SIGCOMM 2024, section 4; NCCL_IB_SPLIT_DATA_ON_QPS"),
    PARAM_ROW("entropy", ENUM, RO(entropy), .def = "qpn", .choices = entropies,
              .help = "UDP source port: qpn = a hash of both queue pair numbers, none = the "
                      "same for all",
              .source = "InfiniBand annex A17; NIC drivers"),
    PARAM_ROW(
        "spray", ENUM, RO(spray), .def = "none", .choices = spray_words,
        .help =
            "selective_repeat: the sender chooses the entropy (UDP source port) of each packet, "
            "as transport uec does; see `reorder`",
        .source = "Bonato et al., 2024 (REPS)"),
    PARAM_ROW("entropies", COUNT, RO(entropies), .def = "64", .min = "1", .max = "16384",
              .help = "spray: different entropies of a queue pair, a power of two",
              .source = "uet-htsim"),
};

const struct transport_ops roce_transport = {
    .name = "roce",
    .doc = "RoCEv2 reliable connections",
    .source = "InfiniBand annex A17",
    .provides = CC_NEEDS_ECN | CC_NEEDS_CNP | CC_NEEDS_INT | CC_NEEDS_GLOBAL_RTT |
                CC_NEEDS_CE_SHARE | CC_NEEDS_PACING,
    .default_cc = "none",
    .data_class = NET_CLASS_DATA,
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .spec_bytes = sizeof(struct roce_spec),
    .complete = roce_complete,
    .check = roce_check,
    .prepare = roce_prepare,
    .data_sizes = roce_data_sizes,
    .shortest_timer_ps = roce_shortest_timer_ps,
    .frames = &roce_frames,
    .receiver_bytes = sizeof(struct roce_receiver),
    .name_connection = roce_name_connection,
    .change_path = roce_change_path,
    .quiet = roce_quiet,
    .cut = roce_cut,
    .open_sender = roce_open_sender,
    .autos = roce_autos,
    .close_sender = roce_close_sender,
    .fill = roce_fill,
    .on_feedback = roce_on_feedback,
    .on_timeout = roce_on_timeout,
    .on_failed = roce_on_failed,
    .open_receiver = roce_open_receiver,
    .close_receiver = roce_close_receiver,
    .on_data = roce_on_data,
    .on_trimmed = roce_on_trimmed,
    .open_dim = roce_notify_open_dim,
    .divide_dim = roce_notify_divide_dim,
    .close_dim = roce_notify_close_dim,
    .received_bytes = roce_received_bytes,
    .hand_over_receiver = roce_hand_over_receiver,
};
