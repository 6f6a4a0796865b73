// SPDX-License-Identifier: MIT
// The send buffer: the bytes that an application has written and the receiver has not acknowledged.
// A message has left its application when its last byte is in the buffer, and only what is in the
// buffer can be sent.
//
// With transport.send_buffer auto it grows as in Linux (tcp_sndbuf_expand()): room for twice the
// congestion window, which is at least the initial window there, and it never shrinks. Linux counts
// the memory of packets and stops at net.ipv4.tcp_wmem (4 MB by default); here payload counts, and
// the limit is at least the receive window, as on hosts that are configured for their network.
#include "transport/host.h"
#include "transport/tcp/tcp.h"

#define WMEM_MAX (UINT64_C(4) << 20)
#define LEAST_SEGMENTS 10

static uint64_t grown(const struct sender *s)
{
    const struct tcp_sender *t = tcp_of(s);
    uint64_t spec = tcp_sender_spec(s)->send_buffer_bytes;
    if (spec != PARAM_AUTO)
        return spec > s->dim->mtu_bytes ? spec : s->dim->mtu_bytes;
    uint64_t segments = t->cwnd > LEAST_SEGMENTS ? t->cwnd : LEAST_SEGMENTS;
    uint64_t bytes = 2 * segments * s->dim->mtu_bytes;
    if (bytes <= t->buffer_bytes)
        return bytes; // it does not grow, and the limits need not be read
    uint64_t window = sender_id(s)->window_bytes, most = window > WMEM_MAX ? window : WMEM_MAX;
    return bytes < most ? bytes : most;
}

void tcp_buffer_update(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    struct hosts *hosts = sender_hosts(s);
    uint64_t bytes = grown(s);
    t->buffer_bytes = bytes > t->buffer_bytes ? bytes : t->buffer_bytes;
    uint64_t written = t->writes ? tcp_writer_bytes(s) : UINT64_MAX;
    while (t->entering != MESSAGE_NIL) {
        const struct message *m = hosts_message(hosts, t->entering);
        uint64_t end = m->start_byte + m->bytes;
        if (end > s->una_bytes + t->buffer_bytes || end > written)
            break;
        t->entering = m->next;
        if (!hosts->client.entered)
            continue;
        hosts_begin_call(hosts);
        hosts->client.entered(hosts->client.ctx, m->token, now);
        hosts_end_call(hosts);
    }
    if (t->writes)
        tcp_write(s, now);
}

void tcp_buffer_post(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->entering == MESSAGE_NIL)
        t->entering = s->cold.newest;
    tcp_buffer_update(s, now);
}
