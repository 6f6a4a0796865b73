// SPDX-License-Identifier: MIT
// From a captured frame to its transport header: Ethernet with tags, Linux cooked captures, raw IP;
// IPv4 and IPv6.
#pragma once

#include <stddef.h>

#include "cli/replay/ignored.h"
#include "cli/replay/replay_packet.h"

// An IPv6 address; IPv4 as ::ffff:a.b.c.d (RFC 4291), so that IPv4 sorts by its value.
struct address {
    uint8_t bytes[16];
};

// Part of a packet, as far as it was captured.
struct span {
    const uint8_t *at;
    size_t kept;   // bytes at `at`
    size_t length; // bytes on the wire
};

struct datagram {
    struct address src, dst;
    struct span body; // from the transport's header on; its length is that of the IP header
    uint8_t protocol; // IP_PROTOCOL_TCP or IP_PROTOCOL_UDP
    bool congested;   // marked by a switch (CE, RFC 3168)
    bool own;         // addresses and MACs are those of ranks in captures of collwire
};

// Find the transport header of a packet. Returns SKIP_NONE, or why there is none.
enum skip dissect(const struct captured *packet, struct datagram *out);

// The rank of an address in captures of collwire; UINT32_MAX = of no rank.
uint32_t address_own_rank(const struct address *address);
