// SPDX-License-Identifier: MIT
// Ethernet II and IPv4 header encoders (IEEE 802.3 clause 3; RFC 791).
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  |Version|  IHL  |   DSCP    |ECN|          total length         |
//  |        identification         |flags|     fragment offset     |
//  | time to live  |   protocol    |        header checksum        |
//  |                            source                             |
//  |                          destination                          |

#include "net/wire/ip.h"

#include "net/wire/bytes.h"

#define IPV4_VERSION_IHL 0x45
#define IPV4_DONT_FRAGMENT 0x4000
#define IPV4_CHECKSUM_AT 10

uint8_t *ethernet_put(uint8_t *at, uint64_t dst_mac, uint64_t src_mac, uint16_t ethertype)
{
    at = put48(at, dst_mac);
    at = put48(at, src_mac);
    return put16(at, ethertype);
}

// The Internet checksum (RFC 1071) of an IPv4 header whose checksum field is zero.
static uint16_t ipv4_checksum(const uint8_t *header)
{
    uint32_t sum = 0;
    for (int i = 0; i < IPV4_BYTES; i += 2)
        sum += (uint32_t)header[i] << 8 | header[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

uint8_t *ipv4_put(uint8_t *at, const struct ipv4_fields *f)
{
    uint8_t *header = at;
    at = put8(at, IPV4_VERSION_IHL);
    at = put8(at, f->tos);
    at = put16(at, f->total_bytes);
    at = put16(at, f->id);
    at = put16(at, IPV4_DONT_FRAGMENT);
    at = put8(at, f->ttl);
    at = put8(at, f->protocol);
    at = put16(at, 0);
    at = put32(at, f->src);
    at = put32(at, f->dst);
    put16(header + IPV4_CHECKSUM_AT, ipv4_checksum(header));
    return at;
}
