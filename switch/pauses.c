// SPDX-License-Identifier: MIT
// PFC frames of a switch and their causes: an ingress above its limit, and the longest queue.
#include "switch/pauses.h"

static struct pfc_cause cause_of(const struct switches *sw, struct switch_node *s, uint32_t port,
                                 unsigned cls)
{
    uint32_t local = port - s->first_port;
    struct mmu_level level =
        mmu_ingress_level(switch_mmu(s, local), local, mmu_class(sw->net, cls));
    return (struct pfc_cause){.held_bytes = level.bytes, .limit_bytes = level.limit_bytes};
}

void switch_send_xoff(struct switches *sw, struct switch_node *s, uint32_t port,
                      const struct packet *trigger, ps_t now)
{
    struct pfc_cause cause = cause_of(sw, s, port, trigger->cls);
    cause.trigger = trigger;
    pfc_sender_xoff(&sw->ports[port].pfc, sw->net, port, (uint8_t)(1u << trigger->cls), s->quanta,
                    &cause, now);
}

void switch_send_xon(struct switches *sw, struct switch_node *s, uint32_t port, unsigned cls,
                     ps_t now)
{
    struct pfc_cause cause = cause_of(sw, s, port, cls);
    pfc_sender_xon(&sw->ports[port].pfc, sw->net, port, (uint8_t)(1u << cls), &cause, now);
}

// Returns the port whose queue holds most of the buffer: `out` unless another queue is longer. The
// packet that brings an ingress to its limit is one of many, and it mostly goes to another queue
// than the one that causes the congestion.
static uint32_t longest_queue(struct switches *sw, const struct switch_node *s, uint32_t out,
                              ps_t now)
{
    const struct port *ports = sw->net->ports;
    port_catch_up(sw->net, out, now);
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++) {
        port_catch_up(sw->net, p, now);
        if (ports[p].queued_bytes > ports[out].queued_bytes)
            out = p;
    }
    return out;
}

// Record the longest queue as the cause of an XOFF of ingress `in`, by the majority vote of Boyer
// and Moore (1981). `out` is the output port of the packet that completed the ingress's share.
void switch_vote_for_cause(struct switches *sw, const struct switch_node *s, uint32_t in,
                           uint32_t out, ps_t now)
{
    struct switch_port *sp = &sw->ports[in];
    out = longest_queue(sw, s, out, now);
    if (sp->xoff_votes == 0)
        sp->xoff_cause = out;
    if (sp->xoff_cause == out)
        sp->xoff_votes++;
    else
        sp->xoff_votes--;
}

void switch_refresh_pauses(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct switches *sw = timer->data;
    struct switch_port *sp =
        (struct switch_port *)((char *)timer - offsetof(struct switch_port, pfc.refresh));
    uint32_t port = (uint32_t)(sp - sw->ports);
    struct switch_node *s = switch_of_port(sw, port);
    struct pfc_cause cause = cause_of(sw, s, port, (unsigned)__builtin_ctz(sp->pfc.xoff_sent));
    cause.renews = true;
    pfc_sender_renew(&sp->pfc, sw->net, port, s->quanta, &cause, engine->now_ps);
}
