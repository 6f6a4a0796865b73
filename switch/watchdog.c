// SPDX-License-Identifier: MIT
// The PFC watchdog, modelled after SONiC's (detection time, action, restoration time). At detection
// the queued packets are dropped. Until restoration the port ignores pauses and keeps sending;
// SONiC would also drop the packets that arrive in this time.
#include "switch/watchdog.h"

#include "engine/base/memory.h"
#include "switch/switch.h"

// Returns the switch of a port, or the router where the port is a rank's; NULL if it has neither.
static struct switch_node *watched_node(const struct switches *sw, uint32_t port)
{
    uint32_t node = sw->net->ports[port].node;
    if (node >= sw->net->n_ranks)
        return switch_of(sw, node);
    bool routed = sw->router_at != NULL && sw->router_at[port] > 0;
    return routed ? &sw->nodes[sw->router_at[port] - 1] : NULL;
}

static void on_detected(struct switches *sw, struct watchdog *w, ps_t now)
{
    struct network *net = sw->net;
    struct switch_node *s = watched_node(sw, w->port);
    unsigned slot = net->slot_of_class[w->cls];
    struct packet p;
    port_catch_up(net, w->port, now);
    w->fired++;
    while (port_drop_head(net, w->port, slot, &p, now)) {
        struct drop_level level = {port_queue(net, w->port, slot)->bytes + p.frame_bytes, 0};
        network_drop(net, w->port, &p, DROP_WATCHDOG, level, now);
        // A packet that the NIC itself has queued uses no buffer of the router.
        if (p.ingress != PACKET_OWN)
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

void watchdog_pause_changed(struct switches *sw, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    const struct switch_node *s = watched_node(sw, port);
    if (s == NULL || cls >= NET_DATA_CLASSES || s->watchdog_detect_ps == PS_NEVER)
        return;
    struct watchdog *w = &sw->watchdogs[port_data_index(sw->net, port, cls)];
    // Until restoration the port ignores pauses, so they neither start nor stop the timer.
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

static void pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now)
{
    watchdog_pause_changed(ctx, port, cls, paused, now);
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
