// SPDX-License-Identifier: MIT
// Credit-based flow control of a run: which links have it, and the buffers behind them.
#include "net/credits.h"

#include "sim/sim_internal.h"

bool sim_uses_credits(const struct sim *sim, uint32_t dim)
{
    return sim->spec->dims[dim].sw.flow_control == FLOW_CONTROL_CREDIT &&
           sim_lossless(sim, dim) != 0;
}

// With as many full packets as the link carries from the start of a packet to the return of its credit,
// and two more, the link is never idle for want of credit.
uint32_t sim_credit_bytes(const struct sim *sim, uint32_t port)
{
    const struct graph_port *here = &sim->graph.ports[port];
    const struct graph_port *sender = &sim->graph.ports[here->peer];
    uint64_t given = sim->spec->dims[here->dim].sw.credit_bytes;
    uint64_t frame = sim_largest_packets(sim, here->dim).frame;
    uint64_t full = (uint64_t)credit_blocks((uint32_t)frame) * CREDIT_BLOCK_BYTES;
    uint64_t bytes = bytes_in_ps(sender->delay_ps + here->delay_ps, sender->rate_bps);
    bytes = given != PARAM_AUTO ? given : ((bytes + frame - 1) / frame + 3) * full;
    return bytes < UINT32_MAX ? (uint32_t)bytes / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES
                              : UINT32_MAX / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES;
}

static void check_dim(const struct sim *sim, uint32_t dim, struct err *err)
{
    uint64_t given = sim->spec->dims[dim].sw.credit_bytes;
    uint64_t full =
        (uint64_t)credit_blocks(sim_largest_packets(sim, dim).frame) * CREDIT_BLOCK_BYTES;
    char have[UNIT_TEXT], need[UNIT_TEXT];
    if (given != PARAM_AUTO && given / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES < full)
        err_add(err, "switch.credit", "%s is less than the largest packet, %s in blocks of 64 B",
                human_bytes(given, have), human_bytes(full, need));
}

static void init_port(struct sim *sim, uint32_t port)
{
    uint32_t far = sim->graph.ports[port].peer, dim = sim->graph.ports[port].dim;
    struct switch_node *s = switch_of_port(&sim->switches, far);
    if (!s || !sim_uses_credits(sim, dim))
        return;
    s->credits = s->lossless;
    switches_use_parts(&sim->switches);
    network_set_credits(&sim->net, port, s->lossless,
                        sim_credit_bytes(sim, far) / CREDIT_BLOCK_BYTES,
                        credit_blocks(sim_largest_packets(sim, dim).frame));
    // Credit returns when a packet leaves the switch, so departures must be events.
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        port_pin_departure_events(&sim->net, p);
    if (sim->graph.ports[port].node < sim->graph.n_ends)
        for (uint32_t i = 0; i < sim->net.n_data; i++) {
            unsigned cls = sim->net.class_of_slot[sim->net.data_slot + i];
            hosts_nic(&sim->hosts, port, cls)->needs_credit = s->lossless >> cls & 1;
        }
}

void sim_credits_init(struct sim *sim, struct err *err)
{
    bool wanted = false, used = false;
    for (uint32_t d = 0; d < sim->spec->n_dims; d++) {
        wanted |= sim->spec->dims[d].sw.flow_control == FLOW_CONTROL_CREDIT;
        used |= sim_uses_credits(sim, d);
        if (sim_uses_credits(sim, d))
            check_dim(sim, d, err);
    }
    if (wanted && !used)
        err_warn(err, "switch.flow_control",
                 "no link has credits: no class of data is lossless (pfc.enabled, classes)");
    for (uint32_t p = 0; p < sim->graph.n_ports; p++)
        init_port(sim, p);
}
