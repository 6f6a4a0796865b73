// SPDX-License-Identifier: MIT
// The settings of the UEC transport.
#pragma once

#include "transport/transport_spec.h"

struct uec_spec {
    int spray; // enum spray_kind
    uint64_t mtu_bytes, entropies, ack_every_bytes, retry_limit;
    ps_t rto_ps; // PARAM_AUTO_TIME = computed from the path
    bool destination_control;
    ps_t probe_every_ps;
};
_Static_assert(sizeof(struct uec_spec) <= TRANSPORT_OWN_BYTES, "UEC's settings fit");

static inline const struct uec_spec *uec_spec_const(const struct transport_spec *t)
{
    return (const void *)t->own;
}

// Return the sizes of packets: data, ACK, NACK, and what the packet delivery sublayer calls control
// packets (credits, requests for credits, probes).
struct packet_sizes uec_data_sizes(const struct transport_spec *t, uint32_t payload, bool first);
struct packet_sizes uec_ack_sizes(const struct transport_spec *t);
struct packet_sizes uec_nack_sizes(const struct transport_spec *t);
struct packet_sizes uec_control_sizes(const struct transport_spec *t);
