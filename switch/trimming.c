// SPDX-License-Identifier: MIT
// The choice of the packet that loses its payload, and what remains of it.
#include "switch/trimming.h"

#include "switch/switch.h"
#include "switch/ties.h"

static bool can_trim(const struct trimming *t, const struct packet *p)
{
    return p->kind == PACKET_DATA && p->frame_bytes > t->frame_bytes;
}

static void note_trim(const struct switches *sw, const struct refused_place *place,
                      const struct packet *p)
{
    struct packet_note *note = meta_note(&sw->net->meta, p->meta);
    if (!note)
        return;
    note->set |= NOTE_TRIM;
    note->trim = (struct note_trim){place->out, place->level.bytes, place->level.limit_bytes};
}

bool switch_trim(struct switches *sw, struct switch_node *s, struct refused_place *place,
                 struct packet *p, ps_t now)
{
    const struct trimming *t = &s->trimming;
    struct trim_port *port = &sw->trims[place->out];
    const struct packet *last = switch_youngest(sw, place->out, p);
    bool youngest = t->victim == TRIM_COIN && rng_u32(&port->coin) & 1 && last &&
                    can_trim(t, last) && switch_replace_youngest(sw, s, place, p, now);
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
