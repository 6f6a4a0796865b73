// SPDX-License-Identifier: MIT
// The PFC frames of a NIC whose packets arrive faster than its rank takes them.
#include "transport/host.h"
#include "transport/nic/adapter.h"

static struct network *net_of(const struct adapter *a) { return a->all->hosts->net; }

// Interval of refreshes: half of the quanta, of 512 bit times each, as for switches. It is computed
// for each pause, since faults may change a link's rate.
static ps_t refresh_ps(const struct adapter *a, uint32_t port)
{
    const struct byte_time *bt = &port_link(net_of(a), port)->byte_time;
    ps_t half = byte_time_span(bt, (uint64_t)a->quanta * 32);
    return half > 0 ? half : 1;
}

static struct pfc_cause cause_of(const struct adapter *a)
{
    return (struct pfc_cause){
        .source = PFC_NIC, .held_bytes = a->held_bytes, .limit_bytes = a->xoff_bytes};
}

void adapter_check_xoff(struct adapter *a, const struct packet *p, ps_t now)
{
    uint32_t port = node_port(net_of(a), a->node, p->ingress);
    struct adapter_port *ap = &a->all->ports[port];
    uint8_t cls = (uint8_t)(1u << p->cls);
    if (a->held_bytes < a->xoff_bytes || !(a->lossless & ~a->credits & cls) ||
        ap->pfc.xoff_sent & cls)
        return;
    struct pfc_cause cause = cause_of(a);
    cause.trigger = p;
    a->pauses++;
    ap->pauses++;
    ap->pfc.refresh_every_ps = refresh_ps(a, port);
    pfc_sender_xoff(&ap->pfc, net_of(a), port, cls, a->quanta, &cause, now);
}

void adapter_check_xon(struct adapter *a, ps_t now)
{
    const struct pfc_cause cause = cause_of(a);
    if (a->held_bytes > a->xon_bytes)
        return;
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++) {
        struct pfc_sender *sender = &a->all->ports[port].pfc;
        if (sender->xoff_sent != 0)
            pfc_sender_xon(sender, net_of(a), port, sender->xoff_sent, &cause, now);
    }
}

static void on_refresh(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct adapter *a = timer->data;
    struct adapter_port *ap =
        (struct adapter_port *)(void *)((char *)timer - offsetof(struct adapter_port, pfc.refresh));
    struct pfc_cause cause = cause_of(a);
    uint32_t port = (uint32_t)(ap - a->all->ports);
    cause.renews = true;
    ap->pfc.refresh_every_ps = refresh_ps(a, port);
    pfc_sender_renew(&ap->pfc, net_of(a), port, a->quanta, &cause, engine->now_ps);
}

void adapter_pauses_init(struct adapter *a)
{
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++) {
        struct pfc_sender *sender = &a->all->ports[port].pfc;
        sim_timer_init(net_of(a)->engine, &sender->refresh, a->node, on_refresh, a);
    }
}
