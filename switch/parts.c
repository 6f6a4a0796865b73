// SPDX-License-Identifier: MIT
// The switches of a network in parts. A switch belongs to one part, so only what refers to the
// network differs between the parts.
#include "engine/memory.h"
#include "net/crossing.h"
#include "switch/switch.h"

struct switches *switches_divide(struct switches *sw)
{
    const struct network_parts *parts = sw->net->parts;
    const struct partition *partition = parts->partition;
    struct switches *of = memory_zeroed(partition->n, sizeof *of);
    for (uint32_t i = 0; i < partition->n; i++) {
        of[i] = *sw;
        of[i].net = &parts->nets[i];
        of[i].n_watchdogs_armed = 0;
        of[i].net->ops[NET_SWITCH].ctx = of[i].net->ops[NET_ROUTER].ctx = &of[i];
    }
    for (uint32_t p = 0; p < sw->net->n_ports; p++)
        sw->ports[p].pfc.refresh.data = &of[partition->part_of[sw->net->ports[p].node]];
    for (uint32_t i = 0; sw->watchdogs && i < sw->net->n_ports * sw->net->n_data; i++) {
        struct watchdog *w = &sw->watchdogs[i];
        w->sw = &of[partition->part_of[sw->net->ports[w->port].node]];
    }
    return of;
}

void switches_unite(struct switches *sw, const struct switches *parts)
{
    for (uint32_t i = 0; i < sw->net->parts->partition->n; i++)
        sw->n_watchdogs_armed += parts[i].n_watchdogs_armed;
}
