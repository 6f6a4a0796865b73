// SPDX-License-Identifier: MIT
// The PFC frames that a switch sends: XOFF, XON, and the refresh of pauses that must last longer.
#include "switch/pauses.h"

static void refresh_arm(struct switches *sw, uint32_t port, ps_t now)
{
    struct switch_port *sp = &sw->ports[port];
    sim_timer_start(sw->net->engine, &sp->refresh, now + sp->refresh_every_ps);
}

static struct pfc_cause cause_of(const struct switches *sw, struct switch_node *s, uint32_t port,
                                 unsigned cls)
{
    uint32_t local = port - s->first_port;
    struct mmu_level level =
        mmu_ingress_level(switch_mmu(s, local), local, mmu_class(sw->net, cls));
    return (struct pfc_cause){.held_bytes = level.bytes, .limit_bytes = level.limit_bytes};
}

// Pause a class of the sender at the other end of a port. A refresh covers all paused classes at
// once, so the timer of the first class is early enough for the others.
void switch_send_xoff(struct switches *sw, struct switch_node *s, uint32_t port,
                      const struct packet *trigger, ps_t now)
{
    struct switch_port *sp = &sw->ports[port];
    unsigned cls = trigger->cls;
    struct pfc_cause cause = cause_of(sw, s, port, cls);
    cause.trigger = trigger;
    port_send_pfc(sw->net, port, (uint8_t)(1u << cls), s->quanta, &cause, now);
    if (sp->xoff_sent == 0)
        refresh_arm(sw, port, now);
    sp->xoff_sent |= (uint8_t)(1u << cls);
}

void switch_send_xon(struct switches *sw, struct switch_node *s, uint32_t port, unsigned cls,
                     ps_t now)
{
    struct switch_port *sp = &sw->ports[port];
    struct pfc_cause cause = cause_of(sw, s, port, cls);
    port_send_pfc(sw->net, port, (uint8_t)(1u << cls), 0, &cause, now);
    sp->xoff_sent &= (uint8_t) ~(1u << cls);
    if (sp->xoff_sent == 0)
        sim_timer_stop(&sp->refresh);
}

// The port whose queue holds most of the buffer, which is `out` unless another one is longer. The
// packet that completes an ingress's share is one of many, and mostly one that would have passed.
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

// Record that an XOFF of ingress `in` is caused by the longest queue, with `out` that of the packet
// that completed its share, by the majority vote of Boyer and Moore (1981).
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

// Send XOFF again after half of its quanta, because the pause must last longer.
void switch_refresh_pauses(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct switches *sw = timer->data;
    struct switch_port *sp =
        (struct switch_port *)((char *)timer - offsetof(struct switch_port, refresh));
    uint32_t port = (uint32_t)(sp - sw->ports);
    struct switch_node *s = switch_of_port(sw, port);
    struct pfc_cause cause = cause_of(sw, s, port, (unsigned)__builtin_ctz(sp->xoff_sent));
    cause.renews = true;
    port_send_pfc(sw->net, port, sp->xoff_sent, s->quanta, &cause, engine->now_ps);
    refresh_arm(sw, port, engine->now_ps);
}
