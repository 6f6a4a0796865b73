// SPDX-License-Identifier: MIT
// Sizes of UEC packets on the link.
//
// Data: Ethernet 14 + IPv4 20 + UDP 8 + packet delivery header (RUD request with congestion control
// state) 16 + semantic header (standard request) 44 + payload. ACK: delivery header with congestion
// control state 32. NACK and control packets: 16. Neither CRC nor encryption.
#include "transport/uec/uec_spec.h"

enum {
    BASE = 14 + 20 + 8,
    PDS_REQUEST = 16,
    SES_REQUEST = 44,
    PDS_ACK_CC = 32,
    PDS_NACK = 16,
    PDS_CONTROL = 16,
};

struct packet_sizes uec_data_sizes(const struct transport_spec *t, uint32_t payload, bool first)
{
    (void)first;
    return packet_sizes_of(t, BASE + PDS_REQUEST + SES_REQUEST + payload,
                           payload + (uint32_t)t->overhead_data);
}

struct packet_sizes uec_ack_sizes(const struct transport_spec *t)
{
    return packet_sizes_of(t, BASE + PDS_ACK_CC, (uint32_t)t->overhead_ack);
}

struct packet_sizes uec_nack_sizes(const struct transport_spec *t)
{
    return packet_sizes_of(t, BASE + PDS_NACK, (uint32_t)t->overhead_ack);
}

struct packet_sizes uec_control_sizes(const struct transport_spec *t)
{
    return packet_sizes_of(t, BASE + PDS_CONTROL, (uint32_t)t->overhead_ack);
}
