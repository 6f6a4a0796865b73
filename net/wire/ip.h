// SPDX-License-Identifier: MIT
// Ethernet II and IPv4 headers, shared by every transport's encoder.
#pragma once

#include <stdint.h>

#define ETHERNET_BYTES 14
#define ETHERNET_MIN_BYTES 60 // minimum frame without FCS; shorter frames are padded
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_MAC_CONTROL 0x8808
#define IPV4_BYTES 20
#define IP_PROTOCOL_TCP 6
#define IP_PROTOCOL_UDP 17

// The DSCP of each class: AF31 for RoCE's usual class 3 (from vendors' guides), class selectors
// (RFC 2474) for the others. DSCP / 8 is the class in all cases, which is the default mapping of
// switches.
static inline uint8_t dscp_of_class(unsigned cls) { return (uint8_t)(cls == 3 ? 26 : 8 * cls); }

enum ip_ecn { IP_NOT_ECT = 0, IP_ECT0 = 2, IP_CE = 3 };

struct ipv4_fields {
    uint32_t src, dst;
    uint16_t total_bytes; // header and payload
    uint16_t id;
    uint8_t tos; // DSCP << 2 | enum ip_ecn
    uint8_t ttl, protocol;
};

// Write an Ethernet header of ETHERNET_BYTES at `at` and return the byte after it. MACs as in
// address.h.
uint8_t *ethernet_put(uint8_t *at, uint64_t dst_mac, uint64_t src_mac, uint16_t ethertype);

// Write an IPv4 header of IPV4_BYTES at `at` (no options, "don't fragment" set, checksum computed)
// and return the byte after it.
uint8_t *ipv4_put(uint8_t *at, const struct ipv4_fields *f);
