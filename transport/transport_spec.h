// SPDX-License-Identifier: MIT
// The settings of a transport and its NICs, as a scenario gives them: first those of all
// transports, then those of the chosen transport.
#pragma once

#include <stdalign.h>
#include <stddef.h>

#include "engine/base/param.h"
#include "engine/base/units.h"

enum admission_kind { ADMISSION_NONE, ADMISSION_CTS };
enum overhead_mode { OVERHEAD_ETHERNET, OVERHEAD_NONE, OVERHEAD_CUSTOM };

#define TRANSPORT_OWN_BYTES 192

struct transport_ops;

struct transport_spec {
    const struct transport_ops *ops; // the kind
    const char *name;                // name for jobs and `cc`: that of the kind, or one of its own
    uint64_t cls;                    // class of its data; PARAM_AUTO = as the job defines
    bool stripe;                     // split each message over all planes
    ps_t start_jitter_ps;
    double clock_ppm;
    int overhead;                         // enum overhead_mode
    uint64_t overhead_data, overhead_ack; // OVERHEAD_CUSTOM: bytes beyond the payload
    bool hints;        // messages carry hints of their posters, struct cc_hint (collwire/hint.h)
    double hint_error; // their counts are wrong by a random share, at most this up or down
    /* admission */
    int admission; // enum admission_kind
    uint64_t channels, slots, slot_bytes, grant_bytes;
    ps_t slot_copy_ps; // from the delivery of a piece until its slot is free
    /* derived */
    uint32_t int_bytes; // bytes of INT after the IP packet, in data and ACKs
    /* settings of the transport: ops->spec_bytes, described by ops->params */
    alignas(max_align_t) unsigned char own[TRANSPORT_OWN_BYTES];
};

// Settings of all transports. `wire_overhead` is a word or an object {"data", "ack"}; config/ maps
// it.
extern const struct param transport_params[], overhead_params[];
extern const size_t n_transport_params, n_overhead_params;
extern const char *const overhead_words[]; // "ethernet", "none", NULL

// Sizes of a packet in bytes: in a queue, and on the link.
struct packet_sizes {
    uint32_t frame, wire;
};

// Returns the sizes of a packet of `frame` bytes without FCS under the spec's overhead.
// `custom_bytes` is the size under OVERHEAD_CUSTOM.
struct packet_sizes packet_sizes_of(const struct transport_spec *t, uint32_t frame,
                                    uint32_t custom_bytes);

// Returns the sizes of a packet whose frame with FCS is given.
struct packet_sizes packet_sizes_of_frame(const struct transport_spec *t, uint32_t frame_bytes);

// Set the transport to `ops` and all its settings to their defaults.
void transport_spec_init(struct transport_spec *t, const struct transport_ops *ops);
