// SPDX-License-Identifier: MIT
// Tables of a network's state: which fields change while events are processed, and how they repeat.
#include "net/state.h"

/* ---- the inventory ---- */

#define F(member, kind) STATE_FIELD(struct port, member, kind)
static const struct state_field port_fields[] = {
    F(busy_until_ps, PAST),
    F(wake_ps, TIME),
    F(flight, BY_HAND),
    F(tx_bytes, COUNT),
    F(tx_packets, COUNT),
    F(node, CONFIG),
    STATE_BETWEEN(struct port, "peer_node flags peer_local link waiting paused", node, queue,
                  PLAIN),
    F(queue, BY_HAND),
    F(queued_bytes, PLAIN),
    F(max_queued_bytes, PLAIN),
    F(wait_byte_ps, BY_HAND), // with port_cold.wait_wraps
    F(carry, BY_HAND),        // void once the busy period has ended
};
STATE_TABLE(port_table, struct port, port_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct queue, member, kind)
static const struct state_field queue_fields[] = {
    F(fifo, BY_HAND),
    F(bytes, PLAIN),
    F(quantum_bytes, CONFIG),
    F(deficit_bytes, PLAIN),
};
STATE_TABLE(queue_table, struct queue, queue_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct port_cold, member, kind)
static const struct state_field cold_fields[] = {
    F(peer, CONFIG),
    F(local, CONFIG),
    F(pinned, CONFIG),
    // of changes of the rate, which come from outside
    F(first_link, CONFIG),
    F(earlier_bytes, CONFIG),
    F(earlier_ps, CONFIG),
    F(special, CONFIG),
    F(own_turn, PLAIN),
    F(turn, PLAIN),
    F(control_yield, CONFIG),
    F(control_debt, PLAIN),
    F(dropped, COUNT),
    F(lost, COUNT),
    F(wait_wraps, BY_HAND),
};
STATE_TABLE(cold_table, struct port_cold, cold_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct pause, member, kind)
static const struct state_field pause_fields[] = {
    F(until_ps, BY_HAND), // void unless the class is stopped
    F(since_ps, BY_HAND), F(total_ps, COUNT), F(ended_ps, STAMP), // for captures
    F(pauses, COUNT),
};
STATE_TABLE(pause_table, struct pause, pause_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct port_pfc, member, kind)
static const struct state_field pfc_fields[] = {
    F(cls, BY_HAND),    F(expiry, BY_HAND),    F(response_ps, CONFIG), F(pending, BY_HAND),
    F(tx_pause, COUNT), F(tx_resume, COUNT),   F(rx_frames, COUNT),    F(stopped, PLAIN),
    F(dark, PLAIN),     F(pfc_ignored, PLAIN), F(held, PLAIN),
};
STATE_TABLE(pfc_table, struct port_pfc, pfc_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct packet, member, kind)
static const struct state_field packet_fields[] = {
    F(arrives_ps, TIME),
    F(flow, PLAIN),
    F(dst, PLAIN),
    F(entropy, PLAIN),
    F(pfc, BY_HAND), // shares the bytes of `entropy`
    F(meta, BY_HAND),
    F(frame_bytes, PLAIN),
    F(wire_bytes, PLAIN),
    F(ingress, BY_HAND), // in a queue
    F(onward, SCRATCH),  // on a link: the port that the switch will find, or nothing
    STATE_BETWEEN(struct packet, "kind cls given_up", onward, flags, PLAIN),
    F(flags, PLAIN),
};
STATE_TABLE(packet_table, struct packet, packet_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct meta_waits, member, kind)
static const struct state_field waits_fields[] = {
    F(n, PLAIN),
    F(timeout_ps, PLAIN), // a duration
    F(port, BY_HAND),     // n of them
    F(wait_ps, BY_HAND),
};
STATE_TABLE(waits_table, struct meta_waits, waits_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct fault, member, kind)
// clang-format off
static const struct state_field fault_fields[] = {
    F(loss, CONFIG),
    F(corruption, CONFIG),
    F(hits_pfc, CONFIG),
    F(list, CONFIG),
    F(retries, CONFIG),
    F(down, PLAIN),
    F(up_since_ps, BY_HAND), // void once all packets in flight are younger
    F(rng, BY_HAND), // faults that draw are refused
    F(retry, COUNT),
    F(pfc_frames, COUNT),
};
// clang-format on
STATE_TABLE(fault_table, struct fault, fault_fields);
#undef F

#define F(member, kind) STATE_FIELD(struct network, member, kind)
static const struct state_field network_fields[] = {
    F(engine, CONFIG),         F(ops, CONFIG),           F(kinds, CONFIG),
    F(rings, BY_HAND),         F(pool, BY_HAND),         F(meta, BY_HAND),
    F(ports, BY_HAND),         F(cold, BY_HAND),         F(links, CONFIG),
    F(n_links, CONFIG),        F(cap_links, CONFIG),     F(link_table, CONFIG),
    F(cap_table, CONFIG),      F(queues, BY_HAND),       F(pfc, BY_HAND),
    F(credits, CONFIG), // refused
    F(faults, BY_HAND),        F(first_port, CONFIG),    F(n_ranks, CONFIG),
    F(n_nodes, CONFIG),        F(n_ports, CONFIG),       F(n_slots, CONFIG),
    F(slot_of_class, CONFIG),  F(class_of_slot, CONFIG), F(n_data, CONFIG),
    F(data_slot, CONFIG),      F(shared_slots, CONFIG),  F(arbitrates, CONFIG),
    F(pfc_wire_bytes, CONFIG), F(tap, CONFIG), // refused
    F(shards, CONFIG),         F(shard, CONFIG),         F(hinted_port, SCRATCH),
    F(packet_hops, COUNT),     F(drops, COUNT),
};
STATE_TABLE(network_table, struct network, network_fields);
#undef F

/* ---- packets ---- */

struct walk {
    struct network *net;
    struct state *st;
    const struct packet_visit *visit;
};

static void visit_packet(const struct walk *w, struct packet *p, bool queued, uint32_t port)
{
    state_visit(w->st, &packet_table, p, port);
    if (queued)
        state_value(w->st, p->ingress);
    if (p->meta != 0 && p->kind != PACKET_PFC)
        w->visit->meta(w->visit->ctx, w->st, p, meta_at(&w->net->meta, p->meta));
}

static void visit_fifo(const struct walk *w, const struct fifo *f, uint32_t port)
{
    struct fifo_pool *pool = &w->net->pool;
    uint32_t chunk = f->head, at = f->head_at;
    state_value(w->st, f->count);
    for (uint32_t left = f->count; left > 0; left--) {
        if (at == FIFO_CHUNK) {
            chunk = pool->next[chunk];
            at = 0;
        }
        visit_packet(w, &pool->packets[chunk * FIFO_CHUNK + at++], true, port);
    }
}

static void visit_ring(const struct walk *w, const struct ring *r, uint32_t port)
{
    state_value(w->st, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        visit_packet(w, ring_at(&w->net->rings, r, i), false, port);
}

void meta_visit_waits(struct network *net, struct state *st, uint32_t slot)
{
    struct meta_waits *waits = &net->meta.waits[slot];
    state_visit(st, &waits_table, waits, slot);
    state_plain(st, waits->port, waits->n * sizeof *waits->port);
    state_plain(st, waits->wait_ps, waits->n * sizeof *waits->wait_ps);
}

/* ---- ports ---- */

// The sum of waits has 128 bits in two fields.
static void visit_wait(struct state *st, struct port *port, struct port_cold *cold)
{
    uint64_t low = port->wait_byte_ps, high = cold->wait_wraps;
    if (st->mode == STATE_SAVE) {
        state_count(st, &low);
        state_count(st, &high);
        return;
    }
    uint64_t grown_low = st->growth[st->at++], grown_high = st->growth[st->at++];
    uint64_t borrow = grown_low > low; // the low half has wrapped in the period
    __extension__ typedef unsigned __int128 wide;
    wide growth = ((wide)(grown_high - borrow) << 64) + grown_low;
    wide sum = ((wide)high << 64 | low) + growth * st->periods;
    port->wait_byte_ps = (uint64_t)sum;
    cold->wait_wraps = (uint64_t)(sum >> 64);
}

static void visit_pauses(const struct walk *w, uint32_t index)
{
    struct port_pfc *pfc = &w->net->pfc[index];
    state_visit(w->st, &pfc_table, pfc, index);
    for (unsigned cls = 0; cls < NET_CLASSES; cls++) {
        unsigned slot = w->net->slot_of_class[cls];
        if (slot == NET_NO_SLOT)
            continue;
        state_visit(w->st, &pause_table, &pfc->cls[cls], index);
        if (!(pfc->stopped >> slot & 1))
            continue;
        state_time(w->st, &pfc->cls[cls].until_ps);
        state_time(w->st, &pfc->cls[cls].since_ps);
    }
    state_timer(w->st, &pfc->expiry);
    visit_fifo(w, &pfc->pending, index);
}

static void visit_fault(const struct walk *w, uint32_t index)
{
    struct fault *fault = &w->net->faults[index];
    if (fault->loss > 0 || fault->corruption > 0 || fault->list || fault->retries)
        state_refuse(w->st, "links lose or repeat packets (`faults`)");
    state_visit(w->st, &fault_table, fault, index);
    const struct link *link = port_link(w->net, index);
    if (fault->up_since_ps > 0 &&
        w->st->now_ps - fault->up_since_ps <= 2 * link_flight_ps(link, UINT16_MAX))
        state_refuse(w->st, "a link has just been repaired (`faults`)");
}

static void visit_port(const struct walk *w, uint32_t index)
{
    struct port *port = &w->net->ports[index];
    struct port_cold *cold = &w->net->cold[index];
    struct state *st = w->st;
    state_visit(st, &port_table, port, index);
    state_value(st, port->busy_until_ps >= st->now_ps ? port->carry : 0);
    state_visit(st, &cold_table, cold, index);
    visit_wait(st, port, cold);
    visit_ring(w, &port->flight, index);
    for (unsigned slot = 0; slot < w->net->n_slots; slot++) {
        struct queue *queue = port_queue(w->net, index, slot);
        state_visit(st, &queue_table, queue, index);
        visit_fifo(w, &queue->fifo, index);
    }
    visit_pauses(w, index);
    if (w->net->faults)
        visit_fault(w, index);
}

void network_visit(struct network *net, struct state *st, const struct packet_visit *visit)
{
    struct walk w = {net, st, visit};
    state_visit(st, &network_table, net, 0);
    if (net->shards || net->credits || net->tap.seen || net->meta.keeps_notes)
        state_refuse(st, "shards, credits or captures are in use");
    for (uint32_t p = 0; p < net->n_ports; p++)
        visit_port(&w, p);
}
