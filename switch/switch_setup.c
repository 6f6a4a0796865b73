// SPDX-License-Identifier: MIT
// Gives switches their ports, and frees them.
#include <stdlib.h>

#include "switch/pauses.h"
#include "switch/quality.h"
#include "switch/routing.h"
#include "switch/switch.h"

void switch_attach(struct switches *sw, uint32_t index, uint32_t first_port, uint32_t n_ports)
{
    struct network *net = sw->net;
    struct switch_node *s = &sw->nodes[index];
    uint32_t node = net->ports[first_port].node;
    s->node_port = net->first_port[node];
    s->first_port = first_port;
    s->n_ports = n_ports;
    for (uint32_t p = first_port; p < first_port + n_ports; p++)
        sim_timer_init(net->engine, &sw->ports[p].pfc.refresh, node, switch_refresh_pauses, sw);
}

void switches_free(struct switches *sw)
{
    for (uint32_t n = 0; sw->nodes && n < sw->n_switches + sw->n_routers; n++) {
        free(sw->nodes[n].mmu.ingress);
        free(sw->nodes[n].slices);
        routing_free(&sw->nodes[n].routing);
    }
    for (uint32_t d = 0; d < sw->n_qualities; d++)
        quality_free(sw->qualities[d]);
    free(sw->qualities);
    free(sw->nodes);
    free(sw->router_at);
    free(sw->ports);
    free(sw->markings);
    free(sw->pints);
    free(sw->meters);
    free(sw->meter_at);
    free(sw->trims);
    free(sw->watchdogs);
    *sw = (struct switches){0};
}
