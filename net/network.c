// SPDX-License-Identifier: MIT
// One hop of a packet: enqueue, choice of the next packet, transmission, flight, arrival.
#include "net/network.h"

#include "net/credit_balance.h"
#include "net/crossing.h"
#include "net/drr.h"

static void on_arrival(void *ctx, uint64_t key);
static void on_departure(void *ctx, uint64_t key);
static void on_pause(void *ctx, uint64_t key);

// Prefetch memory for the next events in stages: for the farthest event its link; for nearer ones
// its packets, then the memory of the node, then the place of the packet on its next link. The few
// branches nearly always go the same way, because a mispredicted branch costs as much as the
// prefetch saves.
static void hint(void *ctx, const struct event *next)
{
    struct network *net = ctx;
    const struct port *far = &net->ports[event_payload(next[3].key)];
    __builtin_prefetch(far, 1);
    __builtin_prefetch(&far->queue, 1);
    if (event_kind(next[2].key) == EVENT_ARRIVAL) {
        const struct port *mid = &net->ports[event_payload(next[2].key)];
        const struct packet *p = ring_head(&net->rings, &mid->flight);
        __builtin_prefetch(p);
        __builtin_prefetch(p + 1);
        if (mid->waiting) // a packet is in flight, and its delivery lets this port catch up
            __builtin_prefetch(fifo_head(&net->pool, &mid->queue.fifo));
    }
    const struct port *out = &net->ports[net->hinted_port];
    __builtin_prefetch(ring_at(&net->rings, &out->flight, out->flight.count), 1);
    if (out->waiting) {
        const struct fifo *queue = &out->queue.fifo;
        __builtin_prefetch(fifo_head(&net->pool, queue));
        __builtin_prefetch(fifo_place(&net->pool, queue), 1);
    }
    if (event_kind(next[1].key) == EVENT_ARRIVAL) {
        uint32_t sender = event_payload(next[1].key);
        const struct port *near = &net->ports[sender];
        const struct node_ops *ops = node_ops_of(net, near->peer_node);
        struct packet *p = ring_head(&net->rings, &near->flight);
        if (near->flags & PORT_PULLS && net->ops[NET_RANK].hint_pull)
            net->ops[NET_RANK].hint_pull(net->ops[NET_RANK].ctx, sender);
        if (ops->hint && p->kind != PACKET_PFC)
            net->hinted_port = ops->hint(ops->ctx, near->peer_node, near->peer_local, p);
    }
}

void network_handle_events(struct network *net)
{
    struct engine *engine = net->engine;
    engine->handlers[EVENT_DEPARTURE] = on_departure;
    engine->handlers[EVENT_PAUSE] = on_pause;
    engine->handlers[EVENT_ARRIVAL] = on_arrival;
    engine->handler_ctx = net;
}

void network_set_hints(struct network *net, bool on)
{
    engine_set_hint(net->engine, on ? hint : NULL);
}

// Transmission time on a link where a byte does not take an integer number of ps.
__attribute__((noinline)) static ps_t tx_time_fractional(struct network *net, uint32_t index,
                                                         uint32_t wire_bytes, ps_t now)
{
    struct port *port = &net->ports[index];
    // A new busy period starts exactly at `now`, so it has no remainder of an earlier transmission.
    if (port->busy_until_ps != now)
        port->carry = 0;
    return byte_time_with_carry(&port_link(net, index)->byte_time, wire_bytes, &port->carry);
}

// Link-level retry: until a packet has arrived the link sends nothing else. The sending port
// detects a loss when the packet would have arrived and the way back has passed. Returns for how
// long attempts fail. Captures and counters of the port only include the last attempt.
static ps_t retry(struct network *net, uint32_t index, struct packet *p, ps_t arrives_ps, ps_t now)
{
    struct port *port = &net->ports[index];
    // the port at the other end may belong to another thread; its delay never changes
    ps_t back_ps = port_first_link(net, net->cold[index].peer)->delay_ps;
    ps_t round_ps = port->busy_until_ps - now + port_link(net, index)->delay_ps + back_ps;
    ps_t waited_ps =
        fault_retry(&net->faults[index], p, meta_at(&net->meta, p->meta), arrives_ps, round_ps);
    port->busy_until_ps += waited_ps;
    return waited_ps;
}

// The steps that only some ports need when a transmission starts. Returns the time of arrival,
// PS_NEVER if the packet has gone to another shard.
__attribute__((noinline)) static ps_t special_transmission(struct network *net, uint32_t index,
                                                           struct packet *p, ps_t now)
{
    struct port *port = &net->ports[index];
    const struct link *link = port_link(net, index);
    ps_t waited_ps = 0;
    // A far end with cut-through handles the packet when its headers have arrived, any other far
    // end when its last byte has.
    ps_t arrives_ps = link->header_bytes > 0 ? now + link_flight_ps(link, p->wire_bytes)
                                             : port->busy_until_ps + link->delay_ps;
    if (net->cold[index].special & SPECIAL_RETRY)
        waited_ps = retry(net, index, p, arrives_ps, now);
    if (net->cold[index].special & SPECIAL_TAPPED)
        net->tap.seen(net->tap.ctx, index, p, now + waited_ps, port->busy_until_ps);
    if (net->cold[index].special & SPECIAL_CREDITS)
        credits_take(net, index, p, now);
    arrives_ps += waited_ps;
    if (net->cold[index].special & SPECIAL_CROSSES) {
        crossing_send(net, index, p, arrives_ps);
        return PS_NEVER;
    }
    return arrives_ps;
}

// The first packet of a link's flight becomes an event, at once or when its tile is entered.
static inline void begin_flight(struct network *net, uint32_t index, ps_t arrives_ps)
{
    if (net->ports[index].flags & PORT_CROSSES)
        crossing_arrival(net, index, arrives_ps);
    else
        port_push_arrival(net, index, arrives_ps);
}

// Start the transmission of the packet at `now`: compute its end and its arrival.
__attribute__((always_inline)) static inline void transmit(struct network *net, uint32_t index,
                                                           struct packet *p, ps_t now)
{
    struct port *port = &net->ports[index];
    const struct link *link = &net->links[port->link];
    ps_t length = link->byte_time.den == 1 ? (ps_t)(p->wire_bytes * link->byte_time.num)
                                           : tx_time_fractional(net, index, p->wire_bytes, now);
    port->busy_until_ps = now + length;
    ps_t arrives_ps = port->busy_until_ps + link->delay_ps;
    port->tx_bytes += p->wire_bytes;
    port->tx_packets++;
    net->packet_hops++;
    if (port->flags & PORT_SPECIAL) {
        arrives_ps = special_transmission(net, index, p, now);
        if (arrives_ps == PS_NEVER)
            return;
    }
    // Only the first packet in flight is a pending event.
    if (port->flight.count == 0)
        begin_flight(net, index, arrives_ps);
    struct packet *place = ring_push(&net->rings, &port->flight);
    *place = *p;
    place->arrives_ps = arrives_ps;
    place->onward = PACKET_UNDECIDED;
    __builtin_prefetch(place + 2, 1); // the cache line after the next
}

// The control class's share of the link is limited: where data waits too, the class is followed by
// control_yield bytes of data for each of its own. Returns the slot to send.
static unsigned yield_control(struct network *net, uint32_t index, unsigned ready, unsigned slot)
{
    struct port_cold *cold = &net->cold[index];
    unsigned data = ready >> net->data_slot << net->data_slot;
    if (slot == NET_PFC_SLOT)
        return slot;
    if (slot < net->data_slot && data != 0 && cold->control_debt > 0)
        slot = (unsigned)__builtin_ctz(data);
    uint32_t bytes = fifo_head(&net->pool, &port_queue(net, index, slot)->fifo)->wire_bytes;
    if (slot >= net->data_slot)
        cold->control_debt -= cold->control_debt > 0 ? bytes : 0;
    else
        cold->control_debt = data == 0 ? 0 : cold->control_debt + cold->control_yield * bytes;
    return slot;
}

// Called where strict priority does not decide alone: several data classes share by weight, and a
// port of a router alternates between queued and pulled data packets (a queued ACK keeps its
// priority and does not count as a turn). Returns true if a packet has been pulled into *p.
__attribute__((noinline)) static bool arbitrate(struct network *net, uint32_t index, unsigned ready,
                                                unsigned *slot, struct packet *p, ps_t now)
{
    uint32_t node = net->ports[index].node;
    const struct node_ops *ops = node_ops_of(net, node);
    if (net->cold[index].control_yield > 0)
        *slot = yield_control(net, index, ready, *slot);
    if (net->ports[index].flags & PORT_ROUTES && net->cold[index].own_turn &&
        *slot >= net->data_slot && ops->pull(ops->ctx, node, index, p, now))
        return true;
    if (net->shared_slots >> *slot & 1)
        *slot = drr_pick(net, index, ready); // PFC and control queues are empty here
    return false;
}

// Count the wait of a packet that leaves its queue.
static inline void add_wait(struct network *net, uint32_t index, uint32_t frame_bytes, ps_t wait_ps)
{
    uint64_t *sum = &net->ports[index].wait_byte_ps;
    // The sum exceeds 64 bits in long runs, so its overflows are counted beside it.
    if (__builtin_add_overflow(*sum, frame_bytes * (uint64_t)wait_ps, sum))
        net->cold[index].wait_wraps++;
}

// Remove the first packet of a slot from the counts of its queue. Returns the bytes that the queue
// held, this packet included.
__attribute__((always_inline)) static inline uint64_t
unqueue(struct network *net, uint32_t index, unsigned slot, const struct packet *p, ps_t now)
{
    struct port *port = &net->ports[index];
    struct queue *queue = port_queue(net, index, slot);
    port->waiting &= (uint16_t) ~((unsigned)(queue->fifo.count == 1) << slot);
    if (slot == NET_PFC_SLOT)
        return 0;
    uint64_t held = queue->bytes;
    queue->bytes -= p->frame_bytes;
    port->queued_bytes -= p->frame_bytes;
    ps_t wait_ps = now - p->arrives_ps;
    add_wait(net, index, p->frame_bytes, wait_ps);
    if (p->flags & (PACKET_LAST | PACKET_RETX) && wait_ps > 0)
        meta_add_wait(&net->meta, p->meta, index, wait_ps);
    return held;
}

// Start the first packet of a slot.
__attribute__((always_inline)) static inline void start_head(struct network *net, uint32_t index,
                                                             unsigned slot, ps_t now)
{
    struct fifo *fifo = &port_queue(net, index, slot)->fifo;
    struct packet *p = fifo_head(&net->pool, fifo);
    uint64_t held = unqueue(net, index, slot, p, now);
    uint32_t node = net->ports[index].node;
    const struct node_ops *ops = node_ops_of(net, node);
    if (slot != NET_PFC_SLOT && ops->depart)
        ops->depart(ops->ctx, node, index, p, held, now);
    transmit(net, index, p, now);
    __builtin_prefetch(p + 2);        // as the packets in flight are prefetched
    fifo_drop_head(&net->pool, fifo); // last, because the packet was read in place until here
}

bool port_drop_head(struct network *net, uint32_t index, unsigned slot, struct packet *p, ps_t now)
{
    if (!(net->ports[index].waiting >> slot & 1))
        return false;
    struct fifo *fifo = &port_queue(net, index, slot)->fifo;
    *p = *fifo_head(&net->pool, fifo);
    unqueue(net, index, slot, p, now);
    fifo_drop_head(&net->pool, fifo);
    return true;
}

void port_replace_last(struct network *net, uint32_t index, unsigned slot, const struct packet *p,
                       struct packet *last, ps_t now)
{
    struct port *port = &net->ports[index];
    struct queue *queue = port_queue(net, index, slot);
    struct packet *place = fifo_last(&net->pool, &queue->fifo);
    ps_t wait_ps = now - place->arrives_ps;
    *last = *place;
    *place = *p;
    queue->bytes += (uint64_t)p->frame_bytes - last->frame_bytes;
    port->queued_bytes += (uint64_t)p->frame_bytes - last->frame_bytes;
    if (port->queued_bytes > port->max_queued_bytes)
        port->max_queued_bytes = port->queued_bytes;
    add_wait(net, index, last->frame_bytes, wait_ps);
    if (last->flags & (PACKET_LAST | PACKET_RETX) && wait_ps > 0)
        meta_add_wait(&net->meta, last->meta, index, wait_ps);
}

__attribute__((noinline)) static void push_departure(struct network *net, uint32_t index)
{
    const struct port *port = &net->ports[index];
    engine_push(net->engine, port->wake_ps,
                event_key(port->node, EVENT_DEPARTURE, net->cold[index].local, index));
}

// Schedule the departure of a port whose departures are all events, or that catches up at the end
// of a window.
__attribute__((noinline)) static void wake_otherwise(struct network *net, uint32_t index)
{
    if (net->ports[index].flags & PORT_DEPARTURE_EVENTS)
        push_departure(net, index);
    else
        crossing_due(net, index);
}

// Schedule a departure at `at_ps` unless one is pending earlier. While a packet is in flight no
// event is needed: a packet that starts at `at_ps` arrives after the one in flight, whose delivery
// lets the port catch up first. No event is needed either if the end of a window lets the port
// catch up (PORT_CROSSES).
static inline void wake_at(struct network *net, uint32_t index, ps_t at_ps)
{
    struct port *port = &net->ports[index];
    if (port->wake_ps <= at_ps)
        return;
    port->wake_ps = at_ps;
    if (port->flags & (PORT_DEPARTURE_EVENTS | PORT_CROSSES))
        wake_otherwise(net, index);
    else if (port->flight.count == 0)
        push_departure(net, index);
}

// Schedule the next departure of packets that the node itself sends.
__attribute__((noinline)) static void plan_pull(struct network *net, uint32_t index, ps_t now)
{
    const struct port *port = &net->ports[index];
    const struct node_ops *ops = node_ops_of(net, port->node);
    ps_t next = ops->next_pull(ops->ctx, index, now);
    wake_at(net, index, next > port->busy_until_ps ? next : port->busy_until_ps);
}

// Schedule the next departure, after a start or an attempt to start at `now`.
__attribute__((always_inline)) static inline void plan_next(struct network *net, uint32_t index,
                                                            ps_t now)
{
    const struct port *port = &net->ports[index];
    if (port->waiting & ~port->paused)
        wake_at(net, index, port->busy_until_ps);
    else if (port->flags & PORT_PULLS)
        plan_pull(net, index, now);
}

// The port is free: start the next packet, if one is ready, by priority and turn.
__attribute__((always_inline)) static inline void start_next(struct network *net, uint32_t index,
                                                             ps_t now)
{
    const struct port *port = &net->ports[index];
    unsigned ready = port->waiting & ~port->paused & 0xffffu;
    // Slots are in order of priority, so the lowest bit is the ready slot with the highest
    // priority.
    unsigned slot = ready ? (unsigned)__builtin_ctz(ready) : 0;
    struct packet own;
    bool pulled = ready && net->arbitrates && arbitrate(net, index, ready, &slot, &own, now);
    if (ready && !pulled) {
        start_head(net, index, slot, now);
    } else {
        const struct node_ops *ops = node_ops_of(net, port->node);
        if (pulled ||
            (port->flags & PORT_PULLS && ops->pull(ops->ctx, port->node, index, &own, now)))
            transmit(net, index, &own, now);
    }
    plan_next(net, index, now);
}

void port_kick(struct network *net, uint32_t index, ps_t now)
{
    const struct port *port = &net->ports[index];
    if (port->busy_until_ps > now)
        wake_at(net, index, port->busy_until_ps);
    else
        start_next(net, index, now);
}

static void on_departure(void *ctx, uint64_t key)
{
    struct network *net = ctx;
    uint32_t index = event_payload(key);
    ps_t now = net->engine->now_ps;
    net->engine->internal++;
    if (net->ports[index].wake_ps == now) // otherwise the event is stale: the departure has already
                                          // been computed
        port_replay_departures(net, index, now);
}

void port_replay_departures(struct network *net, uint32_t index, ps_t now)
{
    struct port *port = &net->ports[index];
    while (port->wake_ps <= now) {
        ps_t then = port->wake_ps;
        port->wake_ps = PS_NEVER;
        if (port->busy_until_ps > then) // a PFC frame was sent in between
            wake_at(net, index, port->busy_until_ps);
        else
            start_next(net, index, then);
    }
}

void port_set_departure_events(struct network *net, uint32_t index, bool with_events, ps_t now)
{
    struct port *port = &net->ports[index];
    bool was = port->flags & PORT_DEPARTURE_EVENTS;
    if (was == with_events || net->cold[index].pinned)
        return;
    port_catch_up(net, index, now);
    port->flags ^= PORT_DEPARTURE_EVENTS;
    if (with_events && port->wake_ps != PS_NEVER)
        push_departure(net, index);
}

void port_start(struct network *net, uint32_t index, struct packet *p, ps_t now)
{
    transmit(net, index, p, now);
    plan_next(net, index, now);
}

struct packet *port_hold(struct network *net, uint32_t index, unsigned slot, const struct packet *p,
                         ps_t now)
{
    struct port *port = &net->ports[index];
    struct queue *queue = port_queue(net, index, slot);
    struct packet *place = fifo_push(&net->pool, &queue->fifo);
    *place = *p;
    port->waiting |= (uint16_t)(1u << slot);
    if (slot != NET_PFC_SLOT) {
        queue->bytes += p->frame_bytes;
        port->queued_bytes += p->frame_bytes;
        if (port->queued_bytes > port->max_queued_bytes)
            port->max_queued_bytes = port->queued_bytes;
    }
    if (port->busy_until_ps > now)
        wake_at(net, index, port->busy_until_ps);
    return place;
}

void port_enqueue(struct network *net, uint32_t index, struct packet *p, ps_t now)
{
    unsigned slot = p->kind == PACKET_PFC ? NET_PFC_SLOT : net->slot_of_class[p->cls];
    port_catch_up(net, index, now);
    if (port_is_idle(&net->ports[index], slot, now))
        port_start(net, index, p, now);
    else
        port_hold(net, index, slot, p, now);
}

// Applies the fault of the link to the packet that arrives now; returns true if it is lost. The
// start of its transmission is recomputed rounded down to 1 ps.
__attribute__((noinline)) static bool is_lost(struct network *net, uint32_t sender,
                                              struct packet *p)
{
    const struct link *link = port_link(net, sender);
    ps_t flight_ps = link_flight_ps(link, p->wire_bytes);
    sender = network_real_port(net, sender);
    enum drop_reason reason;
    const struct packet_meta *meta = meta_at(&net->meta, p->meta);
    if (!fault_hits(&net->faults[sender], p, meta, p->arrives_ps - flight_ps, &reason))
        return false;
    if (net->cold[sender].special & SPECIAL_CREDITS && p->kind != PACKET_PFC)
        credits_return(net, sender, p->cls, p->frame_bytes, net->engine->now_ps);
    network_lose(net, sender, p, reason, net->engine->now_ps);
    return true;
}

static void on_arrival(void *ctx, uint64_t key)
{
    struct network *net = ctx;
    uint32_t sender = event_payload(key);
    struct port *link = &net->ports[sender];
    ps_t now = net->engine->now_ps;
    port_catch_up_behind(net, sender, now);
    const struct packet *head = ring_head(&net->rings, &link->flight);
    struct packet p = *head;
    __builtin_prefetch(head + 3);
    ring_drop_head(&net->rings, &link->flight);
    if (link->flight.count > 0) {
        const struct packet *next = ring_head(&net->rings, &link->flight);
        engine_push_later(net->engine, next->arrives_ps, key);
        uint32_t meta = next->meta & -(uint32_t)node_is_rank(net, link->peer_node);
        __builtin_prefetch(meta_at(&net->meta, meta), 1);
    } else if (link->wake_ps != PS_NEVER && !(link->flags & (PORT_DEPARTURE_EVENTS | PORT_CROSSES)))
        push_departure(net, sender); // no packet in flight is left whose delivery would let the
                                     // port catch up
    if (!(link->flags & PORT_FAULTY && is_lost(net, sender, &p))) {
        const struct node_ops *ops = node_ops_of(net, link->peer_node);
        if (p.kind == PACKET_PFC)
            port_receive_pfc(net, net->cold[sender].peer, &p, now);
        else
            ops->arrive(ops->ctx, link->peer_node, link->peer_local, &p, now);
    }
}

static void on_pause(void *ctx, uint64_t key)
{
    struct network *net = ctx;
    port_apply_pending_pfc(net, event_payload(key), net->engine->now_ps);
}
