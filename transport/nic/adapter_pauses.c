// SPDX-License-Identifier: MIT
// PFC as a NIC sends it, where packets arrive faster than its rank takes them.
#include "transport/host.h"
#include "transport/nic/adapter.h"

static struct network *net_of(const struct adapter *a) { return a->all->hosts->net; }

// Half of the quanta, of 512 bit times each, as switches do.
static ps_t refresh_ps(const struct adapter *a, uint32_t port)
{
    const struct byte_time *bt = &port_link(net_of(a), port)->byte_time;
    ps_t half = byte_time_span(bt, (uint64_t)a->quanta * 32);
    return half > 0 ? half : 1;
}

static void send(struct adapter *a, uint32_t port, uint8_t classes, uint16_t quanta,
                 struct pfc_cause cause, ps_t now)
{
    cause.source = PFC_NIC;
    cause.held_bytes = a->held_bytes;
    cause.limit_bytes = a->xoff_bytes;
    port_send_pfc(net_of(a), port, classes, quanta, &cause, now);
}

void adapter_check_xoff(struct adapter *a, const struct packet *p, ps_t now)
{
    uint32_t port = node_port(net_of(a), a->node, p->ingress);
    struct adapter_port *ap = &a->all->ports[port];
    uint8_t cls = (uint8_t)(1u << p->cls);
    if (a->held_bytes < a->xoff_bytes || !(a->lossless & ~a->credits & cls) || ap->xoff_sent & cls)
        return;
    send(a, port, cls, a->quanta, (struct pfc_cause){.trigger = p}, now);
    a->pauses++;
    ap->pauses++;
    if (ap->xoff_sent == 0)
        sim_timer_start(net_of(a)->engine, &ap->refresh, now + refresh_ps(a, port));
    ap->xoff_sent |= cls;
}

void adapter_check_xon(struct adapter *a, ps_t now)
{
    if (a->held_bytes > a->xon_bytes)
        return;
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++) {
        struct adapter_port *ap = &a->all->ports[port];
        if (ap->xoff_sent == 0)
            continue;
        send(a, port, ap->xoff_sent, 0, (struct pfc_cause){0}, now);
        ap->xoff_sent = 0;
        sim_timer_stop(&ap->refresh);
    }
}

static void on_refresh(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct adapter *a = timer->data;
    struct adapter_port *ap =
        (struct adapter_port *)(void *)((char *)timer - offsetof(struct adapter_port, refresh));
    uint32_t port = (uint32_t)(ap - a->all->ports);
    send(a, port, ap->xoff_sent, a->quanta, (struct pfc_cause){.renews = true}, engine->now_ps);
    sim_timer_start(engine, timer, engine->now_ps + refresh_ps(a, port));
}

void adapter_pauses_init(struct adapter *a)
{
    for (uint32_t port = a->first_port; port < a->first_port + a->n_ports; port++)
        sim_timer_init(net_of(a)->engine, &a->all->ports[port].refresh, a->node, on_refresh, a);
}
