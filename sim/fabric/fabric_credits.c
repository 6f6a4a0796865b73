// SPDX-License-Identifier: MIT
// Credit-based flow control of a run: the links that have it, and the buffers behind them.
#include "net/credit_balance.h"

#include "sim/fabric/fabric_internal.h"

// The default is as many full packets as the link carries from the start of a packet to the return
// of its credit, and two more, so that the link is never idle for want of credit.
uint32_t fabric_credit_bytes(const struct fabric *fabric, uint32_t port)
{
    const struct graph_port *here = &fabric->graph.ports[port];
    const struct graph_port *sender = &fabric->graph.ports[here->peer];
    uint64_t given = fabric->spec->dims[here->dim].sw.credit_bytes;
    uint64_t frame = fabric_largest_packets(fabric, here->dim).frame;
    // Credit counts blocks, so a frame takes whole blocks.
    uint64_t full = (uint64_t)credit_blocks((uint32_t)frame) * CREDIT_BLOCK_BYTES;
    uint64_t bytes = bytes_in_ps(sender->delay_ps + here->delay_ps, sender->rate_bps);
    bytes = given != PARAM_AUTO ? given : ((bytes + frame - 1) / frame + 3) * full;
    // Only whole blocks can be granted.
    return bytes < UINT32_MAX ? (uint32_t)bytes / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES
                              : UINT32_MAX / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES;
}

static void check_dim(const struct fabric *fabric, uint32_t dim, struct err *err)
{
    uint64_t given = fabric->spec->dims[dim].sw.credit_bytes;
    uint64_t full =
        (uint64_t)credit_blocks(fabric_largest_packets(fabric, dim).frame) * CREDIT_BLOCK_BYTES;
    char have[UNIT_TEXT], need[UNIT_TEXT];
    // With less credit than one packet needs, the link would wait for ever.
    if (given != PARAM_AUTO && given / CREDIT_BLOCK_BYTES * CREDIT_BLOCK_BYTES < full)
        err_add(err, "switch.credit", "%s is less than the largest packet, %s in blocks of 64 B",
                human_bytes(given, have), human_bytes(full, need));
}

static void init_port(struct fabric *fabric, uint32_t port)
{
    uint32_t far = fabric->graph.ports[port].peer, dim = fabric->graph.ports[port].dim;
    struct switch_node *s = switch_of_port(&fabric->switches, far);
    // Ranks grant credit only where their NIC has a buffer (sim/fabric/adapters.c).
    if (!s || !fabric_uses_credits(fabric, dim))
        return;
    s->credits = s->lossless;
    switches_extend(&fabric->switches);
    network_set_credits(&fabric->net, port, s->lossless,
                        fabric_credit_bytes(fabric, far) / CREDIT_BLOCK_BYTES,
                        credit_blocks(fabric_largest_packets(fabric, dim).frame));
    // Credit returns when a packet leaves the switch, so departures must be events.
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        port_pin_departure_events(&fabric->net, p);
    // At a rank the NIC must check the credit of a class before it takes a packet from a sender.
    if (fabric->graph.ports[port].node < fabric->graph.n_ends)
        for (uint32_t i = 0; i < fabric->net.n_data; i++) {
            unsigned cls = fabric->net.class_of_slot[fabric->net.data_slot + i];
            hosts_nic(&fabric->hosts, port, cls)->needs_credit = s->lossless >> cls & 1;
        }
}

void fabric_credits_init(struct fabric *fabric, struct err *err)
{
    bool wanted = false, used = false;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        wanted |= fabric->spec->dims[d].sw.flow_control == FLOW_CONTROL_CREDIT;
        used |= fabric_uses_credits(fabric, d);
        if (fabric_uses_credits(fabric, d))
            check_dim(fabric, d, err);
    }
    if (wanted && !used)
        err_warn(err, "switch.flow_control",
                 "no link has credits: no class of data is lossless (pfc.enabled, classes)");
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        init_port(fabric, p);
}
