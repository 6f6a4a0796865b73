// SPDX-License-Identifier: MIT
// The table of a NIC's settings, and the presets.
//
// Values that vendors do not publish are estimated, or left without a limit; docs/nic.md gives the
// origin of each value.
#include "transport/nic/nic_spec.h"

static const char *const duplexes[] = {"full", "half", NULL};

#define NIC(f) offsetof(struct nic_spec, f)
const struct param nic_params[] = {
    PARAM_ROW("at", TEXT, NIC(at), .def = "",
              .help = "ranks that have this NIC, the others an ideal one: \"rank3\", "
                      "\"rank3,rank1?\"; empty: all"),
    PARAM_ROW("message_rate", COUNT, NIC(message_rate), .def = "0", .max = "1000000000000",
              .help =
                  "packets per second that the NIC handles in each direction, so messages of one "
                  "packet; 0 = no limit",
              .source = "data sheets: 215 million (ConnectX-6)"),
    PARAM_ROW("bus_rate", RATE, NIC(bus_rate_bps), .def = "0bps", .max = "100Tbps",
              .help = "rate at which the NIC reads payload from the memory of its rank and "
                      "writes it there (PCIe, or memory), shared by all its ports; 0 = no limit",
              .source = "Neugebauer et al., SIGCOMM 2018 (PCIe); Agarwal et al., SIGCOMM 2023 "
                        "(hostCC)"),
    PARAM_ROW("bus_duplex", ENUM, NIC(bus_duplex), .def = "full", .choices = duplexes,
              .help = "full: reads and writes have the rate each, as on PCIe; half: they share "
                      "it, as in memory"),
    PARAM_ROW("burst", BYTES, NIC(burst_bytes), .def = "256B", .min = "1B", .max = "64KB",
              .help = "largest payload of one transaction on the bus",
              .source = "PCIe: MaxPayloadSize, 256 B in most servers"),
    PARAM_ROW("burst_overhead", BYTES, NIC(burst_overhead), .def = "24B", .max = "1KB",
              .help = "bytes that a transaction takes on the bus beside its payload",
              .source = "Neugebauer et al., SIGCOMM 2018: 24 B of headers and framing of a write"),
    PARAM_ROW(
        "buffer", BYTES, NIC(buffer_bytes), .def = "1MB", .min = "1KB", .max = "4GB",
        .help = "packets that have arrived and wait for the NIC, with the headroom of its lossless "
                "classes; where it fills up, the NIC sends PFC, or packets of lossy classes are "
                "dropped",
        .source =
            "mlnx_qos: 0.26 MB on older cards, 4.15 MB on a ConnectX-7; between them the default"),
    PARAM_ROW("qp_cache", COUNT, NIC(qp_cache), .def = "0", .max = "100000000",
              .help = "contexts of queue pairs in the NIC's memory: one for each flow that "
                      "starts or ends here; a missing one takes the place of a random one; 0 = "
                      "all fit",
              .source = "Wang et al., NSDI 2023 (SRNIC): throughput falls beyond some hundred "
                        "connections"),
    PARAM_ROW("qp_miss", TIME, NIC(qp_miss_ps), .def = "0ns", .max = "1ms",
              .help = "time for which a missing context stops one direction of the NIC",
              .source = "a read over PCIe: Neugebauer et al., SIGCOMM 2018"),
    PARAM_ROW("doorbell", TIME, NIC(doorbell_ps), .def = "0ns", .max = "1ms",
              .help = "time from the post of a message to a queue pair with nothing to send "
                      "until its first packet may start",
              .source = "a write over PCIe, and reads of the request and the payload"),
    PARAM_ROW("completion", TIME, NIC(completion_ps), .def = "0ns", .max = "1ms",
              .help = "time from the end of a message at the NIC, at either side, until its "
                      "program learns of it",
              .source = "a completion entry is written over PCIe and polled"),
};
const size_t n_nic_params = sizeof nic_params / sizeof *nic_params;

// PCIe with 16 lanes, after encoding and the data-link layer, which takes 8.1 % (Neugebauer et al.,
// SIGCOMM 2018, for Gen3).
#define GEN3_X16                                                                                   \
    {                                                                                              \
        "bus_rate", "115.8Gbps"                                                                    \
    }
#define GEN4_X16                                                                                   \
    {                                                                                              \
        "bus_rate", "231.7Gbps"                                                                    \
    }
#define GEN5_X16                                                                                   \
    {                                                                                              \
        "bus_rate", "463.4Gbps"                                                                    \
    }
// Together the latency of a small message that the data sheet of ConnectX-6 states (0.6 to 0.8 us);
// its division is an estimate.
#define LATENCY                                                                                    \
    {"doorbell", "400ns"}, { "completion", "200ns" }
#define END                                                                                        \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }

static const struct nic_value ideal[] = {END};
static const struct nic_value connectx5[] = {GEN3_X16, {"message_rate", "200000000"}, LATENCY, END};
static const struct nic_value connectx6[] = {GEN4_X16, {"message_rate", "215000000"}, LATENCY, END};
static const struct nic_value connectx7[] = {
    GEN5_X16, {"message_rate", "330000000"}, {"buffer", "4151520B"}, LATENCY, END};
static const struct nic_value thor[] = {GEN4_X16, LATENCY, END};
static const struct nic_value thor2[] = {GEN5_X16, LATENCY, END};
static const struct nic_value e810[] = {GEN4_X16, LATENCY, END};

// Of ConnectX from 5 on (docs/nic.md). A CNP with each NAK, adaptive retransmission, slow restart
// and a window of 512 packets are documented or seen in counters; the times are estimates.
#define MLX(cnp_with_nak)                                                                          \
    {                                                                                              \
        .cnp_delay_ps = PS_PER_US, .nak_repeat_ps = 100 * PS_PER_US,                               \
        .slow_restart_ps = 8 * PS_PER_MS, .rto_adaptive_ps = 4 * PS_PER_MS,                        \
        .nak_cnp = (cnp_with_nak), .window_packets = 512                                           \
    }
static const char mlx_unknown[] =
    "delay of a CNP (0 to 4 us), rate after a loss (0.1 to 0.9 of that before) and time to regain "
    "it (1 to 20 ms), first timeout (4 us to 16 ms), whether and when a NAK is repeated; reaction "
    "time to PFC, misses of the queue pair cache";
static const char unknown[] =
    "everything that it does about congestion and loss beyond DCQCN; reaction time to PFC, misses "
    "of the queue pair cache";

const struct nic_preset nic_presets[] = {
    {"ideal", "limited by its links alone", NULL, ideal, {0}, NULL},
    {"connectx5", "as ConnectX-5: PCIe Gen3 x16, for 100 Gb/s; what is estimated: docs/nic.md",
     "NVIDIA ConnectX-5 EN data sheet", connectx5, MLX(true), mlx_unknown},
    {"connectx6", "as ConnectX-6: PCIe Gen4 x16, for 200 Gb/s; what is estimated: docs/nic.md",
     "NVIDIA ConnectX-6 EN data sheet", connectx6, MLX(true), mlx_unknown},
    {"connectx7", "as ConnectX-7: PCIe Gen5 x16, for 400 Gb/s; what is estimated: docs/nic.md",
     "NVIDIA ConnectX-7 user manual; mlnx_qos of one card", connectx7, MLX(false), mlx_unknown},
    {"bluefield3", "as BlueField-3, whose adapter is a ConnectX-7; what is estimated: docs/nic.md",
     "NVIDIA BlueField-3 data sheet", connectx7, MLX(false), mlx_unknown},
    {"thor",
     "like Broadcom BCM57508: PCIe Gen4 x16, for 200 Gb/s; what is estimated: docs/nic.md",
     "Linux bnxt drivers",
     thor,
     {0},
     unknown},
    {"thor2",
     "like Broadcom BCM57608: PCIe Gen5 x16, for 400 Gb/s; what is estimated: docs/nic.md",
     "Linux bnxt drivers; cards with it",
     thor2,
     {0},
     unknown},
    {"e810",
     "like Intel E810: PCIe Gen4 x16, for 100 Gb/s; what is estimated: docs/nic.md",
     "Intel E810 data sheet",
     e810,
     {0},
     unknown},
    {NULL, NULL, NULL, NULL, {0}, NULL},
};

void nic_spec_init(struct nic_spec *spec, const struct nic_preset *preset)
{
    struct err none = {0}; // no error can occur: a test sets every value of every preset
    params_default(nic_params, n_nic_params, spec);
    spec->preset = preset;
    for (const struct nic_value *v = preset->values; v->key; v++) {
        struct param param = param_find(nic_params, n_nic_params, v->key);
        param_set(&param, spec, v->value, v->key, &none);
    }
    err_free(&none);
}

uint64_t nic_bus_bytes(const struct nic_spec *spec, uint32_t payload_bytes)
{
    uint64_t bursts = (payload_bytes + spec->burst_bytes - 1) / spec->burst_bytes;
    uint64_t bytes = payload_bytes + bursts * spec->burst_overhead;
    return spec->crossings > 1 ? bytes * spec->crossings : bytes;
}

ps_t nic_packet_ps(const struct nic_spec *spec, uint32_t payload_bytes)
{
    ps_t packet = spec->message_rate > 0 ? (ps_t)(PS_PER_S / (ps_t)spec->message_rate) : 0;
    if (spec->bus_rate_bps == 0)
        return packet;
    ps_t bus = serialization_ps(nic_bus_bytes(spec, payload_bytes), spec->bus_rate_bps);
    return bus > packet ? bus : packet;
}
