// SPDX-License-Identifier: MIT
// Reads the packets of a capture one after the other; memory grows with connections and messages,
// not with packets.
#include "cli/replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "cli/replay/dissect.h"
#include "cli/replay/replay_bytes.h"
#include "cli/replay/replay_packets.h"
#include "cli/replay/roce_messages.h"
#include "cli/replay/tcp_transfers.h"
#include "engine/base/memory.h"
#include "engine/base/table.h"
#include "net/wire/ip.h"

/* ---- bth ---- */

// Headers of RoCEv2 behind UDP: BTH, and the length of a message in the extended headers.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  |    opcode     |S|M|pad|  tver |             p_key             |
//  |F|B| reserved  |               destination QP                  |
//  |A|  reserved   |                     PSN                       |
//
// Source: InfiniBand Architecture Specification, volume 1, sections 9.2 and 9.3; annex A14 (XRC),
// annex A17 (RoCEv2).

#define BTH_BYTES 12
#define RETH_BYTES 16
#define AETH_BYTES 4
#define IMMEDIATE_BYTES 4 // and the IETH of an invalidation
#define XRCETH_BYTES 4
#define ICRC_BYTES 4
#define OPCODE_CNP 0x81

enum service { SERVICE_RC = 0, SERVICE_UC = 1, SERVICE_UD = 3, SERVICE_XRC = 5 };
enum position { MIDDLE = 0, FIRST = 1, LAST = 2, ONLY = FIRST | LAST };

struct opcode {
    uint8_t skip; // enum skip
    uint8_t operation, position;
    uint8_t extension; // bytes between BTH and payload
};

#define ROW(operation, position, extension)                                                        \
    {                                                                                              \
        SKIP_NONE, BTH_##operation, position, extension                                            \
    }

// Operations of the BTH by the low five bits of the opcode (the high three bits are the service:
// reliable connection, datagram, and so on, which number their operations in the same way).
static const struct opcode opcodes[] = {
    [0x00] = ROW(SEND, FIRST, 0),
    [0x01] = ROW(SEND, MIDDLE, 0),
    [0x02] = ROW(SEND, LAST, 0),
    [0x03] = ROW(SEND, LAST, IMMEDIATE_BYTES),
    [0x04] = ROW(SEND, ONLY, 0),
    [0x05] = ROW(SEND, ONLY, IMMEDIATE_BYTES),
    [0x06] = ROW(WRITE, FIRST, RETH_BYTES),
    [0x07] = ROW(WRITE, MIDDLE, 0),
    [0x08] = ROW(WRITE, LAST, 0),
    [0x09] = ROW(WRITE, LAST, IMMEDIATE_BYTES),
    [0x0a] = ROW(WRITE, ONLY, RETH_BYTES),
    [0x0b] = ROW(WRITE, ONLY, RETH_BYTES + IMMEDIATE_BYTES),
    [0x0c] = ROW(READ_REQUEST, ONLY, RETH_BYTES),
    [0x0d] = ROW(READ_RESPONSE, FIRST, AETH_BYTES),
    [0x0e] = ROW(READ_RESPONSE, MIDDLE, 0),
    [0x0f] = ROW(READ_RESPONSE, LAST, AETH_BYTES),
    [0x10] = ROW(READ_RESPONSE, ONLY, AETH_BYTES),
    [0x11] = {.skip = SKIP_ROCE_ACK},
    [0x12] = {.skip = SKIP_ATOMIC},
    [0x13] = {.skip = SKIP_ATOMIC},
    [0x14] = {.skip = SKIP_ATOMIC},
    [0x15] = {.skip = SKIP_OPCODE},
    [0x16] = ROW(SEND, LAST, IMMEDIATE_BYTES),
    [0x17] = ROW(SEND, ONLY, IMMEDIATE_BYTES),
};

static struct opcode opcode_find(uint8_t code)
{
    unsigned service = code >> 5, low = code & 0x1f;
    bool known = low < sizeof opcodes / sizeof *opcodes;
    if (code == OPCODE_CNP)
        return (struct opcode){.skip = SKIP_CNP};
    if (service == SERVICE_UD)
        return (struct opcode){.skip = SKIP_DATAGRAM};
    if (!known || (service != SERVICE_RC && service != SERVICE_XRC &&
                   !(service == SERVICE_UC && low <= 0x0b)))
        return (struct opcode){.skip = SKIP_OPCODE};
    struct opcode opcode = opcodes[low];
    if (service == SERVICE_XRC && opcode.operation != BTH_READ_RESPONSE) // requests have an XRCETH
        opcode.extension = (uint8_t)(opcode.extension + XRCETH_BYTES);
    return opcode;
}

// Read the headers from the BTH on; body.length is the payload of UDP. Returns SKIP_NONE, or why
// the packet carries no part of a message.
static enum skip bth_read(const struct span *body, struct bth *out)
{
    const uint8_t *at = body->at;
    if (body->kept < 1)
        return SKIP_CUT;
    struct opcode opcode = opcode_find(at[0]);
    if (opcode.skip != SKIP_NONE)
        return opcode.skip;
    if (body->kept < BTH_BYTES)
        return SKIP_CUT;
    size_t pad = at[1] >> 4 & 3, headers = (size_t)BTH_BYTES + opcode.extension;
    if (body->length < headers + pad + ICRC_BYTES)
        return SKIP_MALFORMED;
    *out = (struct bth){
        .operation = opcode.operation,
        .first = opcode.position & FIRST,
        .last = opcode.position & LAST,
        .qpn = get24(at + 5),
        .psn = get24(at + 9),
        .payload = (uint32_t)(body->length - headers - pad - ICRC_BYTES),
    };
    // An immediate value stands behind the RETH, an XRCETH before it.
    bool has_reth = opcode.extension >= RETH_BYTES;
    size_t before = at[0] >> 5 == SERVICE_XRC ? XRCETH_BYTES : 0;
    if (has_reth && body->kept >= BTH_BYTES + before + RETH_BYTES) {
        out->message_bytes = get32(at + BTH_BYTES + before + 12);
        out->sized = true;
    }
    return SKIP_NONE;
}

/* ---- connections ---- */

enum connection_kind { CONNECTION_REQUESTS, CONNECTION_RESPONSES, CONNECTION_TCP };

struct connection_key {
    struct address src, dst;
    uint32_t number; // destination QP, or source port << 16 | destination port
    uint32_t kind;   // enum connection_kind: requests and responses of RoCE count PSNs of their own
};

struct connection {
    struct connection_key key;
    uint32_t peer; // TCP: the connection of the other direction + 1; 0 = not captured
    union {
        struct roce_messages roce;
        struct tcp_transfers tcp;
    };
};

#define CONNECTIONS_MAX (1u << 20)

struct connections {
    struct connection *list;
    size_t n, cap;
    struct table number_of; // a connection_key
};

_Static_assert(sizeof(struct connection_key) == 40, "keys are compared as bytes");

// The connection with this key; NULL = there is none.
static struct connection *connection_find(const struct connections *all,
                                          const struct connection_key *key)
{
    size_t number = table_find(&all->number_of, key, sizeof *key);
    return number > 0 ? &all->list[number - 1] : NULL;
}

// The connection with this key, made if it is new. Returns NULL if there are CONNECTIONS_MAX. The
// pointer is valid until the next call.
static struct connection *connection_get(struct connections *all, const struct connection_key *key,
                                         bool *made)
{
    struct connection *found = connection_find(all, key);
    *made = found == NULL && all->n < CONNECTIONS_MAX;
    if (!*made)
        return found;
    if (all->n == all->cap)
        all->list = memory_grow(all->list, &all->cap, sizeof *all->list);
    all->list[all->n] = (struct connection){.key = *key};
    *table_at(&all->number_of, key, sizeof *key) = ++all->n;
    return &all->list[all->n - 1];
}

// End all of them and free.
static void connections_finish(struct connections *all, struct flow_rows *rows)
{
    for (size_t i = 0; i < all->n; i++) {
        if (all->list[i].key.kind == CONNECTION_TCP)
            tcp_transfers_finish(&all->list[i].tcp, rows);
        else
            roce_messages_finish(&all->list[i].roce, rows);
    }
    free(all->list);
    table_free(&all->number_of);
    *all = (struct connections){0};
}

/* ---- replay ---- */

#define UDP_BYTES 8

enum udp_port {
    PORT_PSP = 1000,
    PORT_ESP = 4500, // ESP in UDP (RFC 3948)
    PORT_VXLAN = 4789,
    PORT_ROCE = 4791,
    PORT_GENEVE = 6081,
};

#define WORDS(constant, words) words,
const char *const skip_words[SKIP_REASONS] = {SKIP_LIST(WORDS)};
const char *const left_words[LEFT_REASONS] = {LEFT_LIST(WORDS)};
#undef WORDS

struct reading {
    struct replay *replay;
    struct connections connections;
    struct captured_hosts *hosts; // NULL = not wanted
    int64_t gap_ns;
    int64_t previous_ns; // time of the packet before
};

/* ---- connections ---- */

// The connection of a packet, with endpoints. NULL if there are too many.
static struct connection *connection_of(struct reading *r, const struct datagram *d,
                                        enum connection_kind kind, uint32_t number, bool *made)
{
    struct connection_key key = {.src = d->src, .dst = d->dst, .number = number, .kind = kind};
    return connection_get(&r->connections, &key, made);
}

static void endpoints_of(struct reading *r, const struct datagram *d, uint32_t *src, uint32_t *dst)
{
    struct flow_rows *flows = &r->replay->flows;
    *src = endpoint_get(flows, &d->src);
    *dst = endpoint_get(flows, &d->dst);
    flows->endpoints[*src].foreign |= !d->own;
    flows->endpoints[*dst].foreign |= !d->own;
}

/* ---- RoCE ---- */

static enum skip roce_seen(struct reading *r, const struct datagram *d, const struct span *body,
                           int64_t ns)
{
    struct bth bth;
    bool made;
    enum skip skip = bth_read(body, &bth);
    if (skip == SKIP_NONE && bth.operation == BTH_READ_REQUEST && !bth.sized)
        skip = SKIP_CUT;
    if (skip != SKIP_NONE)
        return skip;
    enum connection_kind kind =
        bth.operation == BTH_READ_RESPONSE ? CONNECTION_RESPONSES : CONNECTION_REQUESTS;
    struct connection *c = connection_of(r, d, kind, bth.qpn, &made);
    if (c == NULL)
        return SKIP_CONNECTIONS;
    if (made) {
        c->roce.origin = kind == CONNECTION_RESPONSES ? FLOW_READ_RESPONSE : FLOW_SENT;
        endpoints_of(r, d, &c->roce.src, &c->roce.dst);
    }
    return roce_messages_add(&c->roce, &bth, ns, &r->replay->flows) ? SKIP_NONE : SKIP_SEEN;
}

/* ---- TCP ---- */

// Find the other direction of a new connection.
static void peer_join(struct reading *r, struct connection *c)
{
    uint32_t ports = c->key.number;
    struct connection_key key = {.src = c->key.dst,
                                 .dst = c->key.src,
                                 .number = ports << 16 | ports >> 16,
                                 .kind = CONNECTION_TCP};
    struct connection *peer = connection_find(&r->connections, &key);
    if (peer == NULL || peer == c)
        return;
    c->peer = (uint32_t)(peer - r->connections.list) + 1;
    peer->peer = (uint32_t)(c - r->connections.list) + 1;
}

static enum skip tcp_seen(struct reading *r, const struct datagram *d, int64_t ns)
{
    struct tcp_segment segment;
    bool made;
    enum skip skip = tcp_segment_read(&d->body, &segment);
    if (skip != SKIP_NONE)
        return skip;
    struct connection *c =
        connection_of(r, d, CONNECTION_TCP, get32(d->body.at), &made); // both ports
    if (c == NULL)
        return SKIP_CONNECTIONS;
    if (made) {
        c->tcp.own = d->own;
        endpoints_of(r, d, &c->tcp.src, &c->tcp.dst);
        peer_join(r, c);
    }
    struct connection *peer = c->peer > 0 ? &r->connections.list[c->peer - 1] : NULL;
    if (tcp_transfers_add(&c->tcp, peer ? &peer->tcp : NULL, &segment, ns, r->gap_ns,
                          &r->replay->flows))
        return SKIP_NONE;
    return segment.payload == 0 ? SKIP_TCP_EMPTY : SKIP_SEEN;
}

/* ---- packets ---- */

static enum skip udp_seen(struct reading *r, const struct datagram *d, int64_t ns)
{
    struct span body = d->body;
    if (body.kept < UDP_BYTES)
        return SKIP_CUT;
    size_t length = get16(body.at + 4);
    switch (get16(body.at + 2)) {
    case PORT_ROCE:
        break;
    case PORT_PSP:
        return SKIP_PSP;
    case PORT_ESP:
        return SKIP_IPSEC;
    case PORT_VXLAN:
    case PORT_GENEVE:
        return SKIP_TUNNEL;
    default:
        return SKIP_OTHER_IP;
    }
    if (length < UDP_BYTES || length > body.length)
        return SKIP_MALFORMED;
    body.at += UDP_BYTES;
    body.kept -= UDP_BYTES;
    body.length = length - UDP_BYTES;
    return roce_seen(r, d, &body, ns);
}

static void packet_seen(struct reading *r, const struct captured *packet)
{
    struct replay *replay = r->replay;
    struct datagram datagram;
    if (packet->timed) {
        bool first = replay->packets == replay->skipped[SKIP_UNTIMED];
        replay->unordered += !first && packet->ns < r->previous_ns;
        r->previous_ns = packet->ns;
        if (first || packet->ns < replay->first_ns)
            replay->first_ns = packet->ns;
        if (first || packet->ns > replay->last_ns)
            replay->last_ns = packet->ns;
    }
    replay->packets++;
    enum skip skip = dissect(packet, &datagram);
    bool addressed = skip == SKIP_NONE;
    if (skip == SKIP_NONE && datagram.protocol == IP_PROTOCOL_TCP)
        skip = tcp_seen(r, &datagram, packet->ns);
    else if (skip == SKIP_NONE)
        skip = udp_seen(r, &datagram, packet->ns);
    if (addressed && r->hosts)
        captured_host_note(r->hosts, &datagram, skip);
    if (skip == SKIP_NONE)
        replay->used++;
    else
        replay->skipped[skip]++;
}

int replay_read(struct replay *replay, const char *path, int64_t gap_ns,
                struct captured_hosts *hosts, struct err *err)
{
    *replay = (struct replay){0};
    struct packets *packets = packets_open(path, err);
    if (packets == NULL)
        return -1;
    struct reading r = {.replay = replay, .hosts = hosts, .gap_ns = gap_ns};
    struct captured packet;
    int code;
    while ((code = packets_next(packets, &packet)) == 1)
        packet_seen(&r, &packet);
    if (code < 0)
        replay->failure = memory_text(packets_failure(packets));
    packets_close(packets);
    connections_finish(&r.connections, &replay->flows);
    return 0;
}

void replay_free(struct replay *replay)
{
    flow_rows_free(&replay->flows);
    free(replay->failure);
    replay->failure = NULL;
}
