// SPDX-License-Identifier: MIT
// The ports, interfaces and names of a capture.
#include "sim/observe/capture_places.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/wire/address.h"
#include "sim/fabric/port_patterns.h"

struct finding {
    struct capture_places *places;
    uint8_t *taken; // [port] 1: near end, 2: far end
    uint32_t *place_of;
    uint32_t place;
    bool one_way; // "a->b" matches this direction only
};

static void take(struct finding *f, uint32_t port, uint8_t end)
{
    // A port that several patterns match belongs to the first. A port matched by name is captured
    // where packets leave it, even if another pattern also matches the other end of the link.
    if (f->taken[port] == 0)
        f->place_of[port] = f->place;
    if (f->taken[port] != 1)
        f->taken[port] = end;
}

static void found(void *ctx, uint32_t port)
{
    struct finding *f = ctx;
    take(f, port, 1);
    // The name of a node means both directions: packets that leave it, and packets that arrive,
    // which leave the port at the other end of the link.
    if (!f->one_way)
        take(f, f->places->fabric->graph.ports[port].peer, 2);
}

// Copy the next pattern of a list to `out` and return what follows it, NULL = nothing.
static const char *next_pattern(const char *list, char *out)
{
    size_t n = strcspn(list, ",");
    const char *first = list + strspn(list, " ");
    size_t blank = (size_t)(first - list) < n ? (size_t)(first - list) : n;
    memcpy(out, first, n - blank);
    out[n - blank] = '\0';
    return list[n] ? list + n + 1 : NULL;
}

static void add_port(struct capture_places *places, uint32_t port, bool far_end)
{
    const struct graph *g = &places->fabric->graph;
    uint32_t node = g->ports[port].node;
    if (places->n_ports == places->cap_ports)
        places->ports = memory_grow(places->ports, &places->cap_ports, sizeof *places->ports);
    // The delay of a link in the graph includes the latency of the switch behind it
    // (fabric_latency_ps()). A packet is captured at the end of the cable, before that latency.
    places->ports[places->n_ports++] = (struct capture_port){
        .port = port,
        .far_end = far_end,
        .delay_ps = g->ports[port].delay_ps - fabric_latency_ps(places->fabric, port),
        .src_mac = node < g->n_ends ? rank_mac(node) : switch_mac(node - g->n_ends)};
}

void capture_places_find(struct capture_places *places, const struct fabric *fabric, const char *at,
                         const char *path, struct err *err)
{
    const struct graph *g = &fabric->graph;
    *places = (struct capture_places){.fabric = fabric};
    struct finding f = {.places = places,
                        .taken = memory_zeroed(g->n_ports, 1),
                        .place_of = memory_zeroed(g->n_ports, sizeof *f.place_of)};
    char *pattern = memory_zeroed(strlen(at) + 1, 1);
    for (const char *list = at; list; f.place++) {
        list = next_pattern(list, pattern);
        f.one_way = strstr(pattern, "->") != NULL;
        // A pattern without a match is an error: an empty capture would look like a network without
        // traffic.
        if (port_patterns_match(g, pattern, found, &f) == 0)
            port_patterns_unknown(g, pattern, path, err);
    }
    // Interfaces are numbered ports first, then one for the drops of each pattern. `drops` has the
    // number of the pattern until the number of ports is known.
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (f.taken[p]) {
            add_port(places, p, f.taken[p] == 2);
            places->ports[places->n_ports - 1].drops = f.place_of[p];
        }
    for (size_t i = 0; i < places->n_ports; i++)
        places->ports[i].drops += (uint32_t)places->n_ports;
    places->n_interfaces = places->n_ports + f.place;
    free(pattern);
    free(f.taken);
    free(f.place_of);
}

/* ---- interfaces ---- */

static struct capture_interface describe_port(const struct graph *g,
                                              const struct capture_port *port, const char *filter)
{
    const struct graph_port *p = &g->ports[port->port];
    char name[2 * GRAPH_NAME], from[GRAPH_NAME], to[GRAPH_NAME];
    char rate[UNIT_TEXT], delay[UNIT_TEXT];
    graph_node_name(g, p->node, from);
    graph_node_name(g, g->ports[p->peer].node, to);
    return (struct capture_interface){
        .name = memory_text(graph_port_name(g, port->port, name)),
        .description =
            text_format("%s from %s to %s, delay %s; %s", human_rate((double)p->rate_bps, rate),
                        from, to, human_time(p->delay_ps, delay),
                        port->far_end ? "captured where it arrives" : "captured where it leaves"),
        .rate_bps = p->rate_bps,
        .filter = filter};
}

static void describe_drops(struct capture_places *places, const char *at, const char *filter)
{
    char *pattern = memory_zeroed(strlen(at) + 1, 1);
    size_t i = places->n_ports;
    for (const char *list = at; list; i++) {
        list = next_pattern(list, pattern);
        places->interfaces[i] = (struct capture_interface){
            .name = text_format("%s drops", pattern),
            .description =
                text_format("packets dropped at the ports of %s, or lost on its links", pattern),
            .filter = filter};
    }
    free(pattern);
}

static void name_nodes(struct capture_places *places)
{
    const struct graph *g = &places->fabric->graph;
    char name[GRAPH_NAME];
    places->n_names = g->n_nodes;
    places->names = memory_zeroed(g->n_nodes, sizeof *places->names);
    for (uint32_t n = 0; n < g->n_nodes; n++) {
        bool end = n < g->n_ends;
        places->names[n] =
            (struct capture_name){.ip = end ? rank_ip(n) : 0,
                                  .mac = end ? rank_mac(n) : switch_mac(n - g->n_ends),
                                  .name = memory_text(graph_node_name(g, n, name))};
    }
}

void capture_places_describe(struct capture_places *places, const char *at, const char *filter)
{
    places->interfaces = memory_zeroed(places->n_interfaces, sizeof *places->interfaces);
    for (size_t i = 0; i < places->n_ports; i++)
        places->interfaces[i] = describe_port(&places->fabric->graph, &places->ports[i], filter);
    describe_drops(places, at, filter);
    name_nodes(places);
}

void capture_places_free(struct capture_places *places)
{
    for (size_t i = 0; places->interfaces && i < places->n_interfaces; i++) {
        free((char *)places->interfaces[i].name);
        free((char *)places->interfaces[i].description);
    }
    for (size_t i = 0; i < places->n_names; i++)
        free((char *)places->names[i].name);
    free(places->ports);
    free(places->interfaces);
    free(places->names);
}
