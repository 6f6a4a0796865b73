// SPDX-License-Identifier: MIT
// Captures: packets of several ports, written to one file in order of time.
//
// Packets are encoded when they are reported, since their meta-data and their flow's connection
// numbers change, and wait in a heap until their order is final (net/capture/record_heap.h). A
// capture never affects the simulation: capture_close() reports write errors.
#include "net/capture/capture.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/capture/filter.h"
#include "net/capture/int_trailer.h"
#include "net/capture/pfc.h"
#include "net/capture/record.h"
#include "net/capture/record_heap.h"
#include "net/wire/ip.h"

/* ---- record queue ---- */

// A queue of records of different sizes in one block of memory. Its records move to the front when
// half of the block is free, so that the cost of a move is spread over as many bytes.

struct record_queue {
    uint8_t *bytes; // the records from `first` to `end`
    size_t first, end, cap;
};

// Append a copy of a record.
static void record_queue_push(struct record_queue *q, const struct record *r)
{
    size_t n = record_size(r);
    if (q->cap - q->end < n && q->first > 0 && q->first >= q->cap / 2) {
        memmove(q->bytes, q->bytes + q->first, q->end - q->first);
        q->end -= q->first;
        q->first = 0;
    }
    while (q->cap - q->end < n)
        q->bytes = memory_grow(q->bytes, &q->cap, 1);
    memcpy(q->bytes + q->end, r, n);
    q->end += n;
}

// Returns the oldest record, or NULL. Valid until the next push.
static const struct record *record_queue_head(const struct record_queue *q)
{
    return q->first == q->end ? NULL : (const struct record *)(const void *)(q->bytes + q->first);
}

// Remove the oldest record.
static void record_queue_drop(struct record_queue *q)
{
    q->first += record_size(record_queue_head(q));
    if (q->first == q->end)
        q->first = q->end = 0;
}

static void record_queue_free(struct record_queue *q)
{
    free(q->bytes);
    *q = (struct record_queue){0};
}

/* ---- capture ---- */

#define FRAME_MAX (ETHERNET_BYTES + 2 * 65536) // upper limit of a frame with its trailer

// The sources of records: the packets of all ports, then what is dropped before a port, and what
// is lost behind it, which the far end reports.
enum { SOURCE_PACKETS, SOURCE_DROPS, SOURCE_LOSSES, SOURCES_OF_PORT };

struct capture {
    /* config */
    struct capture_config config; // without `ports` and `file`, which the caller owns
    struct filter *filter;        // NULL = all packets
    struct capture_port *ports;
    size_t n_ports;
    /* state */
    struct output *output;
    struct pcap_writer *pcap; // NULL: pcapng
    struct record_heap waiting;
    struct record_queue ring;
    uint64_t ring_bytes; // of the ring's records in the file
    ps_t trigger_ps;     // PS_NEVER = not yet
    bool ended;          // nothing more is written
    uint64_t packets;    // written
    struct frame frame;
};

int capture_check_filter(const char *filter, uint32_t snaplen, const char *path, struct err *err)
{
    struct filter *f = filter ? filter_new(filter, snaplen, path, err) : NULL;
    bool good = f || !filter;
    filter_free(f);
    return good ? 0 : -1;
}

/* ---- opening ---- */

static void capture_free(struct capture *c)
{
    filter_free(c->filter);
    record_heap_free(&c->waiting);
    record_queue_free(&c->ring);
    free(c->ports);
    free(c);
}

static void begin_file(struct capture *c, const struct capture_config *config)
{
    struct capture_file_config file = config->file;
    file.snaplen = c->config.snaplen;
    if (config->format == CAPTURE_PCAPNG)
        pcapng_begin(c->output, &file);
    else
        c->pcap = pcap_begin(c->output, &file);
    capture_advance(c, 0); // a live reader sees the header
}

struct capture *capture_open(const struct capture_config *config, struct err *err)
{
    const char *name = config->name ? config->name : config->path;
    struct capture *c = memory_zeroed(1, sizeof *c);
    c->config = *config;
    if (c->config.snaplen > FRAME_MAX)
        c->config.snaplen = FRAME_MAX;
    c->trigger_ps = PS_NEVER;
    if (config->filter && !(c->filter = filter_new(config->filter, c->config.snaplen, name, err))) {
        capture_free(c);
        return NULL;
    }
    if (config->path && !(c->output = output_open(config->path, name, config->gzip, err))) {
        capture_free(c);
        return NULL;
    }
    c->n_ports = config->n_ports;
    c->ports = memory_zeroed(c->n_ports, sizeof *c->ports);
    memcpy(c->ports, config->ports, c->n_ports * sizeof *c->ports);
    record_heap_init(&c->waiting, SOURCES_OF_PORT * (uint32_t)c->n_ports);
    if (c->output)
        begin_file(c, config);
    return c;
}

static bool is_pcapng(const struct capture *c) { return c->config.format == CAPTURE_PCAPNG; }

/* ---- records ---- */

static const struct flow_id *flow_of(const struct capture *c, const struct packet *p)
{
    return p->kind == PACKET_PFC ? NULL : &c->config.flows->ids[p->flow];
}

static void encode(struct capture *c, const struct capture_port *port, const struct packet *p,
                   const struct meta_pool *pool)
{
    const struct packet_meta *meta = meta_at(pool, p->meta);
    const struct flow_id *id = flow_of(c, p);
    uint8_t trailer[INT_TRAILER_MAX];
    if (!id) {
        pfc_encode(port->src_mac, packet_pfc_classes(p), packet_pfc_quanta(p), &c->frame);
        return;
    }
    if (id->int_bytes > 0)
        int_trailer_put(trailer, id->int_bytes, meta, meta_hops(pool, p->meta));
    struct frame_source from = {
        .packet = p,
        .meta = meta,
        .flow = id,
        .sacks = meta->n_sacks > 0 ? &pool->sacks[(size_t)p->meta * META_SACKS] : NULL,
        .trailer = id->int_bytes > 0 ? trailer : NULL};
    id->frames->encode(&from, &c->frame);
}

// Make a record of the frame in c->frame, with the options that `facts` describes (NULL = none),
// and keep it until its place in the order of time is final.
static void add(struct capture *c, uint32_t source, uint32_t interface, ps_t time_ps,
                const struct facts_source *facts)
{
    const struct frame *f = &c->frame;
    size_t room = f->head_bytes + f->tail_bytes + (facts ? FACTS_MAX : 0);
    struct record *r = record_heap_new(&c->waiting, room);
    size_t length = frame_bytes(f), kept = length < c->config.snaplen ? length : c->config.snaplen;
    size_t head = f->head_bytes < kept ? f->head_bytes : kept;
    size_t zeros = f->zero_bytes < kept - head ? f->zero_bytes : kept - head;
    *r = (struct record){.time_ps = time_ps,
                         .interface = interface,
                         .length = (uint32_t)length,
                         .zero_bytes = (uint32_t)zeros,
                         .head_bytes = (uint16_t)head,
                         .tail_bytes = (uint16_t)(kept - head - zeros)};
    memcpy(r->bytes, f->head, r->head_bytes);
    memcpy(r->bytes + head, f->tail, r->tail_bytes);
    if (facts)
        r->option_bytes =
            (uint16_t)facts_put(r->bytes + head + r->tail_bytes, facts, &c->config.names);
    record_heap_push(&c->waiting, source);
}

static struct facts_source facts_of(const struct capture *c, const struct capture_port *port,
                                    const struct packet *p, const struct meta_pool *pool)
{
    const struct packet_meta *meta = meta_at(pool, p->meta);
    const struct packet_note *note = meta_note(pool, p->meta);
    bool triggered = p->kind == PACKET_PFC && note && note->set & NOTE_TRIGGER;
    return (struct facts_source){.port = port->port,
                                 .outbound = !port->far_end,
                                 .packet = p,
                                 .flow = flow_of(c, p),
                                 .trigger =
                                     triggered ? &c->config.flows->ids[note->trigger_flow] : NULL,
                                 .note = note,
                                 .seq = meta->seq,
                                 .early_seq = meta->sack_seq,
                                 .sent_ps = meta->sent_ps};
}

/* ---- triggers ---- */

static void trigger_at(struct capture *c, ps_t now)
{
    if (now < c->trigger_ps && now >= c->config.from_ps && now <= c->config.to_ps)
        c->trigger_ps = now;
}

void capture_paused(struct capture *c, ps_t length_ps, ps_t now)
{
    const struct trigger *t = &c->config.trigger;
    if (t->event == TRIGGER_PAUSE && length_ps > t->longer_ps)
        trigger_at(c, now);
}

// Starts or stops the capture if the packet is the trigger's event. `time_ps` is the packet's time
// in the file, so that a retransmission that triggers is the first or the last packet of the file.
static void check_trigger(struct capture *c, const struct capture_packet *seen, ps_t time_ps)
{
    const struct trigger *t = &c->config.trigger;
    if (t->event == TRIGGER_QUEUE && seen->queue_bytes > t->above_bytes)
        trigger_at(c, seen->start_ps);
    if (t->event == TRIGGER_RETRANSMISSION && seen->packet->flags & PACKET_RETX &&
        seen->packet->kind == PACKET_DATA)
        trigger_at(c, time_ps);
}

/* ---- reports ---- */

// The memory of a packet's note, which nothing else reads on the way, is fetched while the packet
// is encoded.
__attribute__((always_inline)) static inline void prefetch_note(const struct capture_packet *seen)
{
    const struct packet_note *note = meta_note(seen->meta, seen->packet->meta);
    if (!note)
        return;
    __builtin_prefetch(note);
    __builtin_prefetch((const char *)note + 64);
}

void capture_seen(struct capture *c, const struct capture_packet *seen)
{
    const struct capture_port *port = &c->ports[seen->source];
    if (c->ended)
        return;
    prefetch_note(seen);
    ps_t time_ps = c->config.stamp == CAPTURE_LAST_BIT ? seen->end_ps : seen->start_ps;
    time_ps += port->far_end ? port->delay_ps : 0;
    check_trigger(c, seen, time_ps);
    encode(c, port, seen->packet, seen->meta);
    if (c->filter && !filter_accepts(c->filter, &c->frame))
        return;
    struct facts_source facts = facts_of(c, port, seen->packet, seen->meta);
    facts.start_ps = seen->start_ps;
    facts.held_ps = seen->held_ps;
    add(c, seen->source, seen->source, time_ps, is_pcapng(c) ? &facts : NULL);
}

// True if the far end of the link drops the packets of this reason.
static bool is_loss(enum drop_reason reason)
{
    return reason == DROP_LINK_LOSS || reason == DROP_LINK_CORRUPTION || reason == DROP_LINK_DOWN ||
           reason == DROP_NIC_BUFFER;
}

void capture_dropped(struct capture *c, const struct capture_packet *seen, enum drop_reason reason,
                     struct drop_level level)
{
    const struct capture_port *port = &c->ports[seen->source];
    ps_t now = seen->start_ps;
    if (c->ended)
        return;
    if (c->config.trigger.event == TRIGGER_DROP)
        trigger_at(c, now);
    if (!is_pcapng(c))
        return;
    encode(c, port, seen->packet, seen->meta);
    if (c->filter && !filter_accepts(c->filter, &c->frame))
        return;
    struct facts_source facts = facts_of(c, port, seen->packet, seen->meta);
    facts.start_ps = now;
    facts.dropped = true;
    facts.reason = reason;
    facts.level = level;
    uint32_t sort = is_loss(reason) ? SOURCE_LOSSES : SOURCE_DROPS;
    add(c, seen->source + sort * (uint32_t)c->n_ports, port->drops, now, &facts);
}

/* ---- writing ---- */

static void put(struct capture *c, const struct record *r)
{
    if (output_error(c->output)) {
        c->ended = true;
        return;
    }
    if (c->pcap)
        pcap_put(c->pcap, r);
    else
        pcapng_put(c->output, r);
    c->packets += !output_error(c->output);
}

static void drop_oldest(struct capture *c)
{
    c->ring_bytes -= pcapng_bytes(record_queue_head(&c->ring));
    record_queue_drop(&c->ring);
}

static void keep(struct capture *c, const struct record *r)
{
    record_queue_push(&c->ring, r);
    c->ring_bytes += pcapng_bytes(r);
    while (c->ring_bytes > c->config.ring_bytes)
        drop_oldest(c);
}

static void write_ring(struct capture *c)
{
    for (const struct record *r; (r = record_queue_head(&c->ring)) != NULL; drop_oldest(c))
        put(c, r);
}

// Accept the next record in the order of time: write it, or keep it in the ring buffer.
static void accept(struct capture *c, const struct record *r)
{
    const struct capture_config *config = &c->config;
    bool before = r->time_ps < c->trigger_ps, stops = config->trigger.stops;
    if (c->ended || r->time_ps < config->from_ps || r->time_ps > config->to_ps)
        return;
    if (config->trigger.event != TRIGGER_NEVER && stops && r->time_ps > c->trigger_ps) {
        c->ended = true;
        return;
    }
    bool begins = config->trigger.event == TRIGGER_NEVER || stops; // the ring lasts to the end
    if (config->ring_bytes > 0 && (begins || before)) {
        keep(c, r);
        return;
    }
    if (!begins && before)
        return;
    write_ring(c);
    put(c, r);
}

static void write_before(struct capture *c, ps_t now)
{
    for (const struct record *r; (r = record_heap_first(&c->waiting, now)) != NULL;) {
        record_heap_pop(&c->waiting); // the record stays where it is
        accept(c, r);
    }
    record_heap_tidy(&c->waiting);
}

void capture_advance(struct capture *c, ps_t now)
{
    if (!c->output)
        return;
    write_before(c, now);
    if (output_is_live(c->output)) {
        if (c->pcap)
            pcap_flush(c->pcap);
        output_show(c->output);
    }
}

/* ---- several processes ---- */

static void write_records(struct capture *c, struct parcel *p)
{
    for (const struct record *r; (r = record_heap_first(&c->waiting, PS_NEVER)) != NULL;) {
        struct record head = *r;
        parcel_number(p, record_heap_source(&c->waiting) + 1);
        PARCEL(p, head);
        parcel_value(p, (void *)(uintptr_t)r->bytes, record_size(r) - sizeof *r);
        record_heap_pop(&c->waiting);
    }
    parcel_number(p, 0);
    record_heap_tidy(&c->waiting);
}

static void read_records(struct capture *c, struct parcel *p)
{
    for (uint32_t source; (source = parcel_number(p, 0)) > 0;) {
        struct record head;
        PARCEL(p, head);
        size_t room = record_size(&head) - sizeof head;
        struct record *r = record_heap_new(&c->waiting, room);
        *r = head;
        parcel_value(p, r->bytes, room);
        record_heap_push(&c->waiting, source - 1);
    }
}

void capture_hand_over(struct capture *c, struct parcel *p)
{
    ps_t trigger_ps = c->trigger_ps;
    PARCEL(p, trigger_ps);
    c->trigger_ps = trigger_ps < c->trigger_ps ? trigger_ps : c->trigger_ps;
    if (p->reads)
        read_records(c, p);
    else
        write_records(c, p);
}

int capture_error(const struct capture *c)
{
    return !c->output || output_is_live(c->output) ? 0 : output_error(c->output);
}

int capture_close(struct capture *c, struct capture_count *count, struct err *err)
{
    if (!c->output) {
        if (count)
            *count = (struct capture_count){0, c->trigger_ps};
        capture_free(c);
        return 0;
    }
    write_before(c, PS_NEVER);
    bool started = c->config.trigger.event == TRIGGER_NEVER || c->config.trigger.stops ||
                   c->trigger_ps != PS_NEVER;
    if (started) {
        c->ended = false;
        write_ring(c);
    }
    pcap_end(c->pcap);
    int rc = output_close(c->output, err);
    if (count)
        *count = (struct capture_count){c->packets, c->trigger_ps};
    capture_free(c);
    return rc;
}
