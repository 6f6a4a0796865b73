// SPDX-License-Identifier: MIT
// TCP headers (RFC 9293, section 3.1), and where one transfer ends and another begins.
#include "cli/replay/tcp_transfers.h"

#include "cli/replay/replay_bytes.h"

#define TCP_BYTES 20
#define WINDOW_MAX (1u << 30) // RFC 7323, section 2.3

enum flag { FLAG_FIN = 1, FLAG_SYN = 2, FLAG_RST = 4, FLAG_PSH = 8, FLAG_ACK = 16 };

enum skip tcp_segment_read(const struct span *body, struct tcp_segment *out)
{
    const uint8_t *at = body->at;
    if (body->kept < 14) // up to the flags
        return SKIP_CUT;
    size_t header = (size_t)(at[12] >> 4) * 4;
    if (header < TCP_BYTES || header > body->length)
        return SKIP_MALFORMED;
    *out = (struct tcp_segment){
        .seq = get32(at + 4),
        .ack = get32(at + 8),
        .payload = (uint32_t)(body->length - header),
        .syn = at[13] & FLAG_SYN,
        .fin = at[13] & FLAG_FIN,
        .rst = at[13] & FLAG_RST,
        .has_ack = at[13] & FLAG_ACK,
        .push = at[13] & FLAG_PSH,
    };
    return SKIP_NONE;
}

void tcp_transfers_finish(struct tcp_transfers *t, struct flow_rows *rows)
{
    if (t->open)
        flow_row_add(rows, t->src, t->dst, t->bytes, t->start_ns, t->end_ns, FLOW_SENT);
    t->open = false;
}

// A SYN begins a connection; a repeated one has the same number and changes nothing but its time.
static void syn_note(struct tcp_transfers *t, const struct tcp_segment *s, int64_t ns,
                     struct flow_rows *rows)
{
    if (!t->begun || t->next - s->seq - 1 >= WINDOW_MAX) {
        tcp_transfers_finish(t, rows);
        t->begun = true;
        t->next = s->seq + 1;
    }
    if (t->open)
        return;
    t->opens = !s->has_ack;
    t->syn_ns = ns;
    if (t->opens && !t->greeted)
        t->start_ns = ns;
    t->greeted = t->opens;
    t->last_ns = ns;
}

// The first segment after the SYN ends the handshake.
static void handshake_note(struct tcp_transfers *t, struct tcp_transfers *peer, int64_t ns)
{
    if (!t->opens)
        return;
    t->opens = false;
    t->last_ns = ns;
    if (peer && peer->begun)
        t->rtt_ns = peer->rtt_ns = ns - t->syn_ns;
}

static int64_t gap_of(const struct tcp_transfers *t, int64_t gap_ns)
{
    return gap_ns > 2 * t->rtt_ns ? gap_ns : 2 * t->rtt_ns;
}

// An acknowledgment for the other direction.
static void ack_note(struct tcp_transfers *peer, const struct tcp_segment *s, int64_t ns)
{
    peer->answers = true;
    if (peer->begun && peer->open && !peer->acked && s->ack - peer->next < WINDOW_MAX) {
        peer->acked = true;
        peer->acked_ns = ns;
    }
}

// True if the next new byte at `ns` begins another transfer.
static bool ends(const struct tcp_transfers *t, int64_t ns, int64_t gap_ns)
{
    int64_t gap = gap_of(t, gap_ns);
    if (t->own)
        return t->pushed;
    if (!t->answers)
        return ns - t->last_ns > gap;
    return t->acked && (t->turned || ns - t->acked_ns > gap);
}

// Returns the number of new bytes of a segment.
static uint32_t advance(struct tcp_transfers *t, const struct tcp_segment *s)
{
    uint32_t begin = s->seq + s->syn, end = begin + s->payload;
    if (!t->begun) { // the connection is older than the capture
        t->begun = true;
        t->next = begin;
    }
    uint32_t fresh = end - t->next;
    if (s->payload == 0 || fresh == 0 || fresh > WINDOW_MAX)
        return 0;
    t->next = end;
    return fresh;
}

bool tcp_transfers_add(struct tcp_transfers *t, struct tcp_transfers *peer,
                       const struct tcp_segment *s, int64_t ns, int64_t gap_ns,
                       struct flow_rows *rows)
{
    if (s->syn)
        syn_note(t, s, ns, rows);
    else
        handshake_note(t, peer, ns);
    if (peer && s->has_ack)
        ack_note(peer, s, ns);
    uint32_t fresh = s->rst ? 0 : advance(t, s);
    if (fresh == 0) {
        if (s->payload > 0 && t->open && ns > t->end_ns) // at another interface, or sent again
            t->end_ns = ns;
        return false;
    }
    if (peer && peer->acked)
        peer->turned = true;
    if (t->open && ends(t, ns, gap_ns))
        tcp_transfers_finish(t, rows);
    if (!t->open) {
        bool with_syn = t->greeted && ns - t->last_ns <= gap_of(t, gap_ns);
        t->open = true;
        t->bytes = 0;
        t->start_ns = with_syn ? t->start_ns : ns;
        t->greeted = false;
    }
    t->bytes += fresh;
    t->last_ns = t->end_ns = ns;
    t->acked = t->turned = false;
    t->pushed = s->push;
    return true;
}
