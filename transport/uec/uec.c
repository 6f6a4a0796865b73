// SPDX-License-Identifier: MIT
// The entries of UEC and MRC in the catalogue of transports: their settings and functions.
#include "transport/uec/uec.h"

#include "transport/uec/frame.h"

#define HTSIM "uet-htsim"

#define UO(f) offsetof(struct uec_spec, f)

// Settings whose defaults differ between uec and mrc.
#define SPRAY_ROW(value)                                                                           \
    {                                                                                              \
        .name = "spray", .type = PARAM_ENUM, .offset = UO(spray), .def = (value),                  \
        .choices = spray_words,                                                                    \
        .help = "entropy (UDP source port) of each packet: oblivious all in turn; bitmap without " \
                "those "                                                                           \
                "that were marked or trimmed; reps those that came without a mark again, else "    \
                "random; "                                                                         \
                "mixed those, else as bitmap; mrc in turn without those that lost packets; none "  \
                "always the same",                                                                 \
        .source = HTSIM "; Bonato et al., 2024 (REPS)"                                             \
    }
#define ENTROPIES_ROW(value)                                                                       \
    {                                                                                              \
        .name = "entropies", .type = PARAM_COUNT, .offset = UO(entropies), .def = (value),         \
        .min = "1", .max = "16384", .help = "different entropies of a flow, a power of two",       \
        .source = HTSIM                                                                            \
    }

static const struct param common[] = {
    PARAM_ROW("mtu", BYTES, UO(mtu_bytes), .def = "4096B", .min = "64B", .max = "9000B",
              .help = "payload of a full packet", .source = "UEC 1.0"),
    PARAM_ROW("ack_every", BYTES, UO(ack_every_bytes), .def = "16384B", .min = "1B", .max = "1GB",
              .help = "wire bytes after which an ACK is sent that nothing else calls for",
              .source = HTSIM "; UEC 1.0 (ACK_Gen_Trigger)"),
    PARAM_ROW(
        "rto", TIME, UO(rto_ps), .def = "auto", .min = "1us", .max = "100s", .can_auto = true,
        .help =
            "a packet without report is sent again after it; auto = 15 us and 6 times what a "
            "switch's queue takes to drain, at least 2 base RTTs: the queue of its fixed limit, "
            "else that from which every packet is marked, and then at least twice the RTT, and "
            "15 us and the drain of all buffers before the first report",
        .source = HTSIM),
    PARAM_ROW("destination_control", BOOL, UO(destination_control), .def = "true",
              .help = "a receiver whose NIC holds packets up (`nic`) asks senders in ACKs for "
                      "smaller windows, which policies nscc and nscc_rccc obey; see docs/uec.md "
                      "for its rule",
              .source = "UEC 1.0, section 3.6.13: receiver window penalty"),
    PARAM_ROW("retry_limit", COUNT, UO(retry_limit), .def = "1000", .min = "0", .max = "1000000",
              .help = "timeouts without progress before the flow fails",
              .source = "our choice: a link that is down for a millisecond must not end flows"),
    PARAM_ROW("probe_interval", TIME, UO(probe_every_ps), .def = "25us", .min = "1ns",
              .max = "100s",
              .help = "spray mrc: least time between probes of entropies that have lost packets",
              .source = "our choice: not public"),
    {0},
};

static const struct param uec_params[] = {
    SPRAY_ROW("mixed"),
    ENTROPIES_ROW("64"),
    {.include = common},
};

static const struct param mrc_params[] = {
    SPRAY_ROW("mrc"),
    ENTROPIES_ROW("256"),
    {.include = common},
};

static size_t check(const struct transport_spec *t, const struct transport_network *network,
                    struct transport_finding *out)
{
    const char *fault = spray_count_fault(uec_spec_const(t)->entropies);
    (void)network;
    if (fault)
        out[0] = (struct transport_finding){"entropies", fault, true};
    return fault != NULL;
}

static const char *const observed[] = {"in_flight_bytes", "arrived_pkts", "lost_pkts",
                                       "credit_bytes", NULL};

static void observe(const struct sender *s, double *out)
{
    const struct uec_sender *u = uec_of(s);
    *out++ = (double)u->in_flight_bytes;
    *out++ = (double)u->flight.arrived.n;
    *out++ = (double)u->flight.lost.n;
    *out = (double)u->credits.left;
}

#define UEC_FUNCTIONS                                                                              \
    .provides = CC_NEEDS_ECN | CC_NEEDS_GLOBAL_RTT | CC_NEEDS_PACKET_NACKS | CC_NEEDS_CREDITS,     \
    .default_cc = "nscc", .data_class = 0, /* lossy */                                             \
        .spec_bytes = sizeof(struct uec_spec), .check = check, .prepare = uec_prepare,             \
    .data_sizes = uec_data_sizes, .shortest_timer_ps = uec_shortest_timer_ps,                      \
    .frames = &uec_frames, .receiver_bytes = sizeof(struct uec_receiver),                          \
    .sender_bytes = sizeof(struct uec_sender), .name_connection = uec_name_connection,             \
    .open_sender = uec_open_sender, .rto_ps = uec_rto_of, .autos = uec_autos,                      \
    .close_sender = uec_close_sender, .fill = uec_fill, .on_feedback = uec_on_feedback,            \
    .on_timeout = uec_on_timeout, .on_path_lost = uec_on_path_lost, .on_failed = uec_on_failed,    \
    .on_window = uec_on_window, .on_post = uec_on_post, .open_receiver = uec_open_receiver,        \
    .close_receiver = uec_close_receiver, .on_data = uec_on_data, .on_trimmed = uec_on_trimmed,    \
    .open_dim = uec_open_dim, .divide_dim = uec_divide_dim, .close_dim = uec_close_dim,            \
    .received_bytes = uec_received_bytes, .hand_over_receiver = uec_hand_over_receiver,            \
    .observed = observed, .observe = observe

const struct transport_ops uec_transport = {
    .name = "uec",
    .doc = "Ultra Ethernet: unordered delivery over many paths",
    .source = "UEC 1.0; uet-htsim",
    .params = uec_params,
    .n_params = sizeof uec_params / sizeof *uec_params,
    UEC_FUNCTIONS,
};

// A preset of the parts of UEC: docs/mrc.md lists what is assumed.
const struct transport_ops mrc_transport = {
    .name = "mrc",
    .doc =
        "Multipath Reliable Connection (OCP): UEC's transport that leaves paths which lose packets",
    .source = "Araujo et al., 2026 (arXiv 2605.04333); OCP MRC 1.0",
    .default_preset = "mrc",
    .params = mrc_params,
    .n_params = sizeof mrc_params / sizeof *mrc_params,
    UEC_FUNCTIONS,
};
