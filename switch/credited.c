// SPDX-License-Identifier: MIT
// The buffer of packets that came with credit: it is reserved, so they need no admission.
#include "switch/credited.h"

#include "net/credit_balance.h"

// Give back the credit of a packet that arrived by a port of the switch.
void switch_return_credit(const struct switches *sw, const struct switch_node *s, uint32_t local,
                          const struct packet *p, ps_t now)
{
    const struct network *net = sw->net;
    credits_return(sw->net, net->cold[s->first_port + local].peer, p->cls, p->frame_bytes, now);
}

// Queue a packet for which the sender's credit has reserved buffer.
void switch_hold_credited(struct switches *sw, struct switch_node *s, uint32_t local, uint32_t out,
                          struct packet *p, ps_t now)
{
    struct network *net = sw->net;
    unsigned slot = net->slot_of_class[p->cls];
    mmu_take_reserved(switch_mmu(s, local), local, mmu_class(net, p->cls),
                      credit_blocks(p->frame_bytes) * CREDIT_BLOCK_BYTES);
    if (s->marking)
        switch_mark_arrival(sw, s, out, p, port_queue(net, out, slot)->bytes, now);
    port_hold(net, out, slot, p, now)->ingress = (uint16_t)local;
}

void switch_release_credited(const struct switches *sw, struct switch_node *s,
                             const struct packet *p, ps_t now)
{
    mmu_give_reserved(switch_mmu(s, p->ingress), p->ingress, mmu_class(sw->net, p->cls),
                      credit_blocks(p->frame_bytes) * CREDIT_BLOCK_BYTES);
    switch_return_credit(sw, s, p->ingress, p, now);
}
