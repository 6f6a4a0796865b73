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
    const struct nic_spec *nic;
    bool again; // a rank has another kind already
    uint32_t twice;
};

static void note_port(void *ctx, uint32_t port)
{
    struct found *found = ctx;
    const struct graph *g = &found->fabric->graph;
    const struct graph_port *p = &g->ports[port];
    // A pattern may also match ports of switches and of other dimensions.
    if (p->dim != found->dim || p->node >= g->n_ranks)
        return;
    const struct nic_spec **at = &found->fabric->nic_at[found->dim * g->n_ends + p->node];
    if (*at != NULL && *at != found->nic) {
        found->twice = p->node;
        found->again = true;
    }
    *at = found->nic;
    found->n++;
}

// Find the ranks that the patterns of a kind of NIC name.
static void find_ranks(struct fabric *fabric, uint32_t dim, const struct nic_spec *nic,
                       struct err *err)
{
    char *copy = memory_text(nic->at), *rest = copy, *pattern;
    while ((pattern = port_patterns_next(&rest)) != NULL) {
        struct found found = {.fabric = fabric, .dim = dim, .nic = nic};
        port_patterns_match(&fabric->graph, pattern, note_port, &found);
        if (found.n == 0)
            err_add(err, "nic.at", "no rank with a port in dimension %u is called \"%s\"", dim,
                    pattern);
        if (found.again)
            err_add(err, "nic.at", "rank%u of dimension %u has two kinds of NIC", found.twice, dim);
    }
    free(copy);
}

// The kind without patterns is that of all ranks that no other names.
static void find_rest(struct fabric *fabric, uint32_t dim, const struct nic_spec *nic)
{
    const struct graph *g = &fabric->graph;
    uint32_t first;
    for (uint32_t rank = 0; rank < g->n_ranks; rank++) {
        const struct nic_spec **at = &fabric->nic_at[dim * g->n_ends + rank];
        if (*at == NULL && graph_ports_in(g, rank, dim, &first) > 0)
            *at = nic;
    }
}

static void find_kinds(struct fabric *fabric, uint32_t dim, struct err *err)
{
    const struct nic_kinds *nics = &fabric->spec->dims[dim].nics;
    for (int rest = 0; rest < 2; rest++)
        for (uint32_t k = 0; k <= nics->more; k++)
            if (nics->list[k].at[0] != '\0' && !rest)
                find_ranks(fabric, dim, &nics->list[k], err);
            else if (nics->list[k].at[0] == '\0' && rest)
                find_rest(fabric, dim, &nics->list[k]);
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
        for (uint32_t k = 0; k <= spec->dims[d].nics.more; k++) {
            const struct nic_spec *nic = &spec->dims[d].nics.list[k];
            // Patterns are checked even where the NIC is ideal, so that a misspelt name is
            // reported.
            any |= !is_ideal(nic) || nic->at[0] != '\0';
        }
    if (!any)
        return;
    fabric->nic_at = memory_zeroed((size_t)spec->n_dims * n_ends, sizeof *fabric->nic_at);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        find_kinds(fabric, d, err);
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++)
            hosts_dim(&fabric->hosts, d, t)->nic_of = &fabric->nic_at[(size_t)d * n_ends];
    }
}

/* ---- their adapters ---- */

static bool has_adapter(const struct fabric *fabric, uint32_t rank, uint32_t dim, uint32_t *first,
                        uint32_t *n)
{
    // Times of doorbells and completions delay messages and not packets, so they need no adapter.
    const struct nic_spec *nic = fabric_nic(fabric, rank, dim);
    if (nic == NULL || !nic_spec_serves(nic))
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

static bool check(const struct fabric *fabric, const struct adapter_config *config, struct err *err)
{
    const struct nic_spec *nic = config->spec;
    uint32_t dim = config->dim;
    // A smaller buffer would pause, or drop, before it has room for a single packet.
    uint64_t least = config->headroom_bytes + fabric_largest_packets(fabric, dim).frame;
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
    struct adapter_config config = {.spec = fabric_nic(fabric, rank, dim),
                                    .dim = dim,
                                    .node = rank,
                                    .lossless = fabric_lossless(fabric, dim),
                                    .xon_bytes = xon_bytes(fabric, dim),
                                    .quanta = (uint16_t)sw->pfc.quanta};
    if (!has_adapter(fabric, rank, dim, &config.first_port, &config.n_ports))
        return true;
    config.headroom_bytes = headroom_of(fabric, dim, config.first_port, config.n_ports);
    if (!check(fabric, &config, err))
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
    const struct nic_spec *to = fabric_nic(fabric, dst, dim), *from = fabric_nic(fabric, src, dim);
    const struct transport_dim *t = hosts_dim(&fabric->hosts, dim, transport);
    return (to && nic_spec_serves(to) ? nic_packet_ps(to, t->mtu_bytes) : 0) +
           (from && nic_spec_serves(from) ? nic_packet_ps(from, 0) : 0);
}
