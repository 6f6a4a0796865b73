// SPDX-License-Identifier: MIT
// Settings of a transport and its NICs, as a scenario gives them: those that all transports share, and the
// transport's own behind them.
#pragma once

#include <stdalign.h>
#include <stddef.h>

#include "engine/param.h"
#include "engine/units.h"

enum overhead_mode { OVERHEAD_ETHERNET, OVERHEAD_NONE, OVERHEAD_CUSTOM };

#define TRANSPORT_OWN_BYTES 192

struct transport_ops;

struct transport_spec {
    const struct transport_ops *ops; // the kind
    uint64_t cls;                    // of data, PARAM_AUTO = the job's
    bool stripe;                     // a message is cut over all planes
    ps_t start_jitter_ps;
    double clock_ppm;
    int overhead;                         // enum overhead_mode
    uint64_t overhead_data, overhead_ack; // OVERHEAD_CUSTOM: bytes beyond the payload
    /* derived */
    uint32_t int_bytes; // of INT behind the IP packet, in data and ACKs
    /* ops->spec_bytes that ops->params describes */
    alignas(max_align_t) unsigned char own[TRANSPORT_OWN_BYTES];
};

// Settings that all transports have. `wire_overhead` is a word or an object {"data", "ack"}: config maps it.
extern const struct param transport_params[], overhead_params[];
extern const size_t n_transport_params, n_overhead_params;
extern const char *const overhead_words[]; // "ethernet", "none", NULL

// Bytes of a packet: what a queue holds and what the line spends.
struct packet_sizes {
    uint32_t frame, wire;
};

// Of a packet of `frame` bytes without FCS under the spec's overhead; custom_bytes where it is OVERHEAD_CUSTOM.
struct packet_sizes packet_sizes_of(const struct transport_spec *t, uint32_t frame,
                                    uint32_t custom_bytes);

// The transport `ops` with the defaults of all its settings.
void transport_spec_init(struct transport_spec *t, const struct transport_ops *ops);
