// SPDX-License-Identifier: MIT
// Options of captured packets.
#include "net/capture/capture_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/rng.h"
#include "net/capture/pcapng_options.h"
#include "net/wire/bytes.h"

#define NAME_MAX_BYTES 255 // of an operation, or of a layer
#define FACTS_BYTES (1 + 52 + 2 * NAME_MAX_BYTES)
#define COMMENT_MAX 400 // bytes; node names are shorter than 50
#define PORT_NAME 128
#define FACTS_VERSION 1
#define VERDICT_HARDWARE 0
#define FLAG_INBOUND 1
#define FLAG_OUTBOUND 2

// True if the packet leaves the switch where its arrival has triggered an XOFF.
static bool triggered(const struct facts_source *s, const struct facts_names *names)
{
    return s->note && s->note->set & NOTE_XOFF && s->packet->kind == PACKET_DATA &&
           names->same_node(names->ctx, s->port, s->note->ingress_port);
}

/* ---- comments ---- */

__attribute__((format(printf, 2, 3))) static uint8_t *comment(uint8_t *at, const char *format, ...)
{
    char text[COMMENT_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return option_put(at, OPTION_COMMENT, text,
                      (size_t)n < sizeof text ? (size_t)n : COMMENT_MAX - 1);
}

static void limit_text(char *out, size_t room, uint64_t limit_bytes)
{
    out[0] = '\0';
    if (limit_bytes > 0)
        snprintf(out, room, ", limit %" PRIu64 " B", limit_bytes);
}

static const char *const drop_keys[] = {
#define DROP_KEY(constant, key, help, sentence) key,
    DROP_LIST(DROP_KEY)
#undef DROP_KEY
};
static const char *const drop_helps[] = {
#define DROP_HELP(constant, key, help, sentence) help,
    DROP_LIST(DROP_HELP)
#undef DROP_HELP
};

static uint8_t *put_drop(uint8_t *at, const struct facts_source *s, const struct facts_names *names)
{
    char port[PORT_NAME], queue[48] = "", limit[48];
    if (s->level.bytes > 0 || s->level.limit_bytes > 0)
        snprintf(queue, sizeof queue, ", queue %" PRIu64 " B", s->level.bytes);
    limit_text(limit, sizeof limit, s->level.limit_bytes);
    const char *help = drop_helps[s->reason], *key = strstr(help, " (`"); // a key of scenarios
    int words = (int)(key ? (size_t)(key - help) : strlen(help));
    return comment(at, "dropped at %s: %s (%.*s)%s%s",
                   names->port(names->ctx, s->port, port, sizeof port), drop_keys[s->reason], words,
                   help, queue, limit);
}

static uint8_t *put_pfc(uint8_t *at, const struct facts_source *s, const struct facts_names *names)
{
    const struct packet_note *note = s->note;
    bool xoff = packet_pfc_quanta(s->packet) > 0;
    char peer[PORT_NAME], limit[48], trigger[64] = "", classes[24] = "";
    for (unsigned cls = 0; cls < 8; cls++)
        if (packet_pfc_classes(s->packet) >> cls & 1)
            snprintf(classes + strlen(classes), sizeof classes - strlen(classes), "%s%u",
                     classes[0] ? "," : "", cls);
    if (!note || !(note->set & NOTE_XOFF))
        return comment(at, "%s of class %s by a fault", xoff ? "XOFF" : "XON", classes);
    limit_text(limit, sizeof limit, xoff ? note->ingress_limit_bytes : 0);
    if (s->trigger)
        snprintf(trigger, sizeof trigger, ", after flow %u.%u PSN %u", s->trigger->src,
                 s->trigger->number, note->trigger_seq);
    return comment(at, "%s of class %s%s: ingress from %s holds %" PRIu64 " B%s%s",
                   xoff ? "XOFF" : "XON", classes, note->set & NOTE_RENEWS ? " renewed" : "",
                   names->peer(names->ctx, note->ingress_port, peer, sizeof peer),
                   note->ingress_bytes, limit, trigger);
}

// The comment on a CE mark: port, queue and probability. An ACK has the note of the packet that it
// acknowledges, so it shows that packet's mark.
static uint8_t *put_mark(uint8_t *at, const struct facts_source *s, const struct facts_names *names)
{
    const struct packet_note *note = s->note;
    char port[PORT_NAME];
    if (s->packet->kind == PACKET_ACK && !(s->packet->flags & PACKET_ECHO_CE))
        return at;
    return comment(at, "%s %s: queue %" PRIu64 " B, probability %.4g",
                   s->packet->kind == PACKET_DATA  ? "CE marked at"
                   : s->packet->kind == PACKET_ACK ? "acknowledges a packet marked at"
                                                   : "reports the CE mark of",
                   names->port(names->ctx, note->mark.port, port, sizeof port),
                   note->mark.queue_bytes, note->mark.probability);
}

static uint8_t *put_trigger(uint8_t *at, const struct packet_note *note,
                            const struct facts_names *names)
{
    char port[PORT_NAME], limit[48];
    limit_text(limit, sizeof limit, note->ingress_limit_bytes);
    return comment(at, "triggered XOFF on %s: ingress held %" PRIu64 " B%s",
                   names->port(names->ctx, note->ingress_port, port, sizeof port),
                   note->ingress_bytes, limit);
}

// The comment on a trimmed packet. A NAK has the note of the packet that it reports, so it shows
// where that packet was trimmed.
static uint8_t *put_trim(uint8_t *at, const struct facts_source *s, const struct facts_names *names)
{
    const struct note_trim *trim = &s->note->trim;
    char port[PORT_NAME], limit[48] = "";
    if (trim->limit_bytes > 0)
        snprintf(limit, sizeof limit, " of %" PRIu64 " B", trim->limit_bytes);
    return comment(
        at, "%s %s: queue %" PRIu64 " B%s",
        s->packet->kind == PACKET_TRIMMED ? "trimmed by" : "reports the packet trimmed by",
        names->port(names->ctx, trim->port, port, sizeof port), trim->queue_bytes, limit);
}

static uint8_t *put_resend(uint8_t *at, const struct packet_note *note)
{
    static const char *const causes[] = {[RESEND_UNKNOWN] = "",
                                         [RESEND_NAK] = " after a NAK",
                                         [RESEND_LOST] = " of a segment found lost",
                                         [RESEND_TIMEOUT] = " after a timeout",
                                         [RESEND_PROBE] = " as a tail loss probe",
                                         [RESEND_TRIM] = " of a trimmed packet"};
    bool known = note && note->set & NOTE_SENT;
    return comment(at, "retransmission%s", causes[known ? note->resend : RESEND_UNKNOWN]);
}

static uint8_t *put_comments(uint8_t *at, const struct facts_source *s,
                             const struct facts_names *names)
{
    char port[PORT_NAME];
    if (s->dropped)
        at = put_drop(at, s, names);
    if (s->packet->kind == PACKET_PFC)
        return put_pfc(at, s, names);
    if (s->packet->kind == PACKET_DATA && s->packet->flags & PACKET_RETX)
        at = put_resend(at, s->note);
    if (s->note && s->note->set & NOTE_TRIM)
        at = put_trim(at, s, names);
    else if (s->packet->kind == PACKET_ACK && s->packet->flags & PACKET_NAK)
        at = comment(at, "asks for PSN %u: PSN %u has arrived", s->seq, s->early_seq);
    if (s->held_ps > 0)
        at = comment(at, "held %.3f us by a pause of class %u at %s",
                     (double)s->held_ps / (double)PS_PER_US, s->packet->cls,
                     names->port(names->ctx, s->port, port, sizeof port));
    if (s->note && s->note->set & NOTE_MARK)
        at = put_mark(at, s, names);
    if (triggered(s, names))
        at = put_trigger(at, s->note, names);
    return at;
}

/* ---- facts ---- */

static unsigned flags_of(const struct facts_source *s, const struct facts_names *names)
{
    const struct packet_note *note = s->note;
    unsigned set = note ? note->set : 0, flags = 0;
    bool data = s->packet->kind == PACKET_DATA;
    if (data && s->packet->flags & PACKET_RETX)
        flags |= FACTS_RETRANSMISSION;
    if (set & NOTE_MESSAGE)
        flags |= FACTS_MESSAGE;
    if (set & NOTE_MESSAGE && note->origin.op)
        flags |= FACTS_COLLECTIVE;
    if (set & NOTE_SENT && note->window_bytes != NOTE_UNLIMITED)
        flags |= FACTS_WINDOW;
    if (set & NOTE_SENT)
        flags |= FACTS_RATE;
    if (data && set & NOTE_MARK && note->mark.port == s->port)
        flags |= FACTS_MARKED;
    if (s->dropped)
        flags |= FACTS_DROPPED;
    if (s->held_ps > 0)
        flags |= FACTS_HELD;
    if (triggered(s, names))
        flags |= FACTS_TRIGGERED;
    return flags;
}

static size_t name_length(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n < NAME_MAX_BYTES ? n : NAME_MAX_BYTES;
}

static uint8_t *put_facts(uint8_t *at, const struct facts_source *s,
                          const struct facts_names *names)
{
    static const struct packet_note none;
    const struct packet_note *note = s->note && s->note->set & NOTE_MESSAGE ? s->note : &none;
    const struct message_origin *origin = &note->origin;
    unsigned flags = flags_of(s, names);
    uint8_t value[FACTS_BYTES], *to = value;
    to = put8(put8(put8(to, VERDICT_HARDWARE), FACTS_VERSION), (uint8_t)s->packet->kind);
    to = put16(to, (uint16_t)flags);
    to = put32(put32(put32(to, s->flow->src), s->flow->dst), s->flow->number);
    to = put32(to, note->message);
    to = put16(put16(to, s->flow->job), (uint16_t)origin->step);
    to = put32(to, origin->collective);
    to = put16(put16(to, (uint16_t)origin->chunk), (uint16_t)origin->phase);
    to = put64(to, flags & FACTS_WINDOW ? note->window_bytes : 0);
    to = put64(to, flags & FACTS_RATE ? note->rate_bps : 0);
    size_t op = name_length(origin->op), name = name_length(origin->name);
    to = put16(to, (uint16_t)origin->communicator);
    to = put8(put8(to, (uint8_t)op), (uint8_t)name);
    memcpy(to, origin->op ? origin->op : "", op);
    memcpy(to + op, origin->name ? origin->name : "", name);
    return option_put(at, OPTION_VERDICT, value, (size_t)(to + op + name - value));
}

// The packet id of pcapng, a hash of the packet's name, which is equal on every link of the
// packet's path. The time at which a packet was made is part of the name, because ACKs and reports
// that repeat a number, and CNPs for a packet that was sent twice, differ only in this time.
static uint64_t packet_id(const struct facts_source *s)
{
    const struct flow_id *id = s->flow;
    bool made = s->note && s->note->set & NOTE_MADE;
    ps_t time_ps = made ? s->note->made_ps : id ? s->sent_ps : s->start_ps;
    uint64_t flow = id ? (uint64_t)id->src << 32 | id->number : s->port;
    uint64_t number = id ? (uint64_t)s->packet->kind << 32 | s->seq : s->packet->pfc;
    uint64_t hash = hash_mix(hash_mix(flow + 1) + number); // 0 is no id
    return hash_mix(hash + (uint64_t)time_ps);
}

size_t facts_put(uint8_t *out, const struct facts_source *source, const struct facts_names *names)
{
    uint32_t direction = source->outbound ? FLAG_OUTBOUND : FLAG_INBOUND;
    uint32_t queue = source->packet->cls;
    uint64_t id = packet_id(source);
    uint8_t *at = put_comments(out, source, names);
    at = option_put(at, OPTION_FLAGS, &direction, sizeof direction);
    at = option_put(at, OPTION_PACKET_ID, &id, sizeof id);
    if (source->flow) { // PFC frames belong to no class
        at = option_put(at, OPTION_QUEUE, &queue, sizeof queue);
        at = put_facts(at, source, names);
    }
    at = option_put(at, OPTION_END, NULL, 0);
    return (size_t)(at - out);
}
