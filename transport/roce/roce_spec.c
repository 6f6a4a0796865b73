// SPDX-License-Identifier: MIT
// Automatic values of RoCE's settings, and the sizes of packets on the link.
//
// Data: Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 (+ RETH 16) + payload padded to 4 + ICRC 4
// (InfiniBand annex A17). ACK: AETH 4 instead of RETH and payload. CNP: BTH + 16 reserved bytes.
// INT is a trailer of fixed size after the IP packet of data and ACKs.
#include "transport/roce/roce_spec.h"

#include "transport/transport.h"

static void complete_time(ps_t *time_ps, ps_t of_nic_ps)
{
    if (*time_ps == PARAM_AUTO_TIME)
        *time_ps = of_nic_ps;
}

// What NICs do about congestion and loss.
static void complete_by_nic(struct roce_spec *spec, const struct nic_reactions *nic)
{
    complete_time(&spec->cnp_delay_ps, nic->cnp_delay_ps);
    complete_time(&spec->nak_repeat_ps, nic->nak_repeat_ps);
    complete_time(&spec->slow_restart_ps, nic->slow_restart_ps);
    complete_time(&spec->rto_adaptive_ps, nic->rto_adaptive_ps);
    if (spec->nak_cnp == NAK_CNP_AUTO)
        spec->nak_cnp = nic->nak_cnp ? NAK_CNP_TRUE : NAK_CNP_FALSE;
    if (spec->window_packets == PARAM_AUTO)
        spec->window_packets = nic->window_packets;
}

void roce_complete(struct transport_spec *t, const struct cc_preset *preset,
                   const struct nic_preset *nic)
{
    struct roce_spec *spec = roce_spec_of(t);
    struct cc_notification n = cc_notification_of(preset);
    if (spec->cnp == CNP_AUTO)
        spec->cnp = (int)n.cnp;
    if (spec->cnp_scope == CNP_SCOPE_AUTO)
        spec->cnp_scope = (int)n.scope;
    if (spec->cnp_interval_ps == PARAM_AUTO_TIME)
        spec->cnp_interval_ps = n.interval_ps;
    if (nic)
        complete_by_nic(spec, &nic->reactions);
}

enum {
    BASE = 14 + 20 + 8 + 12,
    ICRC = 4,
    RETH = 16,
    AETH = 4,
    CNP_BODY = 16,
};

static uint32_t padded(uint32_t bytes) { return (bytes + 3) / 4 * 4; }

struct packet_sizes roce_data_sizes(const struct transport_spec *t, uint32_t payload, bool first)
{
    uint32_t headers = BASE + (first ? RETH : 0u) + t->int_bytes;
    return packet_sizes_of(t, headers + padded(payload) + ICRC,
                           payload + (uint32_t)t->overhead_data + t->int_bytes);
}

struct packet_sizes roce_ack_sizes(const struct transport_spec *t)
{
    return packet_sizes_of(t, BASE + AETH + t->int_bytes + ICRC,
                           (uint32_t)t->overhead_ack + t->int_bytes);
}

struct packet_sizes roce_cnp_sizes(const struct transport_spec *t)
{
    return packet_sizes_of(t, BASE + CNP_BODY + ICRC, (uint32_t)t->overhead_ack);
}
