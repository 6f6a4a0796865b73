// SPDX-License-Identifier: MIT
#include "switch/meter.h"

#include "switch/switch.h"

// Takes the tokens for the frame, if the bucket has them.
static bool takes(struct meter *m, uint32_t frame_bytes, ps_t now)
{
    ps_t from_ps = m->full_ps > now ? m->full_ps : now,
         full_ps = from_ps + serialization_ps(frame_bytes, m->rate_bps);
    bool within = full_ps - now <= m->burst_ps;
    if (within)
        m->full_ps = full_ps;
    return within;
}

static void mark(struct switches *sw, uint32_t port, struct packet *p)
{
    if (!(p->flags & PACKET_ECT) || p->flags & PACKET_CE)
        return;
    p->flags |= PACKET_CE;
    sw->ports[port].counters.marked++;
    struct packet_note *note = meta_note(&sw->net->meta, p->meta);
    if (note) {
        note->set |= NOTE_MARK;
        note->mark = (struct note_mark){port, 0, 1}; // no queue, and certain
    }
}

// The meters of one port in the order of the scenario. `port` is where drops and marks count.
static bool pass(struct switches *sw, uint32_t first, uint32_t port, struct packet *p, ps_t now)
{
    for (uint32_t i = first; i > 0; i = sw->meters[i - 1].next) {
        struct meter *m = &sw->meters[i - 1];
        if (!(m->classes >> p->cls & 1) || takes(m, p->frame_bytes, now))
            continue;
        sw->ports[port].counters.metered++;
        if (m->excess == METER_DROPS) {
            network_drop(sw->net, port, p, DROP_METER, (struct drop_level){0}, now);
            return false;
        }
        mark(sw, port, p);
    }
    return true;
}

bool switch_meter(struct switches *sw, const struct switch_node *s, uint32_t in, uint32_t out,
                  struct packet *p, ps_t now)
{
    if (p->cls >= NET_DATA_CLASSES || s->credits >> p->cls & 1)
        return true;
    return pass(sw, sw->meter_at[in].in, out, p, now) &&
           pass(sw, sw->meter_at[out].out, out, p, now);
}
