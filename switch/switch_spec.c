// SPDX-License-Identifier: MIT
// Parameter tables of switches. Nested objects of a scenario have a table each; that of
// `routing` is in routing_spec.c.
#include "switch/switch_spec.h"

static const char *const auto_or_bool[] = {"auto", "true", "false", NULL};
static const char *const int_encodings[] = {"exact", "hpcc64", NULL};
static const char *const marking_kinds[] = {"red", "pi", NULL};
static const char *const marking_times[] = {"departure", "arrival", NULL};
static const char *const not_ect_words[] = {"forward", "drop", NULL};
static const char *const buffers[] = {"trident2", "12MB",      "trident3", "32MB", "tomahawk3",
                                      "64MB",     "spectrum4", "160MB",    NULL};

// Port to port, as data sheets give it: Arista 7050X (Trident II) and 7050X3 (Trident 3);
// Spectrum-2 as announced. fabric_2026 is our estimate of switches with ports of 400 and 800 Gb/s:
// data sheets of 2020 to 2024 say 600 to 800 ns.
static const char *const latencies[] = {"trident2", "550ns",       "trident3", "800ns", "spectrum2",
                                        "300ns",    "fabric_2026", "700ns",    NULL};

static const char *const flow_controls[] = {"pfc", "credit", NULL};
static const char *const ties_words[] = {"drawn", "first", NULL};
static const char *const forwardings[] = {"store_and_forward", "cut_through", NULL};

#define SW(f) offsetof(struct switch_spec, f)
const struct param switch_params[] = {
    PARAM_ROW("buffer", BYTES, SW(buffer_bytes), .def = "auto", .min = "1KB", .max = "4GB",
              .choices = buffers, .can_auto = true,
              .help = "packet buffer shared by all ports: a size, or a chip's (12, 32, 64, 160 "
                      "MB); auto = 32 MB, or more in proportion where links are faster than "
                      "400 Gb/s",
              .source = "Zhu et al., SIGCOMM 2015 (Trident II, 12 MB); Broadcom BCM56870, "
                        "BCM56980; NVIDIA SN5600"),
    PARAM_ROW("reserve", BYTES, SW(reserve_bytes), .def = "4KB", .max = "1GB",
              .help = "guaranteed per ingress port and class in use, outside the shared part",
              .source = "HPCC simulator"),
    PARAM_ROW("flow_control", ENUM, SW(flow_control), .def = "pfc", .choices = flow_controls,
              .help =
                  "of lossless classes (pfc.enabled, classes): pfc: pauses by thresholds; credit: "
                  "a sender starts a packet only if the switch has room for it",
              .source = "InfiniBand Architecture 1.4, section 7.9; Ultra Ethernet 1.0 (CBFC)"),
    PARAM_ROW(
        "credit", BYTES, SW(credit_bytes), .def = "auto", .min = "64B", .max = "4GB",
        .can_auto = true,
        .help = "flow_control credit: buffer of an ingress port for each lossless class, in blocks "
                "of 64 B; auto = what the link carries in a round trip, and three full packets"),
    PARAM_ROW("llr", BOOL, SW(llr), .def = "false",
              .help = "link-level retry on all links of the dimension: a packet that `faults` "
                      "loses or corrupts is sent again by the link, after its round trip",
              .source = "Ultra Ethernet 1.0 (LLR)"),
    PARAM_ROW("slices", COUNT, SW(slices), .def = "1", .min = "1", .max = "64",
              .help = "equal parts of the buffer; a packet may only use that of the port by which "
                      "it arrived, port number modulo slices",
              .source = "buffers of Broadcom Tomahawk: 4 or 2 slices"),
    PARAM_ROW("cell", BYTES, SW(cell_bytes), .def = "1B", .min = "1B", .max = "16KB",
              .help = "a packet occupies whole cells of the buffer",
              .source = "SONiC buffer profiles: 208 to 318 B"),
    PARAM_ROW(
        "latency", TIME, SW(latency_ps), .def = "0ns", .min = "0ns", .max = "1ms",
        .choices = latencies,
        .help =
            "of the pipeline: from the arrival of a packet (its headers, with cut_through) to "
            "the earliest start of its transmission; a time, or a chip's (550, 800, 300, 700 ns)",
        .source = "data sheets (docs/switches.md); fabric_2026 is an estimate"),
    PARAM_ROW(
        "forwarding", ENUM, SW(forwarding), .def = "store_and_forward", .choices = forwardings,
        .help = "cut_through: a packet may be sent on after its first 64 bytes, if no port of the "
                "switch is faster than that by which it arrives; else after its last",
        .source = "Kermani & Kleinrock, 1979 (virtual cut-through)"),
    PARAM_ROW("ties", ENUM, SW(ties), .def = "drawn", .choices = ties_words,
              .help =
                  "which of the packets that arrive while a full queue of a lossy class has room "
                  "for one it takes: one of them at random, or the first",
              .source = "docs/switches.md; first: simulators with one event behind the other"),
    PARAM_ROW("lossy_alpha", RATIO, SW(lossy_alpha), .def = "1", .min = "0.001", .max = "1000",
              .help = "a lossy class's egress queue may hold alpha * free shared buffer",
              .source = "Choudhury & Hahne, ToN 1998"),
    PARAM_ROW("int", ENUM, SW(telemetry), .def = "auto", .choices = auto_or_bool,
              .help = "in-band telemetry in data and ACKs; auto = where the policy needs it",
              .source = "Li et al., SIGCOMM 2019"),
    PARAM_ROW("int_encoding", ENUM, SW(int_encoding), .def = "exact", .choices = int_encodings,
              .help =
                  "records as a policy sees them: exact, or with the resolution and wrapping of "
                  "8 bytes per hop",
              .source = "Li et al., SIGCOMM 2019, figure 7"),
    PARAM_ROW("int_hops", COUNT, SW(int_hops), .def = "5", .min = "1", .max = "8",
              .help = "hops for which a packet has room: 2 + 8 * int_hops bytes after the IP "
                      "packet",
              .source = "Li et al., SIGCOMM 2019: 42 bytes for 5"),
};
const size_t n_switch_params = sizeof switch_params / sizeof *switch_params;

#define QL(f) offsetof(struct queue_limit_spec, f)
const struct param queue_limit_params[] = {
    PARAM_ROW("packets", COUNT, QL(packets), .def = "auto", .min = "1", .max = "1000000",
              .can_auto = true,
              .help = "packets that may wait for a port in a lossy class, without the one in "
                      "transmission",
              .source = "drop-tail queues; Linux pfifo"),
    PARAM_ROW("bytes", BYTES, QL(bytes), .def = "auto", .min = "1B", .max = "4GB", .can_auto = true,
              .help = "frame bytes that may wait for a port in a lossy class, without the "
                      "packet in transmission",
              .source = "drop-tail queues; Linux bfifo"),
    PARAM_ROW("at", TEXT, QL(at), .def = "",
              .help = "switches whose queues have the limit, the others their share of the "
                      "buffer: \"leaf*\", \"dim0.sw3\"; empty: all"),
};
const size_t n_queue_limit_params = sizeof queue_limit_params / sizeof *queue_limit_params;

static const char *const trim_victims[] = {"newest", "coin", NULL};

#define TR(f) offsetof(struct trimming_spec, f)
const struct param trimming_params[] = {
    PARAM_ROW(
        "enabled", BOOL, TR(enabled), .def = "false",
        .help =
            "a data packet of a lossy class that would be dropped loses its payload and goes on "
            "in the control class; for transports that take trimmed packets (uec, and roce with "
            "selective_repeat)",
        .source = "Handley et al., SIGCOMM 2017 (NDP); Ultra Ethernet 1.0"),
    PARAM_ROW("size", BYTES, TR(size_bytes), .def = "64B", .min = "64B", .max = "1024B",
              .help = "frame of a trimmed packet; packets that are not larger are dropped",
              .source = "the smallest Ethernet frame; uet-htsim"),
    PARAM_ROW("victim", ENUM, TR(victim), .def = "newest", .choices = trim_victims,
              .help = "newest: the packet that arrives is trimmed; coin: that one or the "
                      "youngest of the queue, by a fair coin",
              .source = "switches; Handley et al., SIGCOMM 2017, section 3.1"),
    PARAM_ROW(
        "control_limit", BYTES, TR(control_limit_bytes), .def = "auto", .min = "64B", .max = "4GB",
        .can_auto = true,
        .help = "frame bytes of the control class that may wait for a port; more are dropped; auto "
                "= twice queue_limit, the dynamic threshold without one",
        .source = "uet-htsim: twice the data queue"),
    PARAM_ROW("control_share", RATIO, TR(control_share), .def = "1", .min = "0.01", .max = "1",
              .help = "share of a link up to which the control class precedes waiting data; 1 = "
                      "strict priority",
              .source = "Handley et al., SIGCOMM 2017: headers and data in turn, 10 to 1"),
};
const size_t n_trimming_params = sizeof trimming_params / sizeof *trimming_params;

#define PFC(f) offsetof(struct pfc_spec, f)
const struct param pfc_params[] = {
    PARAM_ROW("enabled", BOOL, PFC(enabled), .def = "true",
              .help = "PFC for the lossless classes (3, and those set in `classes`); false: all "
                      "are lossy",
              .source = "IEEE 802.1Qbb"),
    PARAM_ROW("alpha", RATIO, PFC(alpha), .def = "0.125", .min = "0.001", .max = "1000",
              .help = "XOFF when an ingress holds more than alpha * free shared buffer",
              .source = "Choudhury & Hahne, ToN 1998; HPCC simulator"),
    PARAM_ROW("xon_offset", BYTES, PFC(xon_offset_bytes), .def = "auto", .can_auto = true,
              .max = "1GB",
              .help = "XON when the ingress is this far below the threshold; auto = 2 full "
                      "packets",
              .source = "HPCC simulator: 3 KB"),
    PARAM_ROW("headroom", BYTES, PFC(headroom_bytes), .def = "auto", .can_auto = true, .max = "4GB",
              .help = "per ingress port and lossless class; auto = from rate, delay and frame "
                      "sizes",
              .source = "IEEE 802.1Qbb annex O"),
    PARAM_ROW("response", TIME, PFC(response_ps), .def = "0ns", .min = "0ns", .max = "1ms",
              .help = "time from receiving a pause to obeying it",
              .source = "IEEE 802.1Qbb: up to 60 quanta"),
    PARAM_ROW("quanta", COUNT, PFC(quanta), .def = "65535", .min = "1", .max = "65535",
              .help = "length of a pause in 512 bit times; refreshed at half",
              .source = "IEEE 802.3x"),
    PARAM_ROW(
        "watchdog", BOOL, PFC(watchdog), .def = "false",
        .help =
            "drop the queue of a port that has been paused too long, and ignore pauses for a while",
        .source = "SONiC PFC watchdog"),
    PARAM_ROW("watchdog_detect", TIME, PFC(watchdog_detect_ps), .def = "200ms", .min = "1us",
              .max = "1000s", .help = "time paused without a break after which the watchdog acts",
              .source = "SONiC PFC watchdog"),
    PARAM_ROW("watchdog_restore", TIME, PFC(watchdog_restore_ps), .def = "200ms", .min = "1us",
              .max = "1000s", .help = "time for which pauses are ignored",
              .source = "SONiC PFC watchdog"),
};
const size_t n_pfc_params = sizeof pfc_params / sizeof *pfc_params;

#define CL(f) offsetof(struct class_spec, f)
const struct param class_params[] = {
    PARAM_ROW("lossless", ENUM, CL(lossless), .def = "auto", .choices = auto_or_bool,
              .help = "PFC pauses the class before it would drop; auto = class 3 only, if "
                      "pfc.enabled",
              .source = "IEEE 802.1Qbb"),
    PARAM_ROW("weight", COUNT, CL(weight), .def = "1", .min = "1", .max = "1000",
              .help = "share of a link among the data classes that wait for it, at switches and "
                      "NICs",
              .source = "Shreedhar & Varghese, SIGCOMM 1995; IEEE 802.1Qaz"),
    PARAM_ROW(
        "alpha", RATIO, CL(alpha), .def = "auto", .min = "0.001", .max = "1000", .can_auto = true,
        .help = "lossless: XOFF above alpha * free shared buffer; lossy: an egress queue may hold "
                "as much; auto = pfc.alpha, lossy_alpha",
        .source = "Choudhury & Hahne, ToN 1998"),
};
const size_t n_class_params = sizeof class_params / sizeof *class_params;

#define RED(f) offsetof(struct reduction_spec, f)
const struct param reduction_params[] = {
    PARAM_ROW("enabled", BOOL, RED(enabled), .def = "false",
              .help = "the switch has an aggregator, for collectives with the algorithm "
                      "in_network",
              .source = "Graham et al., COMHPC 2016; Klenk et al., ISCA 2020"),
    PARAM_ROW(
        "buffer", BYTES, RED(slots_bytes), .def = "4MB", .min = "128B", .max = "4GB",
        .help = "for segments that are being reduced, two places each; divided among the phases of "
                "communicators that may run at once. It limits the segments on their way",
        .source = "two places: Sapio et al., NSDI 2021; the size is our choice"),
    PARAM_ROW(
        "rate", RATE, RED(rate_bps), .def = "auto", .min = "1Mbps", .can_auto = true,
        .help = "of the link between the switch and its aggregator, each way; auto = the rates of "
                "the switch's ports together"),
    PARAM_ROW(
        "latency", TIME, RED(latency_ps), .def = "50ns", .min = "0ns", .max = "1ms",
        .help = "of that link, each way: the time that an aggregator adds to the way of a segment "
                "is twice as long",
        .source = "our choice"),
};
const size_t n_reduction_params = sizeof reduction_params / sizeof *reduction_params;

// In a scenario `enabled` sets the mode, and `ecn: "auto"` sets ECN_AUTO; config/ maps both.
#define ECN(f) offsetof(struct ecn_spec, f)
const struct param ecn_params[] = {
    PARAM_ROW("kind", ENUM, ECN(kind), .def = "red", .choices = marking_kinds,
              .help = "red: by the queue between kmin and kmax (a step where they are equal); "
                      "pi: by a controller that holds the queue at qref",
              .source = "Zhu et al., SIGCOMM 2015; Zhu et al., CoNEXT 2016"),
    PARAM_ROW(
        "at", ENUM, ECN(at), .def = "departure", .choices = marking_times,
        .help = "departure: the queue when the packet's transmission starts; arrival: the queue "
                "when it is enqueued, without the packet in transmission. Both include the "
                "packet itself",
        .source =
            "HPCC simulator; Alizadeh et al., SIGCOMM 2010 (DCTCP), and Linux RED mark at arrival"),
    PARAM_ROW(
        "not_ect", ENUM, ECN(not_ect), .def = "forward", .choices = not_ect_words,
        .help =
            "drop: a packet of a lossy data class that is not ECN capable, ACKs too, and has to "
            "wait is dropped at arrival with the probability with which it would be marked",
        .source = "RFC 2309; RFC 3168, section 5"),
    PARAM_ROW("kmin", BYTES, ECN(kmin_bytes), .def = "400KB", .max = "1PB",
              .help = "no marking below this egress queue",
              .source = "RED; Zhu et al., SIGCOMM 2015"),
    PARAM_ROW("kmax", BYTES, ECN(kmax_bytes), .def = "1600KB", .max = "1PB",
              .help = "every packet is marked above this egress queue",
              .source = "RED; Zhu et al., SIGCOMM 2015"),
    PARAM_ROW("kmin_packets", COUNT, ECN(kmin_packets), .def = "auto", .min = "1",
              .max = "1000000000", .can_auto = true,
              .help =
                  "the same in packets of any size, the arriving one included; needs at: arrival; "
                  "auto = kmin holds",
              .source = "queues that count packets: Linux, NS-2"),
    PARAM_ROW("kmax_packets", COUNT, ECN(kmax_packets), .def = "auto", .min = "1",
              .max = "1000000000", .can_auto = true,
              .help = "the same for kmax; auto = as kmin_packets (a step)",
              .source = "queues that count packets: Linux, NS-2"),
    PARAM_ROW("pmax", RATIO, ECN(pmax), .def = "0.2", .min = "0", .max = "1",
              .help = "marking probability at kmax", .source = "RED; Zhu et al., SIGCOMM 2015"),
    PARAM_ROW("qref", BYTES, ECN(qref_bytes), .def = "200KB", .max = "1PB",
              .help = "pi: reference queue length", .source = "Zhu et al., CoNEXT 2016"),
    PARAM_ROW("pi_a", RATIO, ECN(pi_a), .def = "0.000003015", .min = "0", .max = "1",
              .help = "pi: weight of the error, per 1000 B",
              .source = "Hollot et al., INFOCOM 2001; designed for DCQCN, docs/models.md"),
    PARAM_ROW("pi_b", RATIO, ECN(pi_b), .def = "0.000003", .min = "0", .max = "1",
              .help = "pi: weight of the previous error, per 1000 B; at most pi_a",
              .source = "Hollot et al., INFOCOM 2001; designed for DCQCN, docs/models.md"),
    PARAM_ROW("pi_interval", TIME, ECN(pi_interval_ps), .def = "50us", .min = "1ns", .max = "1s",
              .help = "pi: time between updates of the probability",
              .source = "the CNP window; docs/models.md has the range in which it is stable"),
};
const size_t n_ecn_params = sizeof ecn_params / sizeof *ecn_params;
