// SPDX-License-Identifier: MIT
// NICs that are not ideal: which ranks have one, and the thresholds of their buffers.
#include "net/credits.h"
#include "sim/sim_internal.h"
#include "transport/adapter.h"

static bool has_adapter(const struct sim *sim, uint32_t rank, uint32_t dim, uint32_t *first,
                        uint32_t *n)
{
    if (!nic_spec_serves(&sim->spec->dims[dim].nic))
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
    err_add(err, "nic.buffer", "%s is less than %s and one packet need: %s",
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
        network_set_credits(&sim->net, sender, classes,
                        sim_credit_bytes(sim, port) / CREDIT_BLOCK_BYTES,
                        credit_blocks(sim_largest_packets(sim, sim->graph.ports[port].dim).frame));
    sim->net.credits[sender].by_nic = true;
}

static void add(struct sim *sim, uint32_t rank, uint32_t dim, struct err *err)
{
    const struct switch_spec *sw = &sim->spec->dims[dim].sw;
    struct adapter_config config = {.spec = &sim->spec->dims[dim].nic,
                                    .dim = dim,
                                    .node = rank,
                                    .lossless = sim_lossless(sim, dim),
                                    .xon_bytes = xon_bytes(sim, dim),
                                    .quanta = (uint16_t)sw->pfc.quanta};
    if (!has_adapter(sim, rank, dim, &config.first_port, &config.n_ports))
        return;
    config.headroom_bytes = headroom_of(sim, dim, config.first_port, config.n_ports);
    size_t errors = err->n_errors;
    bool reported = rank > 0 && errors > 0; // ranks of a dimension are alike
    if (reported || !check(sim, dim, config.headroom_bytes, err))
        return;
    if (sim_uses_credits(sim, dim)) {
        config.credits = config.lossless;
        for (uint32_t p = config.first_port; p < config.first_port + config.n_ports; p++)
            set_credits(sim, p, config.credits);
    }
    adapter_add(&sim->hosts, &config);
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
    for (uint32_t rank = 0; rank < sim->graph.n_ranks; rank++)
        for (uint32_t d = 0; d < sim->spec->n_dims; d++)
            add(sim, rank, d, err);
}

ps_t sim_adapter_rtt_ps(const struct sim *sim, uint32_t dim, uint32_t transport)
{
    const struct nic_spec *nic = &sim->spec->dims[dim].nic;
    const struct transport_dim *t = hosts_dim(&sim->hosts, dim, transport);
    if (!nic_spec_serves(nic))
        return 0;
    return nic_packet_ps(nic, t->mtu_bytes) + nic_packet_ps(nic, 0);
}
