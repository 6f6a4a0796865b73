// SPDX-License-Identifier: MIT
// Opens and closes the captures of a scenario, and passes the packets of watched ports to them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "net/capture/capture.h"
#include "net/crossing.h"
#include "net/wire/frame.h"
#include "sim/observe/capture_places.h"
#include "sim/observe/captures.h"

#define RING_AUTO_BYTES 64000000

_Static_assert(CAPTURE_HEAD_BYTES == FRAME_HEAD_MAX, "all headers of a frame");

// A watched port. Its last packets show whether a packet waited for a pause.
struct watched_port {
    uint32_t port;
    ps_t last_start_ps[NET_CLASSES];
    ps_t busy_ps, free_ps; // begin and end of the last transmissions without a gap between them
};

// Context of the taps of a network, or of a shard of it.
struct tapped {
    struct captures *all;
    struct network *net;
};

struct captures {
    struct fabric *fabric;
    char *failure;                // why the run was ended; NULL = it was not
    struct tapped whole, *shards; // [shard], NULL = the simulation has none
    size_t n;
    struct capture **list; // [n]; NULL = not open
    struct capture_count *counts;
    bool *failed;
    uint32_t *first; // [port + 1] index into `members`: the captures of each port
    struct member {  // a capture that watches the port, and its source there
        uint32_t capture, source;
    } * members;
    uint32_t *watched_of; // [port] index into `watched`
    struct watched_port *watched;
    uint32_t n_watched;
    ps_t done_ps; // of several processes: all have handed over what is before it
};

/* ---- taps ---- */

// Returns the length of the pause for whose end a packet that starts now has waited; 0 = none. The
// packet must be the first of its class since the pause, and must have been in the queue at its
// end. Data that a NIC has just made has no queue: then the port must not have been idle since the
// end.
static ps_t held_ps(const struct network *net, uint32_t port, const struct packet *p, ps_t start_ps,
                    const struct watched_port *w)
{
    const struct pause *pause = &net->pfc[port].cls[p->cls];
    bool first = p->kind != PACKET_PFC && pause->pauses > 0 && pause->ended_ps <= start_ps &&
                 pause->ended_ps > w->last_start_ps[p->cls];
    if (!first || pause->ended_ps <= pause->since_ps)
        return 0;
    bool busy =
        start_ps == pause->ended_ps || (w->free_ps == start_ps && w->busy_ps <= pause->ended_ps);
    bool made = p->kind == PACKET_DATA && meta_at(&net->meta, p->meta)->sent_ps == start_ps;
    bool waited = made ? busy : p->arrives_ps <= pause->ended_ps;
    return waited ? pause->ended_ps - pause->since_ps : 0;
}

// The files of captures are shared by all shards of a simulation, so taps hold the lock. The order
// of records in a file does not depend on the order of calls for different ports
// (net/capture/record_heap.h).
static void seen(void *ctx, uint32_t port, const struct packet *packet, ps_t start_ps, ps_t end_ps)
{
    const struct captures *all = ((struct tapped *)ctx)->all;
    const struct network *net = ((struct tapped *)ctx)->net;
    struct watched_port *w = &all->watched[all->watched_of[port]];
    struct capture_packet report = {.packet = packet,
                                    .meta = &net->meta,
                                    .start_ps = start_ps,
                                    .end_ps = end_ps,
                                    .held_ps = held_ps(net, port, packet, start_ps, w),
                                    .queue_bytes = net->ports[port].queued_bytes};
    // PFC frames do not wait in the queue of a class.
    if (packet->kind != PACKET_PFC)
        w->last_start_ps[packet->cls] = start_ps;
    w->busy_ps = start_ps == w->free_ps ? w->busy_ps : start_ps;
    w->free_ps = end_ps;
    engine_lock(net->engine);
    for (uint32_t i = all->first[port]; i < all->first[port + 1]; i++) {
        report.source = all->members[i].source;
        capture_seen(all->list[all->members[i].capture], &report);
    }
    engine_unlock(net->engine);
}

static void dropped(void *ctx, uint32_t port, const struct packet *packet, enum drop_reason reason,
                    struct drop_level level, ps_t now)
{
    const struct captures *all = ((struct tapped *)ctx)->all;
    const struct network *net = ((struct tapped *)ctx)->net;
    struct capture_packet report = {.packet = packet, .meta = &net->meta, .start_ps = now};
    engine_lock(net->engine);
    for (uint32_t i = all->first[port]; i < all->first[port + 1]; i++) {
        report.source = all->members[i].source;
        capture_dropped(all->list[all->members[i].capture], &report, reason, level);
    }
    engine_unlock(net->engine);
}

static void paused(void *ctx, uint32_t port, unsigned cls, ps_t length_ps, ps_t now)
{
    (void)cls;
    const struct captures *all = ((struct tapped *)ctx)->all;
    const struct network *net = ((struct tapped *)ctx)->net;
    engine_lock(net->engine);
    for (uint32_t i = all->first[port]; i < all->first[port + 1]; i++)
        capture_paused(all->list[all->members[i].capture], length_ps, now);
    engine_unlock(net->engine);
}

static void watched_init(struct watched_port *w, uint32_t port)
{
    w->port = port;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        w->last_start_ps[cls] = -1;
}

static void watch_ports(struct captures *all, const struct capture_places *places)
{
    uint32_t n_ports = all->fabric->graph.n_ports, n_watched = 0;
    all->first = memory_zeroed(n_ports + 1, sizeof *all->first);
    all->watched_of = memory_zeroed(n_ports, sizeof *all->watched_of);
    // Counting sort by port: `first` has the counts of ports, and then their sums.
    for (size_t c = 0; c < all->n; c++)
        for (size_t i = 0; i < places[c].n_ports; i++)
            all->first[places[c].ports[i].port + 1]++;
    for (uint32_t p = 0; p < n_ports; p++) {
        all->watched_of[p] = n_watched;
        n_watched += all->first[p + 1] > 0;
        if (all->first[p + 1] > 0)
            network_tap_port(&all->fabric->net, p);
        all->first[p + 1] += all->first[p];
    }
    all->members = memory_zeroed(all->first[n_ports], sizeof *all->members);
    all->watched = memory_zeroed(n_watched, sizeof *all->watched);
    all->n_watched = n_watched;
    for (uint32_t p = 0; p < n_ports; p++)
        if (all->first[p + 1] > all->first[p])
            watched_init(&all->watched[all->watched_of[p]], p);
    uint32_t *at = memory_zeroed(n_ports, sizeof *at);
    for (size_t c = 0; c < all->n; c++)
        for (size_t i = 0; i < places[c].n_ports; i++) {
            uint32_t p = places[c].ports[i].port;
            all->members[all->first[p] + at[p]++] = (struct member){(uint32_t)c, (uint32_t)i};
        }
    free(at);
    all->whole = (struct tapped){all, &all->fabric->net};
    all->fabric->net.tap = (struct tap){seen, dropped, paused, &all->whole};
}

void captures_shard(struct captures *all)
{
    struct network *net = &all->fabric->net;
    uint32_t n = net->shards->n;
    all->shards = memory_zeroed(n, sizeof *all->shards);
    for (uint32_t i = 0; i < n; i++) {
        all->shards[i] = (struct tapped){all, &net->shards->nets[i]};
        net->shards->nets[i].tap.ctx = &all->shards[i];
    }
}

/* ---- opening ---- */

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

static bool is_live(const struct capture_spec *spec) { return strcmp(spec->file, "-") == 0; }

// Chosen by the file's name; on stdout pcapng for several places, which need interfaces, else pcap.
static enum capture_format format_of(const struct capture_spec *spec)
{
    if (spec->format != CAPTURE_BY_NAME)
        return spec->format == CAPTURE_WANTS_PCAPNG ? CAPTURE_PCAPNG : CAPTURE_PCAP;
    bool names_it = ends_with(spec->file, ".pcapng") || ends_with(spec->file, ".pcapng.gz");
    bool several = is_live(spec) && strchr(spec->at, ',') != NULL;
    return names_it || several ? CAPTURE_PCAPNG : CAPTURE_PCAP;
}

static uint64_t ring_of(const struct capture_spec *spec, const struct trigger *trigger)
{
    if (spec->ring_bytes != CAPTURE_RING_AUTO)
        return spec->ring_bytes;
    return trigger->event != TRIGGER_NEVER && !trigger->stops ? RING_AUTO_BYTES : 0;
}

static const char *port_name(void *ctx, uint32_t port, char *buf, size_t room)
{
    char name[2 * GRAPH_NAME];
    const struct fabric *fabric = ctx;
    snprintf(buf, room, "%s", graph_port_name(&fabric->graph, port, name));
    return buf;
}

static const char *peer_name(void *ctx, uint32_t port, char *buf, size_t room)
{
    char name[GRAPH_NAME];
    const struct fabric *fabric = ctx;
    snprintf(buf, room, "%s",
             graph_node_name(&fabric->graph, fabric_peer_node(fabric, port), name));
    return buf;
}

static bool same_node(void *ctx, uint32_t port, uint32_t other)
{
    const struct graph *g = &((const struct fabric *)ctx)->graph;
    return g->ports[port].node == g->ports[other].node;
}

static const char *filter_of(const struct capture_spec *spec)
{
    return spec->filter && *spec->filter ? spec->filter : NULL;
}

static struct capture_config config_of(struct fabric *fabric, const struct capture_spec *spec,
                                       const struct capture_places *places)
{
    struct err ignored = {0};
    struct trigger trigger;
    trigger_parse(spec->trigger, "", &trigger, &ignored); // has been checked
    err_free(&ignored);
    return (struct capture_config){.format = format_of(spec),
                                   .gzip = ends_with(spec->file, ".gz"),
                                   .filter = filter_of(spec),
                                   .snaplen = (uint32_t)spec->snaplen_bytes,
                                   .stamp = (enum capture_stamp)spec->stamp,
                                   .from_ps = spec->from_ps,
                                   .to_ps = spec->to_ps,
                                   .ring_bytes = ring_of(spec, &trigger),
                                   .trigger = trigger,
                                   .ports = places->ports,
                                   .n_ports = places->n_ports,
                                   .file = {.interfaces = places->interfaces,
                                            .n_interfaces = places->n_interfaces,
                                            .names = places->names,
                                            .n_names = places->n_names},
                                   .names = {port_name, peer_name, same_node, fabric},
                                   .flows = &fabric->hosts.flows};
}

// Returns true if header numbers of a flow may change while packets are in flight: captures show
// those of the flow's description.
static bool names_change(const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->hosts.n_dims; d++) {
        const struct transport_dim *dim = &fabric->hosts.dims[d];
        if (dim->fresh_connections ||
            (dim->ops->change_path && cc_extras_of(dim->cc)->changes_path))
            return true;
    }
    return false;
}

static int open_one(struct captures *all, size_t c, struct delivery *delivery,
                    const struct capture_output *to, struct capture_places *places, struct err *err)
{
    struct fabric *fabric = all->fabric;
    const struct capture_spec *spec = &fabric->spec->captures[c];
    capture_places_find(places, fabric, spec->at, "", err);
    capture_places_describe(places, spec->at, filter_of(spec));
    struct capture_config config = config_of(fabric, spec, places);
    char *path = to->folder == NULL ? NULL
                 : is_live(spec)    ? text_format("-")
                                    : text_format("%s/%s", to->folder, spec->file);
    char *name = text_format("%s/%s", to->shown, spec->file);
    config.path = path;
    config.name = name;
    config.file.application = to->program;
    // Comments of packets need notes, and only pcapng has comments.
    if (config.format == CAPTURE_PCAPNG) {
        fabric->net.meta.keeps_notes = true;
        ledger_keep_origins(delivery);
    }
    all->list[c] = capture_open(&config, err);
    free(path);
    free(name);
    return all->list[c] ? 0 : -1;
}

struct captures *captures_open(struct delivery *delivery, const struct capture_output *to,
                               struct err *err)
{
    struct fabric *fabric = delivery->fabric;
    size_t n = fabric->spec->n_captures, errors = err->n_errors;
    if (n == 0)
        return NULL;
    struct captures *all = memory_zeroed(1, sizeof *all);
    all->fabric = fabric;
    all->n = n;
    all->list = memory_zeroed(n, sizeof(struct capture *));
    all->counts = memory_zeroed(n, sizeof *all->counts);
    all->failed = memory_zeroed(n, sizeof *all->failed);
    struct capture_places *places = memory_zeroed(n, sizeof *places);
    for (size_t c = 0; c < n; c++)
        open_one(all, c, delivery, to, &places[c], err);
    if (err->n_errors == errors)
        watch_ports(all, places);
    for (size_t c = 0; c < n; c++)
        capture_places_free(&places[c]);
    free(places);
    if (names_change(fabric))
        fabric_needs_order(fabric,
                           "captures with transports or policies that give flows other names");
    return all;
}

/* ---- before the run ---- */

// Compressed, a packet takes about this much whatever its payload, since that is zeros.
#define GZIP_PACKET_BYTES 100
#define PCAP_PACKET_BYTES 16
#define PCAPNG_PACKET_BYTES 140

uint64_t captures_packet_bytes(const struct capture_spec *spec, uint64_t frame_bytes)
{
    uint64_t kept = spec->snaplen_bytes < frame_bytes ? spec->snaplen_bytes : frame_bytes;
    if (ends_with(spec->file, ".gz"))
        return GZIP_PACKET_BYTES;
    return kept + (format_of(spec) == CAPTURE_PCAP ? PCAP_PACKET_BYTES : PCAPNG_PACKET_BYTES);
}

uint32_t captures_ports(const struct fabric *fabric, size_t c)
{
    struct err ignored = {0};
    struct capture_places places;
    capture_places_find(&places, fabric, fabric->spec->captures[c].at, "", &ignored);
    uint32_t n = (uint32_t)places.n_ports;
    capture_places_free(&places);
    err_free(&ignored);
    return n;
}

int captures_check(const struct fabric *fabric, struct err *err)
{
    size_t errors = err->n_errors;
    for (size_t c = 0; c < fabric->spec->n_captures; c++) {
        const struct capture_spec *spec = &fabric->spec->captures[c];
        struct capture_places places;
        struct trigger trigger;
        char path[64];
        snprintf(path, sizeof path, "capture[%zu].at", c);
        capture_places_find(&places, fabric, spec->at, path, err);
        capture_places_free(&places);
        snprintf(path, sizeof path, "capture[%zu].filter", c);
        capture_check_filter(filter_of(spec), (uint32_t)spec->snaplen_bytes, path, err);
        snprintf(path, sizeof path, "capture[%zu].trigger", c);
        trigger_parse(spec->trigger, path, &trigger, err);
    }
    return err->n_errors == errors ? 0 : -1;
}

/* ---- during and after the run ---- */

// Let the ports of this process report what they have sent until `now`.
static void catch_up(const struct captures *all, ps_t now)
{
    struct fabric *fabric = all->fabric;
    for (uint32_t w = 0; w < all->n_watched; w++) {
        uint32_t node = fabric->graph.ports[all->watched[w].port].node;
        if (shards_owns(fabric->shards, node))
            port_catch_up(fabric_net_of(fabric, node), all->watched[w].port, now);
    }
}

static bool has_others(const struct captures *all)
{
    const struct shards *p = all->fabric->shards;
    return p && p->n_own < p->n;
}

void captures_advance(struct captures *all)
{
    struct fabric *fabric = all->fabric;
    ps_t now = fabric->engine.now_ps;
    catch_up(all, now);
    // Packets of other processes are complete up to this time only, and records are written in the
    // order of time.
    if (has_others(all) && all->done_ps < now)
        now = all->done_ps;
    for (size_t c = 0; c < all->n; c++) {
        if (!all->list[c])
            continue;
        capture_advance(all->list[c], now);
        int error = capture_error(all->list[c]);
        if (error && !all->failure) {
            all->failure = text_format("the capture %s cannot be written: %s",
                                       fabric->spec->captures[c].file, strerror(error));
            engine_stop(&fabric->engine);
        }
    }
}

void captures_hand_over(struct parcel *p, struct captures *all, ps_t done_ps)
{
    if (!all)
        return;
    if (!p->reads)
        // Events at done_ps itself belong to the next window.
        catch_up(all, done_ps - 1);
    for (size_t c = 0; c < all->n; c++)
        capture_hand_over(all->list[c], p);
    all->done_ps = done_ps;
}

const char *captures_failure(const struct captures *all) { return all ? all->failure : NULL; }

bool captures_failed(const struct captures *all, size_t c) { return all && all->failed[c]; }

struct capture_count captures_count(const struct captures *all, size_t c)
{
    struct capture_count none = {0, PS_NEVER};
    return all && !all->failed[c] ? all->counts[c] : none;
}

int captures_close(struct captures *all, struct err *err)
{
    int status = 0;
    for (size_t c = 0; all && c < all->n; c++) {
        if (all->list[c] && capture_close(all->list[c], &all->counts[c], err) != 0) {
            all->failed[c] = true;
            status = -1;
        }
        all->list[c] = NULL;
    }
    return status;
}

void captures_free(struct captures *all)
{
    if (!all)
        return;
    free(all->list);
    free(all->counts);
    free(all->failed);
    free(all->first);
    free(all->members);
    free(all->watched_of);
    free(all->watched);
    free(all->shards);
    free(all->failure);
    free(all);
}

int captures_write_qpmap(const struct fabric *fabric, const char *path, struct err *err)
{
    return capture_write_qpmap(path, &fabric->hosts.flows, fabric->flow_order, err);
}
