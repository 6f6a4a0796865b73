// SPDX-License-Identifier: MIT
// Reads the packets of a capture one after the other; memory grows with connections and messages,
// not with packets.
#include "cli/replay/replay.h"

#include <stdlib.h>

#include "cli/replay/bth.h"
#include "cli/replay/bytes.h"
#include "cli/replay/connections.h"
#include "cli/replay/packets.h"
#include "engine/base/memory.h"
#include "net/wire/ip.h"

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
    if (skip == SKIP_NONE && datagram.protocol == IP_PROTOCOL_TCP)
        skip = tcp_seen(r, &datagram, packet->ns);
    else if (skip == SKIP_NONE)
        skip = udp_seen(r, &datagram, packet->ns);
    if (skip == SKIP_NONE)
        replay->used++;
    else
        replay->skipped[skip]++;
}

int replay_read(struct replay *replay, const char *path, int64_t gap_ns, struct err *err)
{
    *replay = (struct replay){0};
    struct packets *packets = packets_open(path, err);
    if (packets == NULL)
        return -1;
    struct reading r = {.replay = replay, .gap_ns = gap_ns};
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
