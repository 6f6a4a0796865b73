// SPDX-License-Identifier: MIT
// The reaction of a port to PFC frames (IEEE 802.1Qbb). A pause stops a class after the current
// packet for `quanta` times 512 bit times of the link, unless refreshed. Quanta of 0 resumes it.
#include "net/network.h"

static unsigned class_slot(const struct network *net, unsigned cls)
{
    return net->slot_of_class[cls];
}

static void pause_begin(struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    struct pause *pause = &net->pfc[index].cls[cls];
    pause->since_ps = now;
    pause->pauses++;
    net->pfc[index].stopped |= (uint16_t)(1u << class_slot(net, cls));
    net->ports[index].paused |= (uint16_t)(1u << class_slot(net, cls));
}

static void pause_end(struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    struct pause *pause = &net->pfc[index].cls[cls];
    pause->total_ps += now - pause->since_ps;
    pause->ended_ps = now;
    net->pfc[index].stopped &= (uint16_t) ~(1u << class_slot(net, cls));
    if (!net->pfc[index].dark)
        net->ports[index].paused &= (uint16_t) ~(1u << class_slot(net, cls));
}

// True if PFC has paused the class, whether the port is dark or not.
static bool is_stopped(const struct network *net, uint32_t index, unsigned cls)
{
    return net->pfc[index].stopped >> class_slot(net, cls) & 1;
}

// Report to a capture how long a class of a watched port has been paused.
static void tell(const struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    if (net->cold[index].special & SPECIAL_TAPPED && net->tap.paused)
        net->tap.paused(net->tap.ctx, index, cls, now - net->pfc[index].cls[cls].since_ps, now);
}

static void report_change(struct network *net, uint32_t index, unsigned cls, bool paused, ps_t now)
{
    const struct node_ops *ops = node_ops_of(net, net->ports[index].node);
    if (ops->pause_changed && !net->pfc[index].dark)
        ops->pause_changed(ops->ctx, index, cls, paused, now);
}

static void arm_expiry(struct network *net, uint32_t index)
{
    struct port_pfc *pfc = &net->pfc[index];
    ps_t first = PS_NEVER;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (class_slot(net, cls) != NET_NO_SLOT && is_stopped(net, index, cls) &&
            pfc->cls[cls].until_ps < first)
            first = pfc->cls[cls].until_ps;
    if (first == PS_NEVER)
        sim_timer_stop(&pfc->expiry);
    else
        sim_timer_start(net->engine, &pfc->expiry, first);
}

static void apply(struct network *net, uint32_t index, uint8_t classes, uint16_t quanta, ps_t now)
{
    // a quantum of 512 bits = 64 byte times
    ps_t length = byte_time_span(&port_link(net, index)->byte_time, (uint64_t)quanta * 64);
    uint8_t changed = 0;
    port_catch_up(net, index, now);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++) {
        if (!(classes >> cls & 1) || class_slot(net, cls) == NET_NO_SLOT ||
            net->pfc[index].pfc_ignored >> cls & 1)
            continue;
        bool was = is_stopped(net, index, cls);
        net->pfc[index].cls[cls].until_ps = now + length;
        // The frame renews or ends a pause: report the length so far to captures.
        if (was)
            tell(net, index, cls, now);
        if (quanta > 0 && !was)
            pause_begin(net, index, cls, now);
        else if (quanta == 0 && was)
            pause_end(net, index, cls, now);
        if (was != (quanta > 0))
            changed |= (uint8_t)(1u << cls);
    }
    arm_expiry(net, index);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (changed >> cls & 1)
            report_change(net, index, cls, quanta > 0, now);
    if (changed && quanta == 0)
        port_kick(net, index, now);
}

void port_ignore_pauses(struct network *net, uint32_t index, unsigned cls, bool ignore, ps_t now)
{
    uint8_t bit = (uint8_t)(1u << cls);
    if (!ignore) {
        net->pfc[index].pfc_ignored &= (uint8_t)~bit;
        return;
    }
    // End the present pause first: apply() skips a class that ignores pauses, so a later XON would
    // not end it.
    if (is_stopped(net, index, cls))
        apply(net, index, bit, 0, now);
    net->pfc[index].pfc_ignored |= bit;
}

void port_stop_class(struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    if (port_class_paused(net, index, cls))
        return;
    net->pfc[index].cls[cls].until_ps = PS_NEVER;
    pause_begin(net, index, cls, now);
    report_change(net, index, cls, true, now);
}

void port_resume_class(struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    pause_end(net, index, cls, now);
    report_change(net, index, cls, false, now);
    port_kick(net, index, now);
}

void port_receive_pfc(struct network *net, uint32_t index, struct packet *p, ps_t now)
{
    packet_end(net, p);
    net->pfc[index].rx_frames++;
    if (net->pfc[index].response_ps == 0) {
        apply(net, index, packet_pfc_classes(p), packet_pfc_quanta(p), now);
        return;
    }
    *fifo_push(&net->pool, &net->pfc[index].pending) = *p;
    const struct port *port = &net->ports[index];
    engine_push(net->engine, now + net->pfc[index].response_ps,
                event_key(port->node, EVENT_PAUSE, net->cold[index].local, index));
}

void port_apply_pending_pfc(struct network *net, uint32_t index, ps_t now)
{
    struct fifo *pending = &net->pfc[index].pending;
    struct packet p = *fifo_head(&net->pool, pending);
    fifo_drop_head(&net->pool, pending);
    apply(net, index, packet_pfc_classes(&p), packet_pfc_quanta(&p), now);
}

void pause_expired(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct network *net = timer->data;
    struct port_pfc *pfc = (struct port_pfc *)((char *)timer - offsetof(struct port_pfc, expiry));
    uint32_t index = (uint32_t)(pfc - net->pfc);
    ps_t now = engine->now_ps;
    uint8_t expired = 0;
    port_catch_up(net, index, now);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (class_slot(net, cls) != NET_NO_SLOT && is_stopped(net, index, cls) &&
            pfc->cls[cls].until_ps <= now) {
            tell(net, index, cls, now);
            pause_end(net, index, cls, now);
            expired |= (uint8_t)(1u << cls);
        }
    arm_expiry(net, index);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (expired >> cls & 1)
            report_change(net, index, cls, false, now);
    port_kick(net, index, now);
}

void port_set_dark(struct network *net, uint32_t index, bool dark, ps_t now)
{
    struct port_pfc *pfc = &net->pfc[index];
    const unsigned all = (1u << net->n_slots) - 1;
    if (pfc->dark == dark)
        return;
    port_catch_up(net, index, now);
    pfc->dark = false; // report_change() reports nothing while the port is dark
    net->ports[index].paused = (dark ? all : pfc->stopped) & NET_ALL_SLOTS;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (class_slot(net, cls) != NET_NO_SLOT && !is_stopped(net, index, cls))
            report_change(net, index, cls, dark, now);
    pfc->dark = dark;
    if (!dark)
        port_kick(net, index, now);
}

ps_t port_paused_ps(const struct network *net, uint32_t index, unsigned cls, ps_t now)
{
    const struct pause *pause = &net->pfc[index].cls[cls];
    if (net->slot_of_class[cls] == NET_NO_SLOT)
        return pause->total_ps;
    if (is_stopped(net, index, cls))
        return pause->total_ps + (now > pause->since_ps ? now - pause->since_ps : 0);
    if (pause->ended_ps <= now)
        return pause->total_ps;
    return pause->total_ps - (pause->ended_ps - (now > pause->since_ps ? now : pause->since_ps));
}
