// SPDX-License-Identifier: MIT
// Parameter tables that several objects share.
#include "config/text/tables.h"

#define TABLE_END(t) const size_t n_##t = sizeof t / sizeof *t

// A receiver needs the whole codeword before it can correct it, and some 37 ns to encode and
// correct (the figure presented to IEEE P802.3dj). RS(544,514) has 5440 bits: at 400 Gb/s two
// codewords are interleaved and at 800 Gb/s four, 25.6 ns; at 100 Gb/s one takes 51.2 ns, as the
// 5280 bits of RS(528,514) do.
static const char *const codes[] = {"rs544", "63ns", "rs544_100g", "88ns", "rs528", "88ns", NULL};

const struct param link_params[] = {
    PARAM_ROW(
        "rate", RATE, offsetof(struct link_spec, rate_bps), .def = "100Gbps", .min = "1Mbps",
        .max = "100Tbps",
        .help =
            "line rate of each direction; beside `reverse` of the one away from the rank or the "
            "lower tier, to the next rank, or from a to b"),
    PARAM_ROW("delay", TIME, offsetof(struct link_spec, delay_ps), .def = "1us", .min = "0ns",
              .max = "1s",
              .help = "propagation delay of each direction; beside `reverse` of that direction"),
    PARAM_ROW(
        "fec", TIME, offsetof(struct link_spec, fec_ps), .def = "0ns", .min = "0ns", .max = "1ms",
        .choices = codes,
        .help = "forward error correction, added to the delay of either direction: a time, or that "
                "of a code (rs544 of 400 and 800 Gb/s 63 ns, rs544_100g and rs528 88 ns)",
        .source = "IEEE 802.3, clauses 91 and 119; docs/switches.md"),
};
TABLE_END(link_params);

#define FL(f) offsetof(struct flow_params, f)
const struct param flow_params[] = {
    PARAM_ROW("src", COUNT, FL(src), .help = "rank that sends"),
    PARAM_ROW("dst", COUNT, FL(dst), .help = "rank that receives"),
    PARAM_ROW("bytes", BYTES, FL(bytes), .min = "1B", .max = "1PB", .help = "payload"),
    PARAM_ROW("start", TIME, FL(start_ps), .def = "0ns", .min = "0ns", .max = "100000s",
              .help = "after the start of the job"),
};
TABLE_END(flow_params);

#define ST(f) offsetof(struct straggler_params, f)
const struct param straggler_params[] = {
    PARAM_ROW("rank", COUNT, ST(rank), .help = "of the job"),
    PARAM_ROW("factor", RATIO, ST(factor), .min = "0", .max = "1000000",
              .help = "on its compute times"),
};
TABLE_END(straggler_params);
