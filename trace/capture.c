// SPDX-License-Identifier: MIT
// Captures: packets of several ports, written to one file in order of time.
//
// A port reports its packets in order of their start, but ports are not ordered among each other,
// and records of far ends and last bits have later times than the report. Records therefore wait in
// a heap until the clock has passed them. The file is ordered by (time, port, near end before far
// end, order at the port), whatever the order of reports. Headers are encoded only when a record is
// written, and only up to the snaplen. A capture never disturbs the simulation: capture_close()
// reports write errors.

#include "trace/capture.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "trace/capture_file.h"
#include "trace/int_trailer.h"
#include "trace/pfc.h"
#include "wire/frame.h"
#include "wire/ip.h"

// Upper limit of a frame: Ethernet header, IP packet and the largest trailer.
#define FRAME_MAX (ETHERNET_BYTES + 2 * 65536)

struct record {
    ps_t time_ps;
    uint32_t source; // index into capture.ports
    uint32_t order;  // order at that source; wraps, so it is compared by difference
    struct packet packet;
    // Copies at transmission time, because a fresh connection gets new numbers for every message.
    struct packet_meta meta;
    struct flow_id id;
    struct sack_block sacks[META_SACKS];
    uint8_t trailer[INT_TRAILER_MAX];
};

struct source {
    struct capture_port port;
    uint32_t seen;
};

struct capture {
    /* config */
    const struct flow_ids *flows;
    enum capture_stamp stamp;
    const struct meta_pool *meta;
    struct source *sources; // sorted by port, near end first
    size_t n_sources;
    /* state */
    struct capture_file *file;
    struct record *heap; // ordered by record_before
    size_t n, cap;
    uint8_t *frame; // the first bytes of one frame
    size_t frame_bytes;
};

int capture_check_filter(const char *filter, uint32_t snaplen, const char *path, struct err *err)
{
    return capture_file_check_filter(filter, snaplen, path, err);
}

static int source_compare(const void *a, const void *b)
{
    const struct capture_port *x = &((const struct source *)a)->port;
    const struct capture_port *y = &((const struct source *)b)->port;
    if (x->port != y->port)
        return x->port < y->port ? -1 : 1;
    return (int)x->far_end - (int)y->far_end;
}

static void capture_free(struct capture *c)
{
    free(c->sources);
    free(c->heap);
    free(c->frame);
    free(c);
}

struct capture *capture_open(const struct capture_config *config, struct err *err)
{
    uint32_t snaplen = config->snaplen < FRAME_MAX ? config->snaplen : FRAME_MAX;
    struct capture_file *file = capture_file_open(
        config->path, config->name ? config->name : config->path, config->filter, snaplen, err);
    if (!file)
        return NULL;
    struct capture *c = memory_zeroed(1, sizeof *c);
    c->flows = config->flows;
    c->stamp = config->stamp;
    c->meta = config->meta;
    c->file = file;
    c->frame = memory_zeroed(snaplen, 1);
    c->frame_bytes = snaplen;
    c->n_sources = config->n_ports;
    c->sources = memory_zeroed(c->n_sources, sizeof *c->sources);
    for (size_t i = 0; i < c->n_sources; i++)
        c->sources[i].port = config->ports[i];
    qsort(c->sources, c->n_sources, sizeof *c->sources, source_compare);
    return c;
}

static bool record_before(const struct record *a, const struct record *b)
{
    if (a->time_ps != b->time_ps)
        return a->time_ps < b->time_ps;
    if (a->source != b->source)
        return a->source < b->source;
    return (int32_t)(a->order - b->order) < 0;
}

static void heap_push(struct capture *c, const struct record *r)
{
    if (c->n == c->cap)
        c->heap = memory_grow(c->heap, &c->cap, sizeof *c->heap);
    size_t at = c->n++;
    for (; at && record_before(r, &c->heap[(at - 1) / 2]); at = (at - 1) / 2)
        c->heap[at] = c->heap[(at - 1) / 2];
    c->heap[at] = *r;
}

static void heap_pop(struct capture *c)
{
    struct record last = c->heap[--c->n];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < c->n; at = child) {
        if (child + 1 < c->n && record_before(&c->heap[child + 1], &c->heap[child]))
            child++;
        if (!record_before(&c->heap[child], &last))
            break;
        c->heap[at] = c->heap[child];
    }
    c->heap[at] = last;
}

// Returns the first source of `port`, or the index where it would be inserted.
static size_t source_find(const struct capture *c, uint32_t port)
{
    size_t low = 0, high = c->n_sources;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (c->sources[mid].port.port < port)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

void capture_seen(struct capture *c, uint32_t port, const struct packet *packet, ps_t start_ps,
                  ps_t end_ps)
{
    ps_t stamp_ps = c->stamp == CAPTURE_LAST_BIT ? end_ps : start_ps;
    for (size_t i = source_find(c, port); i < c->n_sources; i++) {
        struct source *source = &c->sources[i];
        if (source->port.port != port)
            break;
        struct record r = {
            .time_ps = stamp_ps + (source->port.far_end ? source->port.delay_ps : 0),
            .source = (uint32_t)i,
            .order = source->seen++,
            .packet = *packet,
            .meta = *meta_at(c->meta, packet->meta),
        };
        if (packet->kind != PACKET_PFC)
            r.id = c->flows->ids[packet->flow];
        if (r.id.int_bytes > 0)
            int_trailer_put(r.trailer, r.id.int_bytes, &r.meta, meta_hops(c->meta, packet->meta));
        for (unsigned n = 0; n < r.meta.n_sacks; n++)
            r.sacks[n] = c->meta->sacks[(size_t)packet->meta * META_SACKS + n];
        heap_push(c, &r);
    }
}

static void record_write(struct capture *c, const struct record *r)
{
    const struct packet *p = &r->packet;
    size_t len, kept;
    if (p->kind == PACKET_PFC) {
        len = PFC_FRAME_BYTES;
        kept = pfc_encode(c->sources[r->source].port.src_mac, packet_pfc_classes(p),
                          packet_pfc_quanta(p), c->frame, c->frame_bytes);
    } else {
        struct frame_source source = {p, &r->meta, &r->id, r->sacks, r->trailer};
        kept = r->id.frames->encode(&source, c->frame, c->frame_bytes, &len);
    }
    capture_file_put(c->file, ns_of_ps(r->time_ps), c->frame, kept, len);
}

static void write_before(struct capture *c, ps_t now)
{
    while (c->n && c->heap[0].time_ps < now) {
        record_write(c, &c->heap[0]);
        heap_pop(c);
    }
}

void capture_advance(struct capture *c, ps_t now)
{
    write_before(c, now);
    capture_file_show(c->file);
}

int capture_error(const struct capture *c) { return capture_file_error(c->file); }

int capture_close(struct capture *c, uint64_t *packets, struct err *err)
{
    write_before(c, PS_NEVER);
    int rc = capture_file_close(c->file, packets, err);
    capture_free(c);
    return rc;
}
