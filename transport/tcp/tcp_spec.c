// SPDX-License-Identifier: MIT
// Sizes of TCP packets on the link: Ethernet 14 + IPv4 20 + TCP 20, timestamps 12 with padding
// (RFC 7323), SACK blocks 4 + 8 each (RFC 2018). The options of a SYN take 20 bytes with
// timestamps: MSS 4, SACK permitted 2, timestamps 10, padding 1, window scale 3.
#include "transport/tcp/tcp_spec.h"

enum {
    BASE = 14 + 20 + 20,
    TIMESTAMPS = 12,
    SYN_OPTIONS = 4 + 4 + 4, // MSS, SACK permitted and padding, window scale and padding
    SYN_OPTIONS_WITH_TIMESTAMPS = 20,
    SACK_HEAD = 4,
    SACK_BLOCK = 8,
};

static uint32_t headers(const struct transport_spec *t)
{
    return BASE + (tcp_spec_const(t)->timestamps ? TIMESTAMPS : 0u);
}

struct packet_sizes tcp_data_sizes(const struct transport_spec *t, uint32_t payload, bool first)
{
    (void)first;
    return packet_sizes_of(t, headers(t) + payload, payload + (uint32_t)t->overhead_data);
}

struct packet_sizes tcp_ack_sizes(const struct transport_spec *t, unsigned sack_blocks)
{
    uint32_t sack = sack_blocks > 0 ? SACK_HEAD + SACK_BLOCK * sack_blocks : 0;
    return packet_sizes_of(t, headers(t) + sack, (uint32_t)t->overhead_ack);
}

struct packet_sizes tcp_syn_sizes(const struct transport_spec *t)
{
    uint32_t options = tcp_spec_const(t)->timestamps ? SYN_OPTIONS_WITH_TIMESTAMPS : SYN_OPTIONS;
    return packet_sizes_of(t, BASE + options, (uint32_t)t->overhead_ack);
}
