// SPDX-License-Identifier: MIT
// Link and network headers. Every read is preceded by a check of the captured length.
#include "cli/replay/dissect.h"

#include <string.h>

#include "cli/replay/replay_bytes.h"
#include "net/wire/address.h"
#include "net/wire/ip.h"

#define TAGS_MAX 4
#define EXTENSIONS_MAX 8
#define IPV6_BYTES 40
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_ROCE_V1 0x8915
#define ETHERTYPE_MACSEC 0x88e5

enum ip_protocol {
    PROTOCOL_HOP_OPTIONS = 0,
    PROTOCOL_IPV4 = 4,
    PROTOCOL_IPV6 = 41,
    PROTOCOL_ROUTING = 43,
    PROTOCOL_FRAGMENT = 44,
    PROTOCOL_GRE = 47,
    PROTOCOL_ESP = 50,
    PROTOCOL_AH = 51,
    PROTOCOL_OPTIONS = 60,
};

#define ECN_CE 3 // congestion experienced, in two bits

// Advance by `n` bytes; false if fewer were captured.
static bool span_skip(struct span *span, size_t n)
{
    if (span->kept < n)
        return false;
    span->at += n;
    span->kept -= n;
    span->length = span->length > n ? span->length - n : 0;
    return true;
}

/* ---- links ---- */

static bool is_tag(uint16_t type) { return type == 0x8100 || type == 0x88a8 || type == 0x9100; }

// Read an Ethernet type and the tags before it.
static bool type_read(struct span *span, uint16_t *type)
{
    for (unsigned tags = 0; span->kept >= 2; tags++) {
        *type = get16(span->at);
        span_skip(span, 2);
        if (!is_tag(*type) || tags == TAGS_MAX)
            return true;
        if (!span_skip(span, 2)) // priority and VLAN
            return false;
    }
    return false;
}

// The type of a packet by the version of its IP header.
static bool version_read(const struct span *span, uint16_t *type)
{
    if (span->kept == 0)
        return false;
    *type = span->at[0] >> 4 == 6 ? ETHERTYPE_IPV6 : span->at[0] >> 4 == 4 ? ETHERTYPE_IPV4 : 0;
    return true;
}

// Read the link header. Returns false if it is cut.
static bool link_read(int link, struct span *span, uint16_t *type)
{
    switch (link) {
    case LINK_ETHERNET:
        return span_skip(span, 12) && type_read(span, type);
    case LINK_SLL:
        return span_skip(span, 14) && type_read(span, type);
    case LINK_SLL2: // the type stands first; tags, if any, are behind the header
        if (span->kept < 20)
            return false;
        *type = get16(span->at);
        span_skip(span, 20);
        return !is_tag(*type) || (span_skip(span, 2) && type_read(span, type));
    case LINK_NULL:
    case LINK_LOOP:
        return span_skip(span, 4) && version_read(span, type);
    default:
        return version_read(span, type);
    }
}

static bool link_known(int link)
{
    switch (link) {
    case LINK_ETHERNET:
    case LINK_SLL:
    case LINK_SLL2:
    case LINK_NULL:
    case LINK_LOOP:
    case LINK_RAW:
    case LINK_RAW_LIBPCAP:
    case LINK_IPV4:
    case LINK_IPV6:
        return true;
    default:
        return false;
    }
}

static enum skip skip_of_type(uint16_t type)
{
    switch (type) {
    case ETHERTYPE_MAC_CONTROL:
        return SKIP_MAC_CONTROL;
    case ETHERTYPE_ROCE_V1:
        return SKIP_ROCE_V1;
    case ETHERTYPE_MACSEC:
        return SKIP_MACSEC;
    default:
        return SKIP_NOT_IP;
    }
}

/* ---- IP ---- */

static enum skip skip_of_protocol(uint8_t protocol)
{
    switch (protocol) {
    case IP_PROTOCOL_TCP:
    case IP_PROTOCOL_UDP:
        return SKIP_NONE;
    case PROTOCOL_ESP:
    case PROTOCOL_AH:
        return SKIP_IPSEC;
    case PROTOCOL_IPV4:
    case PROTOCOL_IPV6:
    case PROTOCOL_GRE:
        return SKIP_TUNNEL;
    case PROTOCOL_FRAGMENT:
        return SKIP_FRAGMENT;
    default:
        return SKIP_OTHER_IP;
    }
}

static void address_of_ipv4(const uint8_t *at, struct address *address)
{
    *address = (struct address){.bytes = {[10] = 0xff, [11] = 0xff}};
    memcpy(address->bytes + 12, at, 4);
}

// A length of 0 means that the sending NIC divides a larger packet behind the capture point.
static enum skip ipv4_read(struct span span, struct datagram *out)
{
    if (span.kept < IPV4_BYTES)
        return SKIP_CUT;
    size_t header = 4 * (span.at[0] & 0xfu), total = get16(span.at + 2);
    total = total == 0 ? span.length : total;
    if (span.at[0] >> 4 != 4 || header < IPV4_BYTES || total < header)
        return SKIP_MALFORMED;
    if (get16(span.at + 6) & 0x3fff) // more fragments, or an offset
        return SKIP_FRAGMENT;
    out->protocol = span.at[9];
    out->congested = (span.at[1] & ECN_CE) == ECN_CE;
    address_of_ipv4(span.at + 12, &out->src);
    address_of_ipv4(span.at + 16, &out->dst);
    if (skip_of_protocol(out->protocol) != SKIP_NONE)
        return skip_of_protocol(out->protocol);
    if (!span_skip(&span, header))
        return SKIP_CUT;
    span.length = total - header;
    out->body = span;
    return SKIP_NONE;
}

static bool is_extension(uint8_t protocol)
{
    return protocol == PROTOCOL_HOP_OPTIONS || protocol == PROTOCOL_ROUTING ||
           protocol == PROTOCOL_OPTIONS;
}

static enum skip ipv6_read(struct span span, struct datagram *out)
{
    if (span.kept < IPV6_BYTES)
        return SKIP_CUT;
    if (span.at[0] >> 4 != 6)
        return SKIP_MALFORMED;
    size_t length = get16(span.at + 4);
    out->protocol = span.at[6];
    out->congested = (span.at[1] >> 4 & ECN_CE) == ECN_CE; // of the traffic class
    memcpy(out->src.bytes, span.at + 8, 16);
    memcpy(out->dst.bytes, span.at + 24, 16);
    span_skip(&span, IPV6_BYTES);
    span.length = length == 0 ? span.length : length;
    for (unsigned i = 0; is_extension(out->protocol) && i < EXTENSIONS_MAX; i++) {
        if (span.kept < 2)
            return SKIP_CUT;
        size_t bytes = 8 * (span.at[1] + 1u);
        out->protocol = span.at[0];
        if (bytes > span.length)
            return SKIP_MALFORMED;
        if (!span_skip(&span, bytes))
            return SKIP_CUT;
    }
    out->body = span;
    return skip_of_protocol(out->protocol);
}

/* ---- addresses of ranks ---- */

uint32_t address_own_rank(const struct address *address)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    uint32_t ip = get32(address->bytes + 12);
    bool rank =
        memcmp(address->bytes, mapped, sizeof mapped) == 0 && ip >> 24 == 10 && ip >= rank_ip(0);
    return rank ? ip - rank_ip(0) : UINT32_MAX;
}

// True if both ends of a frame have the MAC and the IPv4 address of a rank.
static bool is_own(const struct captured *packet, const struct datagram *d)
{
    uint32_t src = address_own_rank(&d->src), dst = address_own_rank(&d->dst);
    return packet->link == LINK_ETHERNET && src != UINT32_MAX && dst != UINT32_MAX &&
           get48(packet->bytes) == rank_mac(dst) && get48(packet->bytes + 6) == rank_mac(src);
}

enum skip dissect(const struct captured *packet, struct datagram *out)
{
    struct span span = {packet->bytes, packet->kept, packet->length};
    uint16_t type;
    if (packet->dropped)
        return SKIP_DROPPED;
    if (!link_known(packet->link))
        return SKIP_LINK;
    if (!link_read(packet->link, &span, &type))
        return SKIP_CUT;
    if (type != ETHERTYPE_IPV4 && type != ETHERTYPE_IPV6)
        return skip_of_type(type);
    if (!packet->timed)
        return SKIP_UNTIMED;
    enum skip skip = type == ETHERTYPE_IPV4 ? ipv4_read(span, out) : ipv6_read(span, out);
    out->own = skip == SKIP_NONE && is_own(packet, out);
    return skip;
}
