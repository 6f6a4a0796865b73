// SPDX-License-Identifier: MIT
// Maps the places of a scenario's captures to taps on ports.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/port_patterns.h"
#include "sim/sim_internal.h"
#include "wire/address.h"

static void seen(void *ctx, uint32_t port, const struct packet *packet, ps_t start_ps, ps_t end_ps)
{
    const struct sim *sim = ctx;
    for (uint32_t i = sim->tap_first[port]; i < sim->tap_first[port + 1]; i++)
        capture_seen(sim->captures[sim->tap_list[i]], port, packet, start_ps, end_ps);
}

struct place_ports {
    const struct sim *sim;
    struct capture_port *list;
    size_t n, cap;
    bool one_way; // "a->b" matches this direction only
};

static void add(struct place_ports *ports, uint32_t port, bool far_end)
{
    const struct graph *g = &ports->sim->graph;
    uint32_t node = g->ports[port].node;
    if (ports->n == ports->cap)
        ports->list = memory_grow(ports->list, &ports->cap, sizeof *ports->list);
    ports->list[ports->n++] = (struct capture_port){
        .port = port,
        .far_end = far_end,
        .delay_ps = g->ports[port].delay_ps,
        .src_mac = node < g->n_ranks ? rank_mac(node) : switch_mac(node - g->n_ranks)};
}

static void add_place(void *ctx, uint32_t port)
{
    struct place_ports *ports = ctx;
    add(ports, port, false);
    if (!ports->one_way)
        add(ports, ports->sim->graph.ports[port].peer, true);
}

static int open_one(struct sim *sim, size_t c, const char *folder, const char *shown,
                    struct place_ports *ports, struct err *err)
{
    const struct capture_spec *spec = &sim->spec->captures[c];
    *ports = (struct place_ports){.sim = sim, .one_way = strstr(spec->at, "->") != NULL};
    port_patterns_match(&sim->graph, spec->at, add_place, ports);
    bool live = strcmp(spec->file, "-") == 0;
    char *path = live ? text_format("-") : text_format("%s/%s", folder, spec->file);
    char *name = text_format("%s/%s", shown, spec->file);
    struct capture_config config = {.path = path,
                                    .name = name,
                                    .filter = spec->filter && *spec->filter ? spec->filter : NULL,
                                    .snaplen = (uint32_t)spec->snaplen_bytes,
                                    .stamp = (enum capture_stamp)spec->stamp,
                                    .ports = ports->list,
                                    .n_ports = ports->n,
                                    .flows = &sim->hosts.flows,
                                    .meta = &sim->net.meta};
    sim->captures[c] = capture_open(&config, err);
    free(path);
    free(name);
    return sim->captures[c] ? 0 : -1;
}

// Build tap_first and tap_list: for every port the captures that watch it.
static void index_taps(struct sim *sim, const struct place_ports *places)
{
    sim->tap_first = memory_zeroed(sim->graph.n_ports + 1, sizeof *sim->tap_first);
    size_t total = 0;
    for (size_t c = 0; c < sim->spec->n_captures; c++)
        total += places[c].n;
    sim->tap_list = memory_zeroed(total, sizeof *sim->tap_list);
    uint32_t n = 0;
    for (uint32_t p = 0; p < sim->graph.n_ports; p++) {
        sim->tap_first[p] = n;
        for (size_t c = 0; c < sim->spec->n_captures; c++)
            for (size_t i = 0; i < places[c].n; i++)
                if (places[c].list[i].port == p) {
                    network_tap_port(&sim->net, p);
                    sim->tap_list[n++] = (uint32_t)c;
                    break; // a capture handles both ends of an inner link in one call
                }
    }
    sim->tap_first[sim->graph.n_ports] = n;
    sim->net.tap = (struct tap){seen, sim};
}

static void count_port(void *ctx, uint32_t port)
{
    (void)port;
    ++*(size_t *)ctx;
}

uint32_t sim_capture_ports(const struct sim *sim, size_t c)
{
    const char *at = sim->spec->captures[c].at;
    size_t n = 0;
    port_patterns_match(&sim->graph, at, count_port, &n);
    return (uint32_t)(strstr(at, "->") ? n : 2 * n);
}

int sim_check_captures(const struct sim *sim, struct err *err)
{
    size_t errors = err->n_errors;
    for (size_t c = 0; c < sim->spec->n_captures; c++) {
        const struct capture_spec *spec = &sim->spec->captures[c];
        char place[64];
        size_t n = 0;
        port_patterns_match(&sim->graph, spec->at, count_port, &n);
        snprintf(place, sizeof place, "capture[%zu].at", c);
        if (n == 0)
            err_add(err, place,
                    "no place is called \"%s\" (try rank0, leaf0, dim0.sw0 or leaf0->spine0)",
                    spec->at);
        snprintf(place, sizeof place, "capture[%zu].filter", c);
        if (spec->filter && *spec->filter)
            capture_check_filter(spec->filter, (uint32_t)spec->snaplen_bytes, place, err);
    }
    return err->n_errors == errors ? 0 : -1;
}

int sim_open_captures(struct sim *sim, const char *folder, const char *shown, struct err *err)
{
    size_t n = sim->spec->n_captures, errors = err->n_errors;
    if (n == 0)
        return 0;
    struct place_ports *places = memory_zeroed(n, sizeof *places);
    for (size_t c = 0; c < n; c++)
        open_one(sim, c, folder, shown, &places[c], err);
    if (err->n_errors == errors)
        index_taps(sim, places);
    for (size_t c = 0; c < n; c++)
        free(places[c].list);
    free(places);
    return err->n_errors == errors ? 0 : -1;
}

// The first capture on disk that could not be written, or n_captures.
static size_t failed_capture(const struct sim *sim)
{
    size_t c = 0;
    while (c < sim->spec->n_captures && !(sim->captures[c] && capture_error(sim->captures[c])))
        c++;
    return c;
}

void sim_end_if_capture_failed(struct sim *sim)
{
    size_t c = failed_capture(sim);
    if (sim->capture_failure || c == sim->spec->n_captures)
        return;
    sim->capture_failure =
        text_format("the capture %s cannot be written: %s", sim->spec->captures[c].file,
                    strerror(capture_error(sim->captures[c])));
    engine_stop(&sim->engine);
}

#define CAPTURE_FAILED UINT64_MAX

bool sim_capture_failed(const struct sim *sim, size_t c)
{
    return sim->capture_packets[c] == CAPTURE_FAILED;
}

int sim_close_captures(struct sim *sim, struct err *err)
{
    int status = 0;
    for (size_t c = 0; c < sim->spec->n_captures; c++) {
        if (sim->captures[c] &&
            capture_close(sim->captures[c], &sim->capture_packets[c], err) != 0) {
            sim->capture_packets[c] = CAPTURE_FAILED;
            status = -1;
        }
        sim->captures[c] = NULL;
    }
    return status;
}

int sim_write_qpmap(const struct sim *sim, const char *path, struct err *err)
{
    return capture_write_qpmap(path, &sim->hosts.flows, sim->flow_order, err);
}
