// SPDX-License-Identifier: MIT
// The fields of ports that reports read.
#include "net/handover.h"

#include <stdlib.h>

#include "engine/base/memory.h"

static void hand_over_pauses(struct parcel *p, struct port_pfc *pfc)
{
    PARCEL(p, pfc->cls);
    PARCEL(p, pfc->tx_pause);
    PARCEL(p, pfc->tx_resume);
    PARCEL(p, pfc->stopped);
}

/* ---- queues that a pause has stopped ---- */

static uint32_t ports_of(const struct network *net, uint32_t node)
{
    return net->first_port[node + 1] - net->first_port[node];
}

// Note the links of a switch by which the packets of a queue have come.
static void note_ingresses(const struct network *net, const struct fifo *fifo, uint8_t *seen,
                           uint32_t n)
{
    struct fifo_walk walk = fifo_walk(fifo);
    for (uint32_t i = 0; i < fifo->count; i++) {
        uint32_t ingress = fifo_next(&net->pool, &walk)->ingress;
        if (ingress < n)
            seen[ingress] = 1;
    }
}

// Hand over one packet for each link, as a representative of all packets of the queue that have
// arrived by this link.
static void hand_over_queue(struct parcel *p, struct network *net, uint32_t port, unsigned slot)
{
    uint32_t n = ports_of(net, net->ports[port].node);
    struct fifo *fifo = &port_queue(net, port, slot)->fifo;
    uint8_t *seen = memory_zeroed(n, sizeof *seen);
    if (!p->reads)
        note_ingresses(net, fifo, seen, n);
    parcel_value(p, seen, n);
    for (uint32_t i = 0; p->reads && i < n; i++)
        if (seen[i])
            *fifo_push(&net->pool, fifo) = (struct packet){.ingress = (uint16_t)i};
    free(seen);
}

static void hand_over_stuck(struct parcel *p, struct network *net, uint32_t port)
{
    const struct port *at = &net->ports[port];
    for (unsigned slot = net->data_slot; slot < net->n_slots; slot++)
        if (at->paused >> slot & 1 && at->waiting >> slot & 1)
            hand_over_queue(p, net, port, slot);
}

/* ---- ports ---- */

void port_hand_over(struct parcel *p, struct network *net, uint32_t index)
{
    struct port *port = &net->ports[index];
    struct port_cold *cold = &net->cold[index];
    PARCEL(p, port->busy_until_ps);
    PARCEL(p, port->tx_bytes);
    PARCEL(p, port->tx_packets);
    PARCEL(p, port->waiting);
    PARCEL(p, port->paused);
    PARCEL(p, port->max_queued_bytes);
    PARCEL(p, port->wait_byte_ps);
    PARCEL(p, cold->wait_wraps);
    PARCEL(p, cold->earlier_bytes);
    PARCEL(p, cold->earlier_ps);
    PARCEL(p, cold->dropped);
    hand_over_pauses(p, &net->pfc[index]);
    if (net->faults)
        PARCEL(p, net->faults[index].retry);
    hand_over_stuck(p, net, index);
}

void port_hand_over_lost(struct parcel *p, struct network *net, uint32_t port)
{
    PARCEL_SUM(p, net->cold[port].lost);
    if (net->faults)
        PARCEL_SUM(p, net->faults[port].pfc_frames);
}

void network_hand_over(struct parcel *p, struct network *net)
{
    PARCEL_SUM(p, net->packet_hops);
    PARCEL_SUM(p, net->drops);
}
