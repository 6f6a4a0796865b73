// SPDX-License-Identifier: MIT
// NICs that are not ideal: the ranks that have one, and the thresholds of their buffers.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "net/credit_balance.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"
#include "transport/nic/adapter.h"

/* ---- which ranks ---- */

struct found {
    struct fabric *fabric;
    uint32_t dim, n;
};

static void note_port(void *ctx, uint32_t port)
{
    struct found *found = ctx;
    const struct graph *g = &found->fabric->graph;
    const struct graph_port *p = &g->ports[port];
    // A pattern may also match ports of switches and of other dimensions.
    if (p->dim != found->dim || p->node >= g->n_ranks)
        return;
    found->fabric->nic_at[found->dim * g->n_ends + p->node] = true;
    found->n++;
}

// Find the ranks that the patterns of a dimension's NIC name.
static void find_ranks(struct fabric *fabric, uint32_t dim, struct err *err)
{
    const char *at = fabric->spec->dims[dim].nic.at;
    bool all = at[0] == '\0';
    char *copy = memory_text(all ? "rank*" : at), *rest = copy, *pattern;
    while ((pattern = port_patterns_next(&rest)) != NULL) {
        struct found found = {.fabric = fabric, .dim = dim};
        port_patterns_match(&fabric->graph, pattern, note_port, &found);
        // Without patterns all ranks are meant. A dimension in which no rank has a port is then no
        // mistake.
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

void fabric_nics_find(struct fabric *fabric, struct err *err)
{
    const struct spec *spec = fabric->spec;
    uint32_t n_ends = fabric->graph.n_ends;
    bool any = false;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        // Patterns are checked even where the NIC is ideal, so that a misspelt name is reported.
        any |= !is_ideal(&spec->dims[d].nic) || spec->dims[d].nic.at[0] != '\0';
    if (!any)
        return;
    fabric->nic_at = memory_zeroed((size_t)spec->n_dims * n_ends, sizeof *fabric->nic_at);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        find_ranks(fabric, d, err);
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++)
            hosts_dim(&fabric->hosts, d, t)->has_nic = &fabric->nic_at[(size_t)d * n_ends];
    }
}

/* ---- their adapters ---- */

static bool has_adapter(const struct fabric *fabric, uint32_t rank, uint32_t dim, uint32_t *first,
                        uint32_t *n)
{
    // Times of doorbells and completions delay messages and not packets, so they need no adapter.
    if (!nic_spec_serves(&fabric->spec->dims[dim].nic) || !fabric_has_nic(fabric, rank, dim))
        return false;
    *n = graph_ports_in(&fabric->graph, rank, dim, first);
    return *n > 0;
}

// Bytes that the lossless classes of all ports may receive after a pause, or may have credit for.
static uint64_t headroom_of(const struct fabric *fabric, uint32_t dim, uint32_t first, uint32_t n)
{
    uint64_t bytes = 0;
    uint32_t n_lossless = (uint32_t)__builtin_popcount(fabric_lossless(fabric, dim));
    for (uint32_t p = first; p < first + n; p++)
        bytes +=
            n_lossless > 0 ? (uint64_t)n_lossless * fabric_nic_headroom(fabric, p, n_lossless) : 0;
    return bytes;
}

static bool check(const struct fabric *fabric, uint32_t dim, uint64_t headroom, struct err *err)
{
    const struct nic_spec *nic = &fabric->spec->dims[dim].nic;
    // A smaller buffer would pause, or drop, before it has room for a single packet.
    uint64_t least = headroom + fabric_largest_packets(fabric, dim).frame;
    char have[UNIT_TEXT], need[UNIT_TEXT];
    if (nic->buffer_bytes >= least)
        return true;
    err_add(err, "nic.buffer", "dimension %u: %s is less than %s and one packet need: %s", dim,
            human_bytes(nic->buffer_bytes, have),
            fabric_uses_credits(fabric, dim) ? "the credits of its ports"
                                             : "the headroom of its ports",
            human_bytes(least, need));
    return false;
}

static uint64_t xon_bytes(const struct fabric *fabric, uint32_t dim)
{
    uint64_t given = fabric->spec->dims[dim].sw.pfc.xon_offset_bytes;
    return given != PARAM_AUTO ? given : 2ull * fabric_largest_packets(fabric, dim).frame;
}

// Make the sender of a link into the NIC wait for credit. If the rank has a router, it already
// does.
static void set_credits(struct fabric *fabric, uint32_t port, uint8_t classes)
{
    uint32_t sender = fabric->graph.ports[port].peer;
    if (!switch_of_port(&fabric->switches, port))
        network_set_credits(
            &fabric->net, sender, classes, fabric_credit_bytes(fabric, port) / CREDIT_BLOCK_BYTES,
            credit_blocks(fabric_largest_packets(fabric, fabric->graph.ports[port].dim).frame));
    fabric->net.credits[sender].by_nic = true;
}

// Add the adapter of a rank, if the rank has one. Returns false if its buffer is too small.
static bool add(struct fabric *fabric, uint32_t rank, uint32_t dim, struct err *err)
{
    const struct switch_spec *sw = &fabric->spec->dims[dim].sw;
    struct adapter_config config = {.spec = &fabric->spec->dims[dim].nic,
                                    .dim = dim,
                                    .node = rank,
                                    .lossless = fabric_lossless(fabric, dim),
                                    .xon_bytes = xon_bytes(fabric, dim),
                                    .quanta = (uint16_t)sw->pfc.quanta};
    if (!has_adapter(fabric, rank, dim, &config.first_port, &config.n_ports))
        return true;
    config.headroom_bytes = headroom_of(fabric, dim, config.first_port, config.n_ports);
    if (!check(fabric, dim, config.headroom_bytes, err))
        return false;
    if (fabric_uses_credits(fabric, dim)) {
        config.credits = config.lossless;
        for (uint32_t p = config.first_port; p < config.first_port + config.n_ports; p++)
            set_credits(fabric, p, config.credits);
    }
    adapter_add(&fabric->hosts, &config);
    return true;
}

void fabric_adapters_init(struct fabric *fabric, struct err *err)
{
    uint32_t n = 0, first, ports;
    for (uint32_t rank = 0; rank < fabric->graph.n_ranks; rank++)
        for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
            n += has_adapter(fabric, rank, d, &first, &ports);
    if (n == 0)
        return;
    adapters_attach(&fabric->hosts, n);
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        for (uint32_t rank = 0; rank < fabric->graph.n_ranks; rank++)
            if (!add(fabric, rank, d, err)) // the others of the dimension are alike
                break;
}

ps_t fabric_adapter_rtt_ps(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                           uint32_t transport)
{
    const struct nic_spec *nic = &fabric->spec->dims[dim].nic;
    const struct transport_dim *t = hosts_dim(&fabric->hosts, dim, transport);
    if (!nic_spec_serves(nic))
        return 0;
    return (fabric_has_nic(fabric, dst, dim) ? nic_packet_ps(nic, t->mtu_bytes) : 0) +
           (fabric_has_nic(fabric, src, dim) ? nic_packet_ps(nic, 0) : 0);
}
