// SPDX-License-Identifier: MIT
// The fields of switches that reports read.
#include "switch/handover.h"

static void hand_over_port(struct parcel *p, struct switches *sw, uint32_t port)
{
    struct switch_port *at = &sw->ports[port];
    PARCEL(p, at->counters);
    PARCEL(p, at->xoff_cause);
    PARCEL(p, at->xoff_votes);
    if (sw->trims) {
        PARCEL(p, sw->trims[port].trimmed);
        PARCEL(p, sw->trims[port].last_hop);
    }
    uint32_t n_data = sw->net->n_data;
    for (uint32_t i = port * n_data; sw->watchdogs && i < (port + 1) * n_data; i++)
        PARCEL(p, sw->watchdogs[i].fired);
}

void switch_hand_over(struct parcel *p, struct switches *sw, uint32_t index)
{
    struct switch_node *s = &sw->nodes[index];
    PARCEL(p, s->counters);
    PARCEL(p, s->mmu.max_shared_used);
    parcel_value(p, s->mmu.ingress, (size_t)s->n_ports * s->mmu.n_classes * sizeof *s->mmu.ingress);
    for (uint32_t i = 0; s->slices && i < s->n_slices; i++)
        PARCEL(p, s->slices[i].max_shared_used);
    for (uint32_t port = s->first_port; port < s->first_port + s->n_ports; port++)
        hand_over_port(p, sw, port);
}
