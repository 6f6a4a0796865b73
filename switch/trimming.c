// SPDX-License-Identifier: MIT
// The choice of the packet that loses its payload, and what remains of it.
#include "switch/trimming.h"

#include "switch/switch.h"

static bool can_trim(const struct trimming *t, const struct packet *p)
{
    return p->kind == PACKET_DATA && p->frame_bytes > t->frame_bytes;
}

// Let *p take the place of the youngest packet of its queue, which moves to *p. Returns false if
// the youngest packet cannot be trimmed, or if there is no buffer for *p in its place.
static bool swap_with_youngest(struct switches *sw, struct switch_node *s, struct trim_place *place,
                               struct packet *p, ps_t now)
{
    struct network *net = sw->net;
    unsigned slot = net->slot_of_class[p->cls];
    const struct queue *queue = port_queue(net, place->out, slot);
    if (queue->fifo.count == 0)
        return false;
    const struct packet *last = fifo_last(&net->pool, &queue->fifo);
    uint32_t cls = mmu_class(net, p->cls);
    if (!can_trim(&s->trimming, last))
        return false;
    // mmu_readmit() fails if the buffer has no room for the arriving packet; the youngest packet
    // then keeps its place.
    mmu_release(switch_mmu(s, last->ingress), last->ingress, cls, switch_occupied(s, last));
    if (!mmu_readmit(switch_mmu(s, place->local), place->local, cls, switch_occupied(s, p))) {
        mmu_readmit(switch_mmu(s, last->ingress), last->ingress, cls, switch_occupied(s, last));
        return false;
    }
    struct packet youngest;
    if (s->marking)
        switch_mark_arrival(sw, s, place->out, p, queue->bytes - last->frame_bytes, now);
    p->ingress = (uint16_t)place->local;
    port_replace_last(net, place->out, slot, p, &youngest, now);
    place->local = youngest.ingress;
    *p = youngest;
    p->arrives_ps = now;
    return true;
}

static void note_trim(const struct switches *sw, const struct trim_place *place,
                      const struct packet *p)
{
    struct packet_note *note = meta_note(&sw->net->meta, p->meta);
    if (!note)
        return;
    note->set |= NOTE_TRIM;
    note->trim = (struct note_trim){place->out, place->level.bytes, place->level.limit_bytes};
}

bool switch_trim(struct switches *sw, struct switch_node *s, struct trim_place *place,
                 struct packet *p, ps_t now)
{
    const struct trimming *t = &s->trimming;
    struct trim_port *port = &sw->trims[place->out];
    bool youngest = t->victim == TRIM_COIN && rng_u32(&port->coin) & 1 &&
                    swap_with_youngest(sw, s, place, p, now);
    if (!youngest && !can_trim(t, p))
        return false;
    bool last_hop = sw->net->ports[place->out].peer_node == p->dst;
    port->trimmed.packets++;
    port->trimmed.bytes += (uint64_t)p->frame_bytes - t->frame_bytes;
    port->last_hop += last_hop;
    p->kind = PACKET_TRIMMED;
    p->cls = NET_CLASS_CONTROL;
    p->flags =
        (uint8_t)((p->flags & ~(PACKET_ECT | PACKET_LAST_HOP)) | (last_hop ? PACKET_LAST_HOP : 0));
    p->frame_bytes = t->frame_bytes;
    p->wire_bytes = t->wire_bytes;
    note_trim(sw, place, p);
    return true;
}
