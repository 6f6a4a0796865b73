// SPDX-License-Identifier: MIT
// Queue pairs: opening, naming, posting; the node that a NIC is to the network.
#include "transport/roce.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/rng.h"
#include "transport/pairs.h"

enum {
    FIRST_QPN = 0x100,
    UDP_ENTROPY = 0xC000,
};

// DSCP of each class: AF31 for RoCE's usual one (as vendors' guides have it), class selectors (RFC 2474)
// for the others. Class is DSCP / 8 for all of them, as switches map by default.
static const uint8_t dscp_of_class[NET_CLASSES] = {0, 8, 16, 26, 32, 40, 48, 56};

// UDP source port from both queue pair numbers (as NICs do, 14 bits of a hash).
static uint16_t udp_source(uint32_t qpn, uint32_t peer_qpn)
{
    return (uint16_t)(UDP_ENTROPY | (hash_mix((uint64_t)qpn << 32 | peer_qpn) & 0x3fff));
}

static uint32_t tuple_hash(uint32_t src, uint32_t dst, uint16_t udp, uint32_t dst_qpn)
{
    return (uint32_t)hash_mix(hash_mix((uint64_t)src << 32 | dst) + udp +
                              ((uint64_t)dst_qpn << 16));
}

// (Re)name a queue pair: fresh numbers, so fresh entropy.
static void qp_name(struct roce *roce, uint32_t index)
{
    const struct qp *qp = qp_at(&roce->qps, index);
    uint32_t src_qpn = roce->next_qpn[qp->src]++ & 0xffffff;
    uint32_t dst_qpn = roce->next_qpn[qp->dst]++ & 0xffffff;
    const struct roce_dim *dim = roce_dim_of(roce, qp);
    bool entropy = dim->spec.entropy == ENTROPY_QPN;
    struct flow_id id = {.src = qp->src,
                         .dst = qp->dst,
                         .src_qpn = src_qpn,
                         .dst_qpn = dst_qpn,
                         .src_udp = entropy ? udp_source(src_qpn, dst_qpn) : UDP_ENTROPY,
                         .dst_udp = entropy ? udp_source(dst_qpn, src_qpn) : UDP_ENTROPY,
                         .job = (uint16_t)qp->job,
                         .dim = (uint16_t)qp->dim,
                         .data_dscp = dscp_of_class[qp->cls],
                         .ack_dscp = dscp_of_class[roce_ack_class(dim, qp)],
                         .cnp_dscp = dscp_of_class[NET_CLASS_CONTROL],
                         .int_bytes = (uint16_t)dim->spec.int_bytes};
    roce->flows.ids[index] = id;
    roce->entropy[0][index] = tuple_hash(qp->src, qp->dst, id.src_udp, dim->hash_qp ? dst_qpn : 0);
    roce->entropy[1][index] = tuple_hash(qp->dst, qp->src, id.dst_udp, dim->hash_qp ? src_qpn : 0);
}

static uint32_t qp_slot(struct roce *roce)
{
    if (roce->qps.n == roce->qps.cap) {
        roce->qps.qps = memory_grow(roce->qps.qps, &roce->qps.cap, sizeof *roce->qps.qps);
        size_t cap = roce->qps.cap;
        roce->flows.ids = memory_resize(roce->flows.ids, cap, sizeof *roce->flows.ids);
        for (int way = 0; way < 2; way++)
            roce->entropy[way] = memory_resize(roce->entropy[way], cap, sizeof **roce->entropy);
    }
    roce->qps.qps[roce->qps.n] = memory_zeroed_lines(1, sizeof(struct qp));
    roce->flows.n = roce->qps.n + 1;
    return roce->qps.n++;
}

static void qp_restart(struct roce *roce, struct qp *qp, ps_t now)
{
    const struct roce_dim *dim = roce_dim_of(roce, qp);
    cc_begin(qp_cc(&qp->snd), dim->cc, dim->cc_params, &qp->snd.env, now);
    qp->snd.pace_q = qp->snd.pace_rate_bps = 0;
    qp->snd.cwnd_seen_bytes = qp_cc(&qp->snd)->cwnd_bytes;
    qp->snd.next_send_ps = now;
    qp->rcv.ce_since_ack = qp->rcv.unacked = false;
    if (dim->spec.cnp_scope == CNP_SCOPE_QP) {
        qp->rcv.own_np.end_ps = 0;
        qp->rcv.own_np.marked = NULL;
        sim_timer_stop(&qp->rcv.own_np.timer);
    }
}

static void np_init(struct roce *roce, struct np_window *np, uint32_t rank)
{
    sim_timer_init(roce->net->engine, &np->timer, rank, roce_np_fired, np);
}

// The window of the notification point that `qp` shares with others, by transport.cnp_scope.
static void qp_notified_with(struct roce *roce, struct qp *qp)
{
    int scope = roce_dim_of(roce, qp)->spec.cnp_scope;
    np_init(roce, &qp->rcv.own_np, qp->dst);
    qp->rcv.np = &qp->rcv.own_np;
    if (scope == CNP_SCOPE_DESTINATION) {
        struct pair *first = pairs_get(roce->np_pairs, qp->src_node, qp->dst_node, 0, qp->dim);
        if (first->first_qp == QP_NIL)
            first->first_qp = qp->index;
        qp->rcv.np = &qp_at(&roce->qps, first->first_qp)->rcv.own_np;
    } else if (scope == CNP_SCOPE_PORT) {
        qp->rcv.np = NULL;
        if (roce->np_ports)
            return;
        const uint32_t *first = roce->net->first_port;
        roce->np_ports = memory_zeroed(first[roce->net->n_ranks], sizeof *roce->np_ports);
        for (uint32_t r = 0; r < roce->net->n_ranks; r++)
            for (uint32_t p = first[r]; p < first[r + 1]; p++)
                np_init(roce, &roce->np_ports[p], r);
    }
}

void roce_attach(struct roce *roce, struct qp *qp, const struct roce_path *path)
{
    struct qp_sender *s = &qp->snd;
    uint32_t local = path->n_ports > 0 ? path->ports[s->turn % path->n_ports] : path->shared_port;
    s->port = node_port(roce->net, qp->src_node, local);
    s->nic = port_data_index(roce->net, s->port, qp->cls);
    s->cut_off = path->cut_off;
}

// Links may have come back since. Called with the retransmission timer off, as the packets that were sent
// into the failed link are about to be sent again.
void roce_reattach(struct roce *roce, struct qp *qp)
{
    struct roce_path path = roce->path(roce->path_ctx, qp->src, qp->dst, qp->dim, qp->snd.stripe);
    if (path.cut_off)
        return;
    if (qp->snd.place != QP_IDLE)
        nic_remove(&roce->nics[qp->snd.nic], &roce->qps, qp->index);
    roce_attach(roce, qp, &path);
}

static uint32_t qp_open(struct roce *roce, const struct transfer_request *request, uint32_t d,
                        ps_t now)
{
    struct roce_path path =
        roce->path(roce->path_ctx, request->src, request->dst, d, request->stripe);
    uint32_t index = qp_slot(roce);
    struct qp *qp = qp_at(&roce->qps, index);
    const struct roce_dim *dim = &roce->dims[d];
    struct engine *engine = roce->net->engine;
    *qp = (struct qp){.roce = roce,
                      .index = index,
                      .src = request->src,
                      .dst = request->dst,
                      .src_node = path.src_node,
                      .dst_node = path.dst_node,
                      .dim = d,
                      .job = request->job,
                      .channel = request->channel,
                      .cls = dim->spec.cls != PARAM_AUTO ? (uint32_t)dim->spec.cls : request->cls,
                      .next_same_pair = QP_NIL};
    struct qp_sender *s = &qp->snd;
    s->env = (struct cc_env){.line_bps = path.line_bps,
                             .base_rtt_ps = path.base_rtt_ps,
                             .global_rtt_ps = dim->global_rtt_ps,
                             .mtu_bytes = (uint32_t)dim->spec.mtu_bytes,
                             .full_wire_bytes = dim->full.wire,
                             .hops = path.hops};
    s->sending = s->oldest = s->newest = qp->rcv.receiving = MESSAGE_NIL;
    s->ready_next = QP_NIL;
    bool selective = dim->spec.recovery == RECOVERY_SELECTIVE_REPEAT;
    s->cap_bytes = selective && dim->spec.bdp_cap ? cc_bdp_bytes(&s->env) : CC_UNLIMITED;
    s->rto_low_ps =
        dim->spec.rto_low_ps == PARAM_AUTO_TIME ? 2 * path.base_rtt_ps : dim->spec.rto_low_ps;
    s->rto_high_ps = dim->spec.rto_high_ps == PARAM_AUTO_TIME ? path.base_rtt_ps + path.queueing_ps
                                                              : dim->spec.rto_high_ps;
    s->until_ackreq = (uint32_t)dim->spec.ack_interval;
    sim_timer_init(engine, &s->rto, qp->src, roce_rto_fired, qp);
    sim_timer_init(engine, &s->cc_timer, qp->src, roce_cc_fired, qp);
    qp_notified_with(roce, qp);
    qp->wants_cnps = dim->cc->needs & CC_NEEDS_CNP && dim->spec.cnp == CNP_NP_TIMER;
    qp->splits_acks = dim->cc->needs & CC_NEEDS_CE_SHARE;
    qp->wants_acks = dim->cc->on_ack && !qp->wants_cnps;
    qp_name(roce, index);
    s->stripe = request->stripe;
    s->turn = roce->entropy[0][index];
    roce_attach(roce, qp, &path);
    qp_restart(roce, qp, now);
    return index;
}

// A fresh connection on the memory of an idle one of the pair: packet numbers go on, so that what is
// still under way of the old one is recognised as old.
static uint32_t qp_reopen(struct roce *roce, struct pair *pair, ps_t now)
{
    uint32_t index = pair->first_qp;
    struct qp *qp = qp_at(&roce->qps, index);
    pair->first_qp = qp->next_same_pair;
    if (roce->net->tap.seen) // captures name what is still to be settled
        network_settle(roce->net, now);
    qp_name(roce, index);
    qp_restart(roce, qp, now);
    return index;
}

uint32_t roce_qp_for(struct roce *roce, const struct transfer_request *r, ps_t now)
{
    uint32_t d = roce->joining_dim(roce->path_ctx, r->src, r->dst);
    SIM_ASSERT(roce->net->engine, r->src, d != UINT32_MAX); // config has checked every pair
    if (r->own_qp)
        return qp_open(roce, r, d, now);
    const struct transport_spec *spec = &roce->dims[d].spec;
    struct pair *pair = pairs_get(roce->pairs, r->src, r->dst, r->job, r->channel << 8);
    if (spec->qp == QP_PER_MESSAGE)
        return pair->first_qp == QP_NIL ? qp_open(roce, r, d, now) : qp_reopen(roce, pair, now);
    uint32_t turn = pair->turn++ % (uint32_t)spec->qps_per_pair;
    if (turn > 0)
        pair = pairs_get(roce->pairs, r->src, r->dst, r->job, r->channel << 8 | turn);
    if (pair->first_qp == QP_NIL)
        pair->first_qp = qp_open(roce, r, d, now);
    return pair->first_qp;
}

void roce_qp_rest(struct roce *roce, uint32_t index)
{
    struct qp *qp = qp_at(&roce->qps, index);
    if (roce_dim_of(roce, qp)->spec.qp != QP_PER_MESSAGE)
        return;
    for (unsigned t = 0; t < CC_TIMERS; t++)
        qp_cc(&qp->snd)->timer_at_ps[t] = PS_NEVER;
    sim_timer_stop(&qp->snd.cc_timer);
    struct pair *pair = pairs_get(roce->pairs, qp->src, qp->dst, qp->job, qp->channel << 8);
    qp->next_same_pair = pair->first_qp;
    pair->first_qp = index;
}

void roce_post(void *net, const struct transfer_request *request, ps_t now)
{
    struct roce *roce = net;
    uint32_t index = roce_qp_for(roce, request, now);
    struct qp *qp = qp_at(&roce->qps, index);
    struct qp_sender *s = &qp->snd;
    roce_settle(qp, now);
    uint64_t mtu = roce_dim_of(roce, qp)->spec.mtu_bytes;
    uint32_t slot = message_take(&roce->messages);
    struct message *m = &roce->messages.slots[slot];
    const struct message *last = s->newest == MESSAGE_NIL ? NULL : &roce->messages.slots[s->newest];
    m->first_psn = s->tail_psn;
    m->n_pkts = request->bytes ? (request->bytes + mtu - 1) / mtu : 1;
    m->start_byte = last ? last->start_byte + last->bytes : s->una_bytes;
    m->bytes = request->bytes;
    m->token = request->token;
    roce->n_messages += request->stripe <= 1; // parts have the number of the whole
    m->id = roce->n_messages - 1;
    m->qp = index;
    m->job = request->job;
    m->src = request->src;
    m->dst = request->dst;
    m->dim = qp->dim;
    m->posted_ps = now;
    s->tail_psn += m->n_pkts;
    roce->posted_bytes += request->bytes;
    roce->n_running++;
    if (last)
        roce->messages.slots[s->newest].next = slot;
    else
        s->oldest = slot;
    s->newest = slot;
    if (s->sending == MESSAGE_NIL)
        s->sending = slot;
    if (qp->rcv.receiving == MESSAGE_NIL)
        qp->rcv.receiving = slot;
    if (s->failed) {
        roce_fail(roce, qp, now);
        return;
    }
    if (qp_cc(s)->ops->on_post) {
        struct cc_post post = {.now_ps = now, .idle_ps = last ? 0 : now - s->idle_since_ps};
        qp_cc(s)->ops->on_post(qp_cc(s), &post);
    }
    roce_cc_moved(roce, index, now);
    roce_wake(roce, index, now);
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct roce *roce = ctx;
    if (p->kind == PACKET_DATA)
        roce_on_data(roce, node_port(roce->net, node, local), p, now); // INT goes on with the ACK
    else if (p->kind == PACKET_ACK)
        roce_on_ack(roce, p, now);
    else
        roce_on_cnp(roce, p, now);
    packet_end(roce->net, p);
}

// Inlined for the reason of cargo_fetch.
__attribute__((always_inline)) static inline void hint_sender(const struct qp_sender *s)
{
    for (size_t line = 0; line <= offsetof(struct qp_sender, cc); line += 64)
        __builtin_prefetch((const char *)s + line, 1);
}

static uint32_t hint(void *ctx, uint32_t node, uint32_t local, struct packet *p)
{
    const struct roce *roce = ctx;
    const struct qp *qp = qp_at(&roce->qps, p->flow);
    cargo_fetch(&roce->net->cargo, p->cargo);
    __builtin_prefetch(qp);
    if (p->kind == PACKET_DATA) {
        __builtin_prefetch(&qp->rcv, 1);
    } else {
        hint_sender(&qp->snd);
    }
    return node_port(roce->net, node, local);
}

// A NIC's port is about to be settled: what it pulls from.
static void hint_pull(void *ctx, uint32_t port)
{
    const struct roce *roce = ctx;
    const struct nic *nic = &roce->nics[port * roce->net->n_data];
    uint32_t next = nic->ready_head;
    if (next == QP_NIL && nic->n_paced > 0)
        next = nic->paced[0];
    if (next == QP_NIL)
        return;
    hint_sender(&qp_at(&roce->qps, next)->snd);
}

void roce_init(struct roce *roce, struct network *net)
{
    roce->net = net;
    uint32_t n_ports = net->first_port[net->n_ranks];
    roce->n_nics = n_ports * net->n_data;
    roce->nics = memory_zeroed_lines(roce->n_nics, sizeof *roce->nics);
    for (uint32_t p = 0; p < n_ports; p++) {
        net->ports[p].flags |= PORT_PULLS;
        for (uint32_t i = 0; i < net->n_data; i++) {
            struct nic *nic = &roce->nics[p * net->n_data + i];
            nic_init(nic);
            nic->quantum_bytes = port_queue(net, p, net->data_slot + i)->quantum_bytes;
        }
    }
    roce->next_qpn = memory_zeroed(net->n_ranks, sizeof *roce->next_qpn);
    for (uint32_t r = 0; r < net->n_ranks; r++)
        roce->next_qpn[r] = FIRST_QPN;
    roce->pairs = memory_zeroed(1, sizeof *roce->pairs);
    roce->np_pairs = memory_zeroed(1, sizeof *roce->np_pairs);
    message_pool_init(&roce->messages);
    bool shared = net->n_data > 1;
    net->ops[0] = (struct node_ops){.arrive = arrive,
                                    .pull = shared ? roce_shared_pull : roce_pull,
                                    .next_pull = shared ? roce_shared_next_pull : roce_next_pull,
                                    .pause_changed = roce_pause_changed,
                                    .hint = hint,
                                    .hint_pull = hint_pull,
                                    .ctx = roce};
}

void roce_free(struct roce *roce)
{
    for (uint32_t i = 0; i < roce->qps.n; i++) {
        psn_set_free(&roce->qps.qps[i]->snd.sacked);
        psn_set_free(&roce->qps.qps[i]->rcv.early);
        free(roce->qps.qps[i]);
    }
    free(roce->qps.qps);
    for (uint32_t p = 0; p < roce->n_nics; p++)
        nic_free(&roce->nics[p]);
    free(roce->nics);
    free(roce->flows.ids);
    free(roce->entropy[0]);
    free(roce->entropy[1]);
    free(roce->next_qpn);
    if (roce->pairs)
        pairs_free(roce->pairs);
    free(roce->pairs);
    if (roce->np_pairs)
        pairs_free(roce->np_pairs);
    free(roce->np_pairs);
    free(roce->np_ports);
    message_pool_free(&roce->messages);
    *roce = (struct roce){0};
}
