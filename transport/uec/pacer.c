// SPDX-License-Identifier: MIT
// Credits that a receiving port grants (RCCC). Flows that have requested credits get a grant each
// in round robin, at the credit rate of the port. While no flow requests credits, the other flows
// get grants in advance.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/crossing.h"
#include "transport/nic/adapter.h"
#include "transport/uec/uec.h"

// A list of receivers, first in first out.
struct pull_list {
    struct uec_receiver *head, *tail;
};

struct pull_port {
    struct pull_list active, idle;
    struct sim_timer timer; // the next grant; stopped while no flow can be granted any
    uint32_t waiting;       // as a sending port: flows that are ready to send
};

// The state that the flows of a dimension share.
struct uec_shared {
    struct pull_port *ports; // [port of a rank]
    bool borrowed;           // a shard has those of the whole
};

static struct pull_port *port_at(struct transport_dim *dim, uint32_t port)
{
    return &((struct uec_shared *)dim->shared)->ports[port];
}

uint32_t *uec_waiting_at(struct transport_dim *dim, uint32_t port)
{
    return &port_at(dim, port)->waiting;
}

static void push(struct pull_list *list, struct uec_receiver *r, enum uec_pull_list name)
{
    r->pull.list = (uint8_t)name;
    r->pull.next = NULL;
    if (list->tail)
        list->tail->pull.next = r;
    else
        list->head = r;
    list->tail = r;
}

static struct uec_receiver *pop(struct pull_list *list)
{
    struct uec_receiver *r = list->head;
    list->head = r->pull.next;
    if (!list->head)
        list->tail = NULL;
    r->pull.list = PULL_NONE;
    return r;
}

static void remove_from(struct pull_list *list, struct uec_receiver *r)
{
    struct uec_receiver *before = NULL;
    for (struct uec_receiver *i = list->head; i != r; i = i->pull.next)
        before = i;
    if (before)
        before->pull.next = r->pull.next;
    else
        list->head = r->pull.next;
    if (list->tail == r)
        list->tail = before;
    r->pull.list = PULL_NONE;
}

static uint32_t quanta(uint64_t bytes) { return (uint32_t)(bytes / UEC_QUANTUM_BYTES); }

static int32_t asked_for(const struct uec_receiver *r)
{
    return (int32_t)(r->pull.target - r->pull.granted);
}

static void send_grant(struct uec_receiver *r, ps_t now)
{
    const struct transport_dim *dim = r->base.dim;
    struct meta_pool *pool = &dim->hosts->net->meta;
    uint32_t slot = meta_alloc(pool);
    *meta_at(pool, slot) = (struct packet_meta){
        .seq = r->pull.granted, .entropy = (uint16_t)(r->pull.turn++ % r->n_entropies)};
    uec_dim(dim)->counters.grants++;
    uec_send_report(r, PACKET_CREDIT, slot, uec_control_sizes(&dim->spec), 0, now);
}

// Grant at most one piece to the flow. Returns the quanta that count against the rate.
static uint32_t grant(struct uec_receiver *r, bool in_advance, ps_t now)
{
    int32_t asked = asked_for(r), piece = (int32_t)quanta(r->limits.grant_bytes);
    int32_t given = in_advance || asked > piece ? piece : asked > 0 ? asked : 0;
    r->pull.granted += (uint32_t)given;
    send_grant(r, now);
    return given > 0 ? (uint32_t)given : 4;
}

// Returns the flow that gets credits in advance next, or NULL.
static struct uec_receiver *next_idle(struct pull_port *port)
{
    struct uec_receiver *first = NULL;
    while (port->idle.head && port->idle.head != first) {
        struct uec_receiver *r = port->idle.head;
        if (-asked_for(r) < (int32_t)quanta(r->limits.max_bytes))
            return r;
        first = first ? first : r;
        pop(&port->idle);
        push(&port->idle, r, PULL_IDLE);
    }
    return NULL;
}

static void serve(struct transport_dim *dim, uint32_t index, ps_t now)
{
    struct pull_port *port = port_at(dim, index);
    struct uec_receiver *r = port->active.head;
    bool in_advance = !r;
    if (!r)
        r = next_idle(port);
    if (!r)
        return;
    pop(in_advance ? &port->idle : &port->active);
    uint32_t count = grant(r, in_advance, now);
    if (asked_for(r) > 0)
        push(&port->active, r, PULL_ACTIVE);
    else
        push(&port->idle, r, PULL_IDLE);
    // The time of a quantum is rounded down to 1 ps, as in the source.
    ps_t quantum_ps = (ps_t)(UEC_QUANTUM_BYTES * 8e12 / (double)r->limits.rate_bps);
    sim_timer_start(dim->hosts->net->engine, &port->timer, now + (ps_t)count * quantum_ps);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct pull_port *port =
        (struct pull_port *)(void *)((char *)timer - offsetof(struct pull_port, timer));
    struct transport_dim *dim = timer->data;
    serve(dim, (uint32_t)(port - ((struct uec_shared *)dim->shared)->ports), e->now_ps);
}

// The credits of flows whose packets arrive by this port.
static void find_limits(struct uec_receiver *r)
{
    const struct transport_dim *dim = r->base.dim;
    const struct byte_time *bt = &port_link(dim->hosts->net, r->port)->byte_time;
    const struct cc_env env = {.line_bps = (uint64_t)(8e12 * (double)bt->den / (double)bt->num),
                               .global_rtt_ps = dim->global_rtt_ps,
                               .mtu_bytes = dim->mtu_bytes,
                               .full_wire_bytes = dim->full.wire,
                               .helpers = &cc_helpers};
    r->limits = cc_credits_of(dim->cc, dim->cc_params, &env);
    uint64_t drain = adapter_drain_bps(dim->hosts, r->port, dim->full.wire, dim->mtu_bytes);
    if (drain < env.line_bps) // the NIC's transfer to its rank is the slower link
        r->limits.rate_bps =
            1 + (uint64_t)((double)r->limits.rate_bps * (double)drain / (double)env.line_bps);
}

// Leave the list of another port if the flow's packets now arrive by this one.
static void follow_port(struct transport_dim *dim, struct uec_receiver *r)
{
    struct pull_port *old = port_at(dim, r->pull.port);
    if (r->pull.port != r->port && r->pull.list != PULL_NONE)
        remove_from(r->pull.list == PULL_ACTIVE ? &old->active : &old->idle, r);
    r->pull.port = r->port;
}

void uec_pull_asked(struct uec_receiver *r, uint32_t target, bool asked, ps_t now)
{
    struct transport_dim *dim = uec_dim(r->base.dim);
    struct pull_port *port = port_at(dim, r->port);
    if ((int32_t)(target - r->pull.target) > 0)
        r->pull.target = target;
    bool active = asked || asked_for(r) > 0 || r->pull.list == PULL_ACTIVE;
    if (r->limits.grant_bytes == 0)
        find_limits(r);
    follow_port(dim, r);
    if (active && r->pull.list == PULL_IDLE)
        remove_from(&port->idle, r);
    if (active && r->pull.list == PULL_NONE)
        push(&port->active, r, PULL_ACTIVE);
    else if (r->pull.list == PULL_NONE)
        push(&port->idle, r, PULL_IDLE);
    if (!sim_timer_active(&port->timer))
        serve(dim, r->port, now);
}

void uec_open_dim(struct transport_dim *dim)
{
    const struct network *net = dim->hosts->net;
    if (!(dim->cc->needs & CC_NEEDS_CREDITS))
        return;
    struct uec_shared *shared = dim->shared = memory_zeroed(1, sizeof *shared);
    shared->ports = memory_zeroed(net->first_port[net->n_ranks], sizeof *shared->ports);
    for (uint32_t rank = 0; rank < net->n_ranks; rank++)
        for (uint32_t p = net->first_port[rank]; p < net->first_port[rank + 1]; p++)
            sim_timer_init(net->engine, &shared->ports[p].timer, rank, on_timer, dim);
}

void uec_divide_dim(struct transport_dim *part, const struct transport_dim *whole)
{
    const struct network *net = part->hosts->net;
    if (!whole->shared)
        return;
    struct uec_shared *shared = part->shared = memory_zeroed(1, sizeof *shared);
    shared->ports = ((const struct uec_shared *)whole->shared)->ports;
    shared->borrowed = true;
    for (uint32_t p = 0; p < net->first_port[net->n_ranks]; p++)
        if (network_of_port(part->hosts->whole->net, p) == net)
            shared->ports[p].timer.data = part;
}

void uec_close_dim(struct transport_dim *dim)
{
    struct uec_shared *shared = dim->shared;
    if (!shared)
        return;
    if (!shared->borrowed)
        free(shared->ports);
    free(shared);
}
