// SPDX-License-Identifier: MIT
// The balance of credits. A class without credit is stopped like one that PFC has paused.
#include "net/credit_balance.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"

static void on_return(struct engine *engine, struct sim_timer *timer, int revents);

void network_set_credits(struct network *net, uint32_t port, uint8_t classes, uint32_t limit_blocks,
                         uint32_t full_blocks)
{
    if (!net->credits)
        net->credits = memory_zeroed(net->n_ports, sizeof *net->credits);
    struct credit_port *c = &net->credits[port];
    c->classes = classes;
    c->limit_blocks = limit_blocks;
    c->full_blocks = full_blocks;
    c->return_ps = port_link(net, net->cold[port].peer)->delay_ps;
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        c->blocks[cls] = classes >> cls & 1 ? limit_blocks : 0;
    sim_timer_init(net->engine, &c->timer, net->ports[port].node, on_return, net);
    network_make_special(net, port, SPECIAL_CREDITS);
    net->pfc[port].pfc_ignored |= classes;
}

void credits_free(struct network *net)
{
    for (uint32_t p = 0; net->credits && p < net->n_ports; p++)
        free(net->credits[p].returns);
    free(net->credits);
    net->credits = NULL;
}

void credits_take(struct network *net, uint32_t port, const struct packet *p, ps_t now)
{
    struct credit_port *c = &net->credits[port];
    if (p->kind == PACKET_PFC || !(c->classes >> p->cls & 1))
        return;
    uint32_t blocks = credit_blocks(p->frame_bytes);
    SIM_ASSERT(net->engine, net->ports[port].node, blocks <= c->blocks[p->cls]);
    c->blocks[p->cls] -= blocks;
    if (c->blocks[p->cls] < c->full_blocks)
        port_stop_class(net, port, p->cls, now);
}

// A ring of returns that is full gets twice the room, in order from index 0.
static void returns_grow(struct credit_port *c)
{
    uint32_t cap = c->cap > 0 ? 2 * c->cap : 16;
    struct credit_return *returns = memory_zeroed(cap, sizeof *returns);
    for (uint32_t i = 0; i < c->n; i++)
        returns[i] = c->returns[(c->first + i) & (c->cap - 1)];
    free(c->returns);
    c->returns = returns;
    c->cap = cap;
    c->first = 0;
}

void credits_put(struct network *net, uint32_t port, const struct credit_return *r)
{
    struct credit_port *c = &net->credits[port];
    if (c->n == c->cap)
        returns_grow(c);
    c->returns[(c->first + c->n++) & (c->cap - 1)] = *r;
    if (c->n == 1)
        sim_timer_start(net->engine, &c->timer, r->at_ps);
}

void credits_return(struct network *net, uint32_t port, unsigned cls, uint32_t frame_bytes,
                    ps_t now)
{
    // Another shard may own the state of the port, so only the settings may be read.
    const struct credit_port *c = &net->credits[port];
    if (!(c->classes >> cls & 1))
        return;
    struct credit_return r = {now + c->return_ps, credit_blocks(frame_bytes), cls};
    bool crosses = net->ports[net->cold[port].peer].flags & PORT_CROSSES;
    if (!crosses || !crossing_credit(net, port, &r))
        credits_put(net, port, &r);
}

static void on_return(struct engine *engine, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct network *net = timer->data;
    struct credit_port *c =
        (struct credit_port *)((char *)timer - offsetof(struct credit_port, timer));
    uint32_t port = (uint32_t)(c - net->credits);
    ps_t now = engine->now_ps;
    uint8_t before = 0;
    port_catch_up(net, port, now); // packets that started before now used the old balance
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        before |= (uint8_t)((c->classes >> cls & 1 && c->blocks[cls] < c->full_blocks) << cls);
    while (c->n > 0 && c->returns[c->first].at_ps <= now) {
        const struct credit_return *r = &c->returns[c->first];
        c->blocks[r->cls] += r->blocks;
        c->first = (c->first + 1) & (c->cap - 1);
        c->n--;
    }
    if (c->n > 0)
        sim_timer_start(engine, timer, c->returns[c->first].at_ps);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++)
        if (before >> cls & 1 && c->blocks[cls] >= c->full_blocks)
            port_resume_class(net, port, cls, now);
}
