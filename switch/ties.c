// SPDX-License-Identifier: MIT
#include "switch/ties.h"

#include "switch/switch.h"

const struct packet *switch_youngest(const struct switches *sw, uint32_t out,
                                     const struct packet *p)
{
    const struct network *net = sw->net;
    const struct queue *queue = port_queue(net, out, net->slot_of_class[p->cls]);
    return queue->fifo.count > 0 ? fifo_last(&net->pool, &queue->fifo) : NULL;
}

bool switch_replace_youngest(struct switches *sw, struct switch_node *s,
                             struct refused_place *place, struct packet *p, ps_t now)
{
    struct network *net = sw->net;
    unsigned slot = net->slot_of_class[p->cls];
    const struct packet *last = switch_youngest(sw, place->out, p);
    uint32_t cls = mmu_class(net, p->cls);
    // mmu_readmit() fails if the buffer has no room for the arriving packet; the youngest packet
    // then keeps its place.
    mmu_release(switch_mmu(s, last->ingress), last->ingress, cls, switch_occupied(s, last));
    if (!mmu_readmit(switch_mmu(s, place->local), place->local, cls, switch_occupied(s, p))) {
        mmu_readmit(switch_mmu(s, last->ingress), last->ingress, cls, switch_occupied(s, last));
        return false;
    }
    struct packet youngest;
    if (s->marking)
        switch_mark_arrival(sw, s, place->out, p,
                            port_queue(net, place->out, slot)->bytes - last->frame_bytes, now);
    p->ingress = (uint16_t)place->local;
    port_replace_last(net, place->out, slot, p, &youngest, now);
    place->local = youngest.ingress;
    *p = youngest;
    p->arrives_ps = now;
    return true;
}

// A number below `bound`, by the seed, the port, the instant and the number of draws since the last
// packet was taken.
static uint32_t draw(const struct switch_port *port, uint32_t out, ps_t now, uint32_t bound)
{
    uint64_t h = hash_mix((uint64_t)now + ((uint64_t)port->tie.refused << 48));
    h = hash_mix(h ^ hash_mix(port->rng.seed + ((uint64_t)out << 32)));
    return (uint32_t)((h >> 32) * bound >> 32);
}

void switch_draw_tie(struct switches *sw, struct switch_node *s, struct refused_place *place,
                     struct packet *p, ps_t now)
{
    const struct network *net = sw->net;
    struct switch_port *port = &sw->ports[place->out];
    const struct packet *last = switch_youngest(sw, place->out, p);
    if (!last || last->ingress == PACKET_OWN)
        return;
    ps_t taken_ps = last->arrives_ps,
         receive_ps = byte_time_span(
             &port_link(net, net->cold[s->first_port + place->local].peer)->byte_time,
             p->wire_bytes);
    if (port->tie.taken_ps != taken_ps)
        port->tie.refused = 0;
    port->tie.taken_ps = taken_ps;
    port->tie.refused++;
    if (last->ingress == place->local || last->frame_bytes < p->frame_bytes ||
        taken_ps <= now - receive_ps || draw(port, place->out, now, port->tie.refused + 1) != 0)
        return;
    if (switch_replace_youngest(sw, s, place, p, now))
        port->tie.taken_ps = now;
}
