// SPDX-License-Identifier: MIT
// The PFC watchdog, modelled after SONiC's (detection time, action, restoration time). At detection
// the queued packets are dropped. Until restoration the port ignores pauses and keeps sending;
// SONiC would also drop the packets that arrive in this time.
#include "switch/watchdog.h"

#include "engine/memory.h"
#include "switch/switch.h"

static void on_detected(struct switches *sw, struct watchdog *w, ps_t now)
{
    struct network *net = sw->net;
    struct switch_node *s = switch_of(sw, net->ports[w->port].node);
    unsigned slot = net->slot_of_class[w->cls];
    struct packet p;
    port_catch_up(net, w->port, now);
    w->fired++;
    while (port_drop_head(net, w->port, slot, &p, now)) {
        struct drop_level level = {port_queue(net, w->port, slot)->bytes + p.frame_bytes, 0};
        network_drop(net, w->port, &p, DROP_WATCHDOG, level, now);
        switch_release(sw, s, &p, now);
    }
    w->restoring = true;
    sw->n_watchdogs_armed++;
    port_ignore_pauses(net, w->port, w->cls, true, now);
    sim_timer_start(net->engine, &w->timer, now + s->watchdog_restore_ps);
}

static void on_timer(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct watchdog *w = timer->data;
    struct switches *sw = w->sw;
    sw->n_watchdogs_armed--;
    if (!w->restoring) {
        on_detected(sw, w, engine->now_ps);
        return;
    }
    w->restoring = false;
    port_ignore_pauses(sw->net, w->port, w->cls, false, engine->now_ps);
}

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    struct switches *sw = ctx;
    const struct switch_node *s = switch_of(sw, sw->net->ports[port].node);
    if (cls >= NET_DATA_CLASSES || s->watchdog_detect_ps == PS_NEVER)
        return;
    struct watchdog *w = &sw->watchdogs[port_data_index(sw->net, port, cls)];
    if (w->restoring)
        return;
    if (paused) {
        sw->n_watchdogs_armed++;
        sim_timer_start(sw->net->engine, &w->timer, now + s->watchdog_detect_ps);
    } else {
        sw->n_watchdogs_armed--;
        sim_timer_stop(&w->timer);
    }
}

void watchdogs_init(struct switches *sw)
{
    struct network *net = sw->net;
    uint32_t n = net->n_ports * net->n_data;
    sw->watchdogs = memory_zeroed(n, sizeof *sw->watchdogs);
    for (uint32_t i = 0; i < n; i++) {
        struct watchdog *w = &sw->watchdogs[i];
        w->sw = sw;
        w->port = i / net->n_data;
        w->cls = net->class_of_slot[net->data_slot + i % net->n_data];
        sim_timer_init(net->engine, &w->timer, net->ports[w->port].node, on_timer, w);
    }
    net->ops[NET_SWITCH].pause_changed = pause_changed;
}
