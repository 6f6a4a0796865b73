// SPDX-License-Identifier: MIT
// The settings of all transports.
#include "transport/transport_spec.h"

#include "transport/transport.h"

const char *const overhead_words[] = {"ethernet", "none", NULL};

static const char *const admissions[] = {"none", "cts", NULL};

#define TR(f) offsetof(struct transport_spec, f)
const struct param transport_params[] = {
    PARAM_ROW("class", COUNT, TR(cls), .def = "auto", .max = "5", .can_auto = true,
              .help = "traffic class of data in this dimension; auto = the job's, or that of "
                      "the kind where the dimension has another kind of transport than the "
                      "network",
              .source = "IEEE 802.1Q priority"),
    PARAM_ROW("stripe", BOOL, TR(stripe), .def = "true",
              .help = "split each message equally over all planes of its dimension, or over the "
                      "parallel links to a neighbour, with a queue pair each; the message has "
                      "one record",
              .source = "NVLink spreads over all NVSwitches; NCCL_IB_SPLIT_DATA_ON_QPS"),
    PARAM_ROW("start_jitter", TIME, TR(start_jitter_ps), .def = "0ns", .min = "0ns", .max = "1s",
              .help = "all starts of a rank are late by one random time, at most this",
              .source = "breaks ties of identical ranks"),
    PARAM_ROW("clock_ppm", RATIO, TR(clock_ppm), .def = "0", .min = "0", .max = "1000",
              .help = "each NIC's line rate deviates by a random share, at most this up or down",
              .source = "IEEE 802.3: 100 ppm"),
    PARAM_ROW("hints", BOOL, TR(hints), .def = "true",
              .help = "messages carry what the rank's library knows when it posts them: the "
                      "flows of the step at their source and destination (policy tally uses it)",
              .source = "docs/tally.md"),
    PARAM_ROW("hint_error", RATIO, TR(hint_error), .def = "0", .min = "0", .max = "0.9",
              .help = "the counts of hints are wrong by a random share, at most this up or down",
              .source = "to find out what a wrong hint costs"),
    PARAM_ROW(
        "admission", ENUM, TR(admission), .def = "none", .choices = admissions,
        .help =
            "cts: a message is cut into pieces of at most slot_bytes, and each waits for a slot "
            "of the receiver, which grants it in the control class (clear to send)",
        .source = "Gangidi et al., SIGCOMM 2024, section 5.3"),
    PARAM_ROW("channels", COUNT, TR(channels), .def = "1", .min = "1", .max = "64",
              .help = "admission cts: channels per sender and receiver, with connections of their "
                      "own; pieces take them in turn",
              .source = "NCCL_MIN_NCHANNELS, NCCL_MAX_NCHANNELS"),
    PARAM_ROW("slots", COUNT, TR(slots), .def = "8", .min = "1", .max = "1024",
              .help = "admission cts: slots of a channel's buffer; a piece takes one until the "
                      "receiver has copied it",
              .source = "NCCL_STEPS"),
    PARAM_ROW("slot_bytes", BYTES, TR(slot_bytes), .def = "512KiB", .min = "64B", .max = "1GB",
              .help = "admission cts: bytes of a slot",
              .source = "NCCL_BUFFSIZE 4 MiB / NCCL_STEPS"),
    PARAM_ROW("grant_bytes", BYTES, TR(grant_bytes), .def = "64B", .min = "1B", .max = "4096B",
              .help = "admission cts: payload of a grant",
              .source = "NCCL's FIFO element of the IB transport"),
    PARAM_ROW(
        "slot_copy", TIME, TR(slot_copy_ps), .def = "0ns", .min = "0ns", .max = "1s",
        .help = "admission cts: from the delivery of a piece until its slot is free, in which the "
                "receiver copies it out of the channel's buffer",
        .source = "a GPU kernel's copy or reduction"),
};
const size_t n_transport_params = sizeof transport_params / sizeof *transport_params;

const struct param overhead_params[] = {
    PARAM_ROW("data", BYTES, TR(overhead_data), .min = "0B", .max = "1000B",
              .help = "all bytes of a data packet beyond its payload", .source = "cross-checks"),
    PARAM_ROW("ack", BYTES, TR(overhead_ack), .min = "1B", .max = "1000B",
              .help = "all bytes of an ACK or CNP", .source = "cross-checks"),
};
const size_t n_overhead_params = sizeof overhead_params / sizeof *overhead_params;

void transport_complete(struct transport_spec *t, const struct cc_preset *preset,
                        const struct nic_preset *nic)
{
    if (t->ops->complete)
        t->ops->complete(t, preset, nic);
}

void transport_spec_init(struct transport_spec *t, const struct transport_ops *ops)
{
    *t = (struct transport_spec){.ops = ops, .name = ops->name, .overhead = OVERHEAD_ETHERNET};
    params_default(transport_params, n_transport_params, t);
    params_default(ops->params, ops->n_params, t->own);
    for (size_t g = 0; g < ops->n_groups; g++)
        params_default(ops->groups[g].params, ops->groups[g].n_params, t->own);
}
