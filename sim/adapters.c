// SPDX-License-Identifier: MIT
// NICs that are not ideal: which ranks have one, and the thresholds of their buffers.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "net/credits.h"
#include "sim/port_patterns.h"
#include "sim/sim_internal.h"
#include "transport/adapter.h"

/* ---- which ranks ---- */

struct found {
    struct sim *sim;
    uint32_t dim, n;
};

static void note_port(void *ctx, uint32_t port)
{
    struct found *found = ctx;
    const struct graph *g = &found->sim->graph;
    const struct graph_port *p = &g->ports[port];
    if (p->dim != found->dim || p->node >= g->n_ranks)
        return;
    found->sim->nic_at[found->dim * g->n_ends + p->node] = true;
    found->n++;
}

// Find the ranks that the patterns of a dimension's NIC name.
static void find_ranks(struct sim *sim, uint32_t dim, struct err *err)
{
    const char *at = sim->spec->dims[dim].nic.at;
    bool all = at[0] == '\0';
    char *copy = memory_text(all ? "rank*" : at), *rest = copy, *pattern;
    while ((pattern = port_patterns_next(&rest)) != NULL) {
        struct found found = {.sim = sim, .dim = dim};
        port_patterns_match(&sim->graph, pattern, note_port, &found);
        if (found.n == 0 && !all)
            err_add(err, "nic.at", "no rank with a port in dimension %u is called \"%s\"", dim,
                    pattern);
    }
    free(copy);
}

static bool is_ideal(const struct nic_spec *nic)
{
    return !nic_spec_serves(nic) && nic->doorbell_ps == 0 && nic->completion_ps == 0;
}

void sim_nics_find(struct sim *sim, struct err *err)
{
    const struct spec *spec = sim->spec;
    uint32_t n_ends = sim->graph.n_ends;
    bool any = false;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        any |= !is_ideal(&spec->dims[d].nic) || spec->dims[d].nic.at[0] != '\0';
    if (!any)
        return;
    sim->nic_at = memory_zeroed((size_t)spec->n_dims * n_ends, sizeof *sim->nic_at);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        find_ranks(sim, d, err);
        for (uint32_t t = 0; t < sim->hosts.n_transports; t++)
            hosts_dim(&sim->hosts, d, t)->has_nic = &sim->nic_at[(size_t)d * n_ends];
    }
}

/* ---- their adapters ---- */

static bool has_adapter(const struct sim *sim, uint32_t rank, uint32_t dim, uint32_t *first,
                        uint32_t *n)
{
    if (!nic_spec_serves(&sim->spec->dims[dim].nic) || !sim_has_nic(sim, rank, dim))
        return false;
    *n = graph_ports_in(&sim->graph, rank, dim, first);
    return *n > 0;
}

// What the lossless classes of all ports may still receive after a pause, or may have credit for.
static uint64_t headroom_of(const struct sim *sim, uint32_t dim, uint32_t first, uint32_t n)
{
    uint64_t bytes = 0;
    uint32_t n_lossless = (uint32_t)__builtin_popcount(sim_lossless(sim, dim));
    for (uint32_t p = first; p < first + n; p++)
        bytes += n_lossless > 0 ? (uint64_t)n_lossless * sim_nic_headroom(sim, p, n_lossless) : 0;
    return bytes;
}

static bool check(const struct sim *sim, uint32_t dim, uint64_t headroom, struct err *err)
{
    const struct nic_spec *nic = &sim->spec->dims[dim].nic;
    uint64_t least = headroom + sim_largest_packets(sim, dim).frame;
    char have[UNIT_TEXT], need[UNIT_TEXT];
    if (nic->buffer_bytes >= least)
        return true;
    err_add(err, "nic.buffer", "dimension %u: %s is less than %s and one packet need: %s", dim,
            human_bytes(nic->buffer_bytes, have),
            sim_uses_credits(sim, dim) ? "the credits of its ports" : "the headroom of its ports",
            human_bytes(least, need));
    return false;
}

static uint64_t xon_bytes(const struct sim *sim, uint32_t dim)
{
    uint64_t given = sim->spec->dims[dim].sw.pfc.xon_offset_bytes;
    return given != PARAM_AUTO ? given : 2ull * sim_largest_packets(sim, dim).frame;
}

// The sender of a link into the NIC waits for credit. If the rank has a router, it does already.
static void set_credits(struct sim *sim, uint32_t port, uint8_t classes)
{
    uint32_t sender = sim->graph.ports[port].peer;
    if (!switch_of_port(&sim->switches, port))
        network_set_credits(
            &sim->net, sender, classes, sim_credit_bytes(sim, port) / CREDIT_BLOCK_BYTES,
            credit_blocks(sim_largest_packets(sim, sim->graph.ports[port].dim).frame));
    sim->net.credits[sender].by_nic = true;
}

// Returns false if the buffer is too small.
static bool add(struct sim *sim, uint32_t rank, uint32_t dim, struct err *err)
{
    const struct switch_spec *sw = &sim->spec->dims[dim].sw;
    struct adapter_config config = {.spec = &sim->spec->dims[dim].nic,
                                    .dim = dim,
                                    .node = rank,
                                    .lossless = sim_lossless(sim, dim),
                                    .xon_bytes = xon_bytes(sim, dim),
                                    .quanta = (uint16_t)sw->pfc.quanta};
    if (!has_adapter(sim, rank, dim, &config.first_port, &config.n_ports))
        return true;
    config.headroom_bytes = headroom_of(sim, dim, config.first_port, config.n_ports);
    if (!check(sim, dim, config.headroom_bytes, err))
        return false;
    if (sim_uses_credits(sim, dim)) {
        config.credits = config.lossless;
        for (uint32_t p = config.first_port; p < config.first_port + config.n_ports; p++)
            set_credits(sim, p, config.credits);
    }
    adapter_add(&sim->hosts, &config);
    return true;
}

void sim_adapters_init(struct sim *sim, struct err *err)
{
    uint32_t n = 0, first, ports;
    for (uint32_t rank = 0; rank < sim->graph.n_ranks; rank++)
        for (uint32_t d = 0; d < sim->spec->n_dims; d++)
            n += has_adapter(sim, rank, d, &first, &ports);
    if (n == 0)
        return;
    adapters_attach(&sim->hosts, n);
    for (uint32_t d = 0; d < sim->spec->n_dims; d++)
        for (uint32_t rank = 0; rank < sim->graph.n_ranks; rank++)
            if (!add(sim, rank, d, err)) // the others of the dimension are alike
                break;
}

ps_t sim_adapter_rtt_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                        uint32_t transport)
{
    const struct nic_spec *nic = &sim->spec->dims[dim].nic;
    const struct transport_dim *t = hosts_dim(&sim->hosts, dim, transport);
    if (!nic_spec_serves(nic))
        return 0;
    return (sim_has_nic(sim, dst, dim) ? nic_packet_ps(nic, t->mtu_bytes) : 0) +
           (sim_has_nic(sim, src, dim) ? nic_packet_ps(nic, 0) : 0);
}
