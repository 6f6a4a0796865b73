// SPDX-License-Identifier: MIT
// A packet as it is in a capture.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// Link types of pcap that are read. Two values of the raw type: that of files, and that of libpcap.
enum link_type {
    LINK_NULL = 0,
    LINK_ETHERNET = 1,
    LINK_RAW_LIBPCAP = 12,
    LINK_RAW = 101,
    LINK_LOOP = 108,
    LINK_SLL = 113,
    LINK_IPV4 = 228,
    LINK_IPV6 = 229,
    LINK_SLL2 = 276,
};

// Bytes of a packet that are looked at: link header, tags, IPv6 with extensions, transport headers.
#define CAPTURED_MAX 512

struct captured {
    int64_t ns;           // absolute time, within CAPTURED_NS_MAX of 1970
    const uint8_t *bytes; // valid until the next packet is read
    uint32_t kept;        // how many there are, at most CAPTURED_MAX
    uint32_t length;      // of the packet on the wire
    int link;             // enum link_type, or a type that is not read
    bool timed;           // false in simple packet blocks, which have no time
    bool dropped;         // from an interface "PLACE drops" of a capture of collwire
};

#define CAPTURED_NS_MAX INT64_C(4000000000000000000)
