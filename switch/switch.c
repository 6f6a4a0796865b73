// SPDX-License-Identifier: MIT
// The handling of packets by a switch. Buffer is released and ECN marks are set when a transmission
// starts.
#include "switch/switch.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "switch/credited.h"
#include "switch/pauses.h"
#include "switch/quality.h"
#include "switch/ties.h"

// Returns this switch's hash of the packet's header fields: 32 bits, with a seed per switch.
static inline uint64_t header_hash(const struct switch_node *s, const struct packet *p)
{
    return hash_mix(s->hash_seed ^ p->entropy) >> 32;
}

// Maps a 32-bit hash to one of `count` equal-cost ports.
static inline uint32_t hash_choice(uint64_t hash, uint32_t count)
{
    return (uint32_t)(hash * count >> 32);
}

// The choice among equal-cost ports by kinds other than ECMP.
__attribute__((noinline)) static uint32_t pick(const struct switches *sw, struct switch_node *s,
                                               const uint16_t *ports, uint32_t count,
                                               uint32_t local, struct packet *p, ps_t now)
{
    struct routing *r = &s->routing;
    uint32_t hash = (uint32_t)header_hash(s, p);
    if (!r->quality) {
        uint32_t from = sw->net->ports[s->first_port + local].peer_node;
        return routing_pick(r, sw->net, s->node_port, ports, count, p, node_is_rank(sw->net, from),
                            hash, now);
    }
    if (r->kind == ROUTING_ADAPTIVE)
        return quality_pick(sw, s, ports, count, p, now);
    bool fresh;
    struct flowlet *f = routing_flowlet(r, hash, &fresh, now);
    if (fresh)
        f->choice = quality_pick(sw, s, ports, count, p, now);
    return f->choice % count;
}

// Finds the output port to the packet's destination. Among equal-cost ports ECMP chooses by hash;
// routing.c and quality.c implement the other kinds. Returns false if there is no route.
__attribute__((always_inline)) static inline bool route(const struct switches *sw,
                                                        struct switch_node *s, struct packet *p,
                                                        uint32_t in, uint32_t *local, ps_t now)
{
    uint32_t next = s->routes.next[s->routes.group[p->dst]];
    *local = next;
    if (!(next & NEXT_SET))
        return true;
    if (next >= NEXT_HERE) {
        *local = next == NEXT_HERE ? s->routes.own[p->dst] : 0;
        return next == NEXT_HERE;
    }
    const struct next_hop_set *set = &s->routes.sets[next & ~NEXT_SET];
    const uint16_t *ports = s->routes.ports + set->first;
    uint64_t hash = header_hash(s, p);
    uint32_t choice = hash_choice(hash, set->count);
    if (s->routing.kind != ROUTING_ECMP)
        choice = pick(sw, s, ports, set->count, in, p, now);
    *local = ports[choice];
    return true;
}

// Branch-free prediction of route(), because the kind of table entry is unpredictable. Returns the
// same port as route(), or PACKET_UNDECIDED if the choice depends on more than tables and packet or
// if there is no route.
static inline uint32_t predict_route(const struct switch_node *s, const struct packet *p)
{
    const struct next_hops *r = &s->routes;
    uint32_t next = r->next[r->group[p->dst]], own = r->own[p->dst];
    uint32_t several = -(uint32_t)(next >= NEXT_SET && next < NEXT_HERE);
    uint32_t here = -(uint32_t)(next == NEXT_HERE);
    const struct next_hop_set *set = &r->sets[next & ~NEXT_SET & several];
    uint32_t choice = r->ports[set->first + hash_choice(header_hash(s, p), set->count)];
    uint32_t any = s->routing.kind == ROUTING_ECMP ? choice : PACKET_UNDECIDED;
    return (any & several) | (own & here) | (next & ~(several | here));
}

uint32_t switch_way(const struct switch_node *s, uint32_t dst, uint32_t entropy)
{
    const struct packet p = {.dst = dst, .entropy = entropy};
    if (s->routes.next[s->routes.group[dst]] == NEXT_NONE)
        return SWITCH_WAYS;
    uint32_t local = predict_route(s, &p);
    return local == PACKET_UNDECIDED ? SWITCH_WAYS : local;
}

static void switch_catch_up(const struct switches *sw, const struct switch_node *s, ps_t now)
{
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        port_catch_up(sw->net, p, now);
}

// Returns the number of ingresses in XOFF.
static uint32_t xoffs(const struct switch_node *s)
{
    uint32_t n = s->slices ? 0 : s->mmu.n_xoff;
    for (uint32_t i = 0; s->slices && i < s->n_slices; i++)
        n += s->slices[i].n_xoff;
    return n;
}

// While an ingress is in XOFF, its XON must be sent exactly when its buffer is released, so the
// departures of the switch must be scheduled as events.
static void set_departure_events(const struct switches *sw, const struct switch_node *s,
                                 bool with_events, ps_t now)
{
    for (uint32_t p = s->first_port; p < s->first_port + s->n_ports; p++)
        port_set_departure_events(sw->net, p, with_events, now);
}

// Write the telemetry of a data packet. The queue it reports does not include the packet itself.
__attribute__((noinline)) static void stamp(struct switches *sw, const struct switch_node *s,
                                            uint32_t port, struct packet *p, uint64_t queue_bytes,
                                            ps_t now)
{
    struct network *net = sw->net;
    struct packet_meta *meta = meta_at(&net->meta, p->meta);
    uint64_t rate_bps = sw->ports[port].rate_bps, behind = queue_bytes - p->frame_bytes;
    if (s->int_mode == INT_PINT) {
        uint8_t digest = telemetry_pint(&sw->pints[port], net->ports[port].tx_bytes, rate_bps,
                                        behind, s->int_rtt_ps, now);
        meta->pint = digest > meta->pint ? digest : meta->pint;
    } else if (meta->int_enabled && meta->int_hops < net->meta.per_slot) {
        struct int_hop *hop = &meta_hops(&net->meta, p->meta)[meta->int_hops++];
        *hop = telemetry_exact(net, port, rate_bps, behind, now);
        if (s->int_mode == INT_HPCC64)
            *hop = telemetry_hpcc64(*hop);
    }
}

static void note_mark(const struct switches *sw, uint32_t port, const struct packet *p,
                      uint64_t queue_bytes)
{
    struct packet_note *note = meta_note(&sw->net->meta, p->meta);
    note->set |= NOTE_MARK;
    note->mark = (struct note_mark){
        port, queue_bytes, marking_probability(switch_marking(sw, port, p->cls), queue_bytes)};
}

__attribute__((noinline)) static void draw_mark(struct switches *sw, uint32_t port,
                                                struct packet *p, uint64_t queue_bytes)
{
    struct switch_port *sp = &sw->ports[port];
    if (marking_draw(switch_marking(sw, port, p->cls), queue_bytes, &sp->rng)) {
        p->flags |= PACKET_CE;
        sp->counters.marked++;
        if (sw->net->meta.keeps_notes)
            note_mark(sw, port, p, queue_bytes);
    }
}

static bool is_markable_class(const struct packet *p) { return p->cls < NET_DATA_CLASSES; }

// Returns the queue length, packet included, that is compared with the thresholds for a packet
// behind `held_bytes` of its class. If `held_bytes` is less than the queue holds, the packet is
// about to replace the youngest packet, so the number of packets stays the same.
static uint64_t length_with(const struct switches *sw, uint32_t port, const struct packet *p,
                            uint64_t held_bytes)
{
    uint64_t packet_bytes = switch_marking(sw, port, p->cls)->packet_bytes;
    if (packet_bytes == 0)
        return held_bytes + p->frame_bytes;
    const struct queue *queue = port_queue(sw->net, port, sw->net->slot_of_class[p->cls]);
    return (queue->fifo.count + (held_bytes >= queue->bytes)) * packet_bytes;
}

// Marking beyond RED at departure for a packet behind `held_bytes` of its class (0: the port may be
// idle): updates the PI controller, and at arrival marks by the queue with the packet.
__attribute__((noinline)) void switch_mark_arrival(struct switches *sw, struct switch_node *s,
                                                   uint32_t port, struct packet *p,
                                                   uint64_t held_bytes, ps_t now)
{
    if (s->marking & SWITCH_MARKS_PI)
        marking_advance(switch_marking(sw, port, p->cls), held_bytes, now);
    if (!(s->marking & SWITCH_MARKS_AT_ARRIVAL && p->flags & PACKET_ECT))
        return;
    s->counters.markable++;
    draw_mark(sw, port, p, length_with(sw, port, p, held_bytes));
}

// Returns true if a packet that is not ECN capable must be dropped where an ECN-capable one would
// be marked (RFC 3168, section 5). This is decided before admission, for packets that would wait
// behind `held_bytes` of their class.
__attribute__((noinline)) static bool drops_not_ect(struct switches *sw,
                                                    const struct switch_node *s, uint32_t port,
                                                    const struct packet *p, uint64_t held_bytes,
                                                    ps_t now)
{
    if (p->flags & PACKET_ECT || !is_markable_class(p) || s->lossless >> p->cls & 1)
        return false;
    struct marking *m = switch_marking(sw, port, p->cls);
    if (s->marking & SWITCH_MARKS_PI)
        marking_advance(m, held_bytes, now);
    return marking_draw(m, length_with(sw, port, p, held_bytes), &sw->ports[port].rng);
}

// Mark a packet and write its telemetry at the start of its transmission. `queue_bytes` includes
// the packet.
__attribute__((always_inline)) static inline void mark(struct switches *sw, struct switch_node *s,
                                                       uint32_t port, struct packet *p,
                                                       uint64_t queue_bytes, ps_t now)
{
    bool markable = p->flags & PACKET_ECT; // whether a packet is data is unpredictable, so no
                                           // branch depends on it alone
    s->counters.markable += markable & !(s->marking & SWITCH_MARKS_AT_ARRIVAL);
    if (s->int_mode != INT_OFF && markable)
        stamp(sw, s, port, p, queue_bytes, now);
    if (queue_bytes >= s->mark_from_bytes && markable)
        draw_mark(sw, port, p, queue_bytes);
}

static enum drop_reason drop_reason(const struct switch_node *s, const struct packet *p,
                                    enum mmu_verdict verdict)
{
    if (verdict == MMU_DROP_RED)
        return DROP_RED;
    if (p->cls == NET_CLASS_CONTROL && s->trimming.classes)
        return DROP_CONTROL_LIMIT;
    if (verdict == MMU_DROP_LIMIT)
        return DROP_QUEUE_LIMIT;
    return s->lossless >> p->cls & 1 ? DROP_HEADROOM : DROP_LOSSY_THRESHOLD;
}

// Returns the length of the queue of a lossy class at `out` for the comparison with its limit, when
// a packet of `bytes` is about to join. If a fault has reduced the limit to a share, the length is
// scaled up instead of scaling the limit down.
static inline struct mmu_queue egress_of(const struct switches *sw, uint32_t out,
                                         const struct queue *queue, uint32_t bytes)
{
    struct mmu_queue egress = {.packets = queue->fifo.count, .bytes = queue->bytes};
    double share = sw->ports[out].limit_share;
    if (share > 0) {
        egress.packets = (uint64_t)((double)egress.packets / share);
        egress.bytes = (uint64_t)((double)(egress.bytes + bytes) / share) - bytes;
    }
    return egress;
}

static struct drop_level drop_level(const struct switches *sw, struct switch_node *s,
                                    uint32_t local, uint32_t out, const struct packet *p)
{
    const struct queue *queue = port_queue(sw->net, out, sw->net->slot_of_class[p->cls]);
    struct mmu_queue egress = egress_of(sw, out, queue, p->frame_bytes);
    struct mmu_level level =
        mmu_drop_level(switch_mmu(s, local), local, mmu_class(sw->net, p->cls), egress);
    return (struct drop_level){level.bytes + p->frame_bytes, level.limit_bytes};
}

// Admit or drop a packet that mmu_admit_fast() has refused.
__attribute__((always_inline)) static inline enum mmu_verdict
admit_inline(struct switches *sw, struct switch_node *s, uint32_t local, uint32_t out,
             const struct packet *p, ps_t now, bool extended)
{
    const struct network *net = sw->net;
    const struct queue *queue = port_queue(net, out, net->slot_of_class[p->cls]);
    struct mmu *mmu = extended ? switch_mmu(s, local) : &s->mmu;
    uint32_t cls = mmu_class(net, p->cls),
             bytes = extended ? switch_occupied(s, p) : p->frame_bytes;
    bool lossy = !(s->lossless >> p->cls & 1), red = lossy && s->marking & SWITCH_DROPS_NOT_ECT;
    struct mmu_queue egress = egress_of(sw, out, queue, bytes);
    if (lossy && !red && mmu_admit_lossy_fast(mmu, local, cls, bytes, egress))
        return MMU_ADMIT;
    // XOFF, a drop or a new maximum is possible, so all departures until now must be accounted for.
    switch_catch_up(sw, s, now);
    egress = egress_of(sw, out, queue, bytes);
    if (red && drops_not_ect(sw, s, out, p, queue->bytes, now))
        return MMU_DROP_RED;
    return mmu_admit(mmu, local, cls, bytes, egress);
}

__attribute__((noinline)) static enum mmu_verdict admit(struct switches *sw, struct switch_node *s,
                                                        uint32_t local, uint32_t out,
                                                        const struct packet *p, ps_t now)
{
    return admit_inline(sw, s, local, out, p, now, false);
}

__attribute__((noinline)) static enum mmu_verdict admit_extended(struct switches *sw,
                                                                 struct switch_node *s,
                                                                 uint32_t local, uint32_t out,
                                                                 const struct packet *p, ps_t now)
{
    return admit_inline(sw, s, local, out, p, now, true);
}

static void send_on(struct switches *sw, struct switch_node *s, uint32_t local, uint32_t out,
                    struct packet *p, ps_t now);

// The buffer does not admit the packet. If the switch trims its class, a packet goes on without its
// payload; else the packet is dropped.
__attribute__((noinline)) static void refuse(struct switches *sw, struct switch_node *s,
                                             uint32_t local, uint32_t out, struct packet *p,
                                             enum mmu_verdict verdict, ps_t now)
{
    struct drop_level level = drop_level(sw, s, local, out, p);
    struct refused_place place = {.local = local, .out = out, .level = level};
    // MMU_DROP_RED replaces an ECN mark although the buffer has room, so the packet is not trimmed.
    bool trim = s->trimming.classes >> p->cls & 1 && verdict != MMU_DROP_RED,
         full = verdict == MMU_DROP || verdict == MMU_DROP_LIMIT;
    // Where packets are trimmed, `victim` decides.
    if (s->draws_ties && full && !((s->lossless | s->trimming.classes) >> p->cls & 1))
        switch_draw_tie(sw, s, &place, p, now);
    if (trim && switch_trim(sw, s, &place, p, now))
        send_on(sw, s, place.local, out, p, now);
    else
        network_drop(sw->net, out, p, drop_reason(s, p, verdict), place.level, now);
}

// Queue a packet that cannot start at once: admit it to the shared buffer, or drop it.
__attribute__((always_inline)) static inline void hold(struct switches *sw, struct switch_node *s,
                                                       uint32_t local, uint32_t out,
                                                       struct packet *p, ps_t now, bool extended)
{
    struct network *net = sw->net;
    uint32_t in = s->first_port + local, cls = mmu_class(net, p->cls);
    unsigned slot = net->slot_of_class[p->cls];
    enum mmu_verdict verdict = MMU_ADMIT;
    if (extended && s->credits >> p->cls & 1) {
        switch_hold_credited(sw, s, local, out, p, now);
        return;
    }
    struct mmu *mmu = extended ? switch_mmu(s, local) : &s->mmu;
    if (!mmu_admit_fast(mmu, local, cls, extended ? switch_occupied(s, p) : p->frame_bytes))
        verdict =
            extended ? admit_extended(sw, s, local, out, p, now) : admit(sw, s, local, out, p, now);
    if (verdict == MMU_ADMIT_XOFF || verdict == MMU_DROP_XOFF) {
        // This is the first ingress in XOFF. From now on the time of each departure decides when an
        // XON is sent, so departures must be events.
        if (xoffs(s) == 1)
            set_departure_events(sw, s, true, now);
        switch_send_xoff(sw, s, in, p, now);
        switch_vote_for_cause(sw, s, in, out, now);
    }
    if (verdict >= MMU_DROP) {
        refuse(sw, s, local, out, p, verdict, now);
        return;
    }
    if (s->marking && is_markable_class(p))
        switch_mark_arrival(sw, s, out, p, port_queue(net, out, slot)->bytes, now);
    port_hold(net, out, slot, p, now)->ingress = (uint16_t)local;
}

// Send a packet that arrived by port `local` by the output port `out`.
__attribute__((always_inline)) static inline void send_inline(struct switches *sw,
                                                              struct switch_node *s, uint32_t local,
                                                              uint32_t out, struct packet *p,
                                                              ps_t now, bool extended)
{
    struct network *net = sw->net;
    unsigned slot = net->slot_of_class[p->cls];
    port_catch_up(net, out, now);
    if (port_is_idle(&net->ports[out], slot, now)) { // the packet starts at once and uses no buffer
        if (s->marking && is_markable_class(p))
            switch_mark_arrival(sw, s, out, p, 0, now);
        mark(sw, s, out, p, p->frame_bytes, now);
        if (extended && s->credits >> p->cls & 1)
            switch_return_credit(sw, s, local, p, now);
        port_start(net, out, p, now);
        return;
    }
    hold(sw, s, local, out, p, now, extended);
}

__attribute__((noinline)) static void send_on(struct switches *sw, struct switch_node *s,
                                              uint32_t local, uint32_t out, struct packet *p,
                                              ps_t now)
{
    send_inline(sw, s, local, out, p, now, true);
}

__attribute__((always_inline)) static inline void
arrive_inline(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now, bool extended)
{
    struct switches *sw = ctx;
    struct network *net = sw->net;
    struct switch_node *s = switch_of(sw, node);
    // node_ops.hint may have chosen the output port in advance; otherwise it is looked up now.
    uint32_t out_local = p->onward;
    if (out_local == PACKET_UNDECIDED && !route(sw, s, p, local, &out_local, now)) {
        if (extended && s->credits >> p->cls & 1)
            switch_return_credit(sw, s, local, p, now);
        network_drop(net, s->first_port + local, p, DROP_NO_ROUTE, (struct drop_level){0}, now);
        return;
    }
    uint32_t out = s->node_port + out_local;
    if (!extended || !sw->meters || switch_meter(sw, s, s->first_port + local, out, p, now))
        send_inline(sw, s, local, out, p, now, extended);
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    arrive_inline(ctx, node, local, p, now, false);
}

static void arrive_extended(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    arrive_inline(ctx, node, local, p, now, true);
}

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    const struct switches *sw = ctx;
    const struct switch_node *s = switch_of(sw, node);
    uint32_t local_out = predict_route(s, p);
    uint32_t out = s->node_port + (local_out == PACKET_UNDECIDED ? 0 : local_out);
    p->onward = (uint16_t)local_out;
    if (s->int_mode != INT_OFF)
        meta_prefetch(&sw->net->meta, p->meta);
    __builtin_prefetch(&sw->net->ports[out], 1);
    __builtin_prefetch(&sw->net->ports[out].queue, 1);
    __builtin_prefetch(&s->mmu.ingress[local * s->mmu.n_classes], 1);
    return out;
}

// Send XON, since the release has brought the packet's ingress below its XON threshold.
static void release_resumes(struct switches *sw, struct switch_node *s, const struct packet *p,
                            ps_t now)
{
    switch_send_xon(sw, s, s->first_port + p->ingress, p->cls, now);
    if (xoffs(s) == 0)
        set_departure_events(sw, s, false, now);
}

__attribute__((always_inline)) static inline void
release(struct switches *sw, struct switch_node *s, const struct packet *p, ps_t now, bool extended)
{
    if (extended && s->credits >> p->cls & 1) {
        switch_release_credited(sw, s, p, now);
        return;
    }
    struct mmu *mmu = extended ? switch_mmu(s, p->ingress) : &s->mmu;
    uint32_t bytes = extended ? switch_occupied(s, p) : p->frame_bytes;
    if (mmu_release(mmu, p->ingress, mmu_class(sw->net, p->cls), bytes))
        release_resumes(sw, s, p, now);
}

void switch_release(struct switches *sw, struct switch_node *s, const struct packet *p, ps_t now)
{
    release(sw, s, p, now, true);
}

__attribute__((always_inline)) static inline void depart_inline(void *ctx, uint32_t node,
                                                                uint32_t port, struct packet *p,
                                                                uint64_t queue_bytes, ps_t now,
                                                                bool extended)
{
    struct switches *sw = ctx;
    struct switch_node *s = switch_of(sw, node);
    if (s->marking & SWITCH_MARKS_PI && is_markable_class(p))
        marking_advance(switch_marking(sw, port, p->cls), queue_bytes, now);
    mark(sw, s, port, p, queue_bytes, now);
    release(sw, s, p, now, extended);
}

static void depart(void *ctx, uint32_t node, uint32_t port, struct packet *p, uint64_t queue_bytes,
                   ps_t now)
{
    depart_inline(ctx, node, port, p, queue_bytes, now, false);
}

static void depart_extended(void *ctx, uint32_t node, uint32_t port, struct packet *p,
                            uint64_t queue_bytes, ps_t now)
{
    depart_inline(ctx, node, port, p, queue_bytes, now, true);
}

void switches_init(struct switches *sw, struct network *net, uint32_t n_routers)
{
    sw->net = net;
    sw->n_switches = net->n_nodes - net->n_ranks;
    sw->n_routers = n_routers;
    sw->nodes = memory_zeroed_lines(sw->n_switches + n_routers, sizeof *sw->nodes);
    sw->ports = memory_zeroed(net->n_ports, sizeof *sw->ports);
    sw->markings = memory_zeroed((size_t)net->n_ports * net->n_data, sizeof *sw->markings);
    net->ops[NET_SWITCH] =
        (struct node_ops){.arrive = arrive, .depart = depart, .hint = hint, .ctx = sw};
}

void switches_extend(struct switches *sw)
{
    sw->net->ops[NET_SWITCH].arrive = arrive_extended;
    sw->net->ops[NET_SWITCH].depart = depart_extended;
}
