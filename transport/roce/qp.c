// SPDX-License-Identifier: MIT
// Opening and closing of queue pairs, and their numbers.
#include "transport/roce/roce.h"

#include <stdlib.h>

#include "engine/base/rng.h"
#include "net/wire/ip.h"

enum {
    FIRST_QPN = 0x100,
    QPN_MASK = 0xffffff,
    UDP_ENTROPY = 0xC000,
};

// Returns the UDP source port: 14 bits of a hash of both queue pair numbers, as NICs compute it.
static uint16_t udp_source(uint32_t qpn, uint32_t peer_qpn)
{
    return (uint16_t)(UDP_ENTROPY | (hash_mix((uint64_t)qpn << 32 | peer_qpn) & 0x3fff));
}

// Derive the queue pair numbers from the source rank and its own count, so that they do not depend
// on other ranks. The requester uses even numbers of its rank, the responder an odd number that no
// other source uses at that rank.
void roce_name_connection(struct sender *s, uint32_t count)
{
    const struct transport_dim *dim = s->dim;
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    struct flow_id *id = &dim->hosts->flows.ids[s->flow];
    uint64_t responder = (uint64_t)count * dim->hosts->net->n_ranks + id->src;
    id->src_conn = (FIRST_QPN + 2 * count) & QPN_MASK;
    id->dst_conn = (uint32_t)(FIRST_QPN + 2 * responder + 1) & QPN_MASK;
    bool entropy = spec->entropy == ENTROPY_QPN;
    id->src_port = entropy ? udp_source(id->src_conn, id->dst_conn) : UDP_ENTROPY;
    id->dst_port = entropy ? udp_source(id->dst_conn, id->src_conn) : UDP_ENTROPY;
    if (dim->sprays) // the entropies of packets are the low bits
        id->src_port = (uint16_t)(id->src_port & ~(spec->entropies - 1));
    id->data_dscp = dscp_of_class(id->cls);
    id->ack_dscp = dscp_of_class(roce_ack_class(spec, id->cls));
    id->cnp_dscp = dscp_of_class(NET_CLASS_CONTROL);
    bool qpn = dim->hash_connection;
    id->entropy = s->entropy =
        header_entropy(id->src, id->dst, id->src_port, qpn ? id->dst_conn : 0);
    id->back_entropy = header_entropy(id->dst, id->src, id->dst_port, qpn ? id->src_conn : 0);
}

void roce_change_path(struct sender *s)
{
    const struct transport_dim *dim = s->dim;
    const struct flow_id *id = sender_id(s);
    uint16_t port = id->src_port ^ roce_path_bits(s->path);
    if (s->path == 0)
        s->entropy = id->entropy;
    else if (dim->numbers_paths)
        s->entropy = s->path - 1;
    else
        s->entropy =
            header_entropy(id->src, id->dst, port, dim->hash_connection ? id->dst_conn : 0);
}

void roce_open_sender(struct sender *s, const struct transport_path *path)
{
    const struct transport_dim *dim = s->dim;
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    bool uses_cnps = dim->cc->needs & CC_NEEDS_CNP && spec->cnp == CNP_NP_TIMER;
    s->cc_needs_acks = dim->cc->on_ack && !uses_cnps;
    if (spec->recovery == RECOVERY_SELECTIVE_REPEAT)
        roce_selective_open(s, path->queueing_ps);
    if (dim->sprays) {
        const struct flow_id *id = sender_id(s);
        spray_init(&roce_selective_of(s)->spray, (enum spray_kind)spec->spray,
                   (uint32_t)spec->entropies, dim->hosts->net->engine->seed,
                   (uint64_t)id->number << 32 | id->src);
    }
}

static void selective_sets(struct roce_selective *r, void (*change)(struct psn_set *))
{
    change(&r->sacked);
    change(&r->trimmed);
    change(&r->resent);
}

void roce_close_sender(struct sender *s)
{
    struct roce_selective *r = roce_selective_of(s);
    if (!r)
        return;
    selective_sets(r, psn_set_free);
    if (s->dim->sprays)
        spray_free(&r->spray);
}

void roce_on_failed(struct sender *s, ps_t now)
{
    (void)now;
    if (roce_selective_of(s))
        selective_sets(roce_selective_of(s), psn_set_clear);
}

void roce_open_receiver(struct receiver *base)
{
    struct roce_receiver *r = (struct roce_receiver *)base;
    const struct transport_dim *dim = base->dim;
    const struct flow_id *id = &dim->hosts->flows.ids[base->flow];
    r->src_node = id->src_node;
    r->entropy = id->back_entropy;
    r->ack_cls = roce_ack_class(roce_spec_const(&dim->spec), id->cls) & 7;
    r->splits_acks = dim->cc->needs & CC_NEEDS_CE_SHARE;
    roce_notify_open(r);
}

void roce_close_receiver(struct receiver *base)
{
    struct roce_receiver *r = (struct roce_receiver *)base;
    roce_notify_close(r);
    if (r->early) {
        psn_set_free(&r->early->psns);
        free(r->early->ends);
    }
    free(r->early);
}

uint64_t roce_received_bytes(const struct receiver *base, const struct message *m)
{
    uint64_t psn = ((const struct roce_receiver *)base)->expected_psn;
    return psn > m->first_seq ? message_offset(m, psn, base->dim->seq_bytes) - m->start_byte : 0;
}

void roce_hand_over_receiver(struct parcel *p, struct receiver *base)
{
    PARCEL(p, ((struct roce_receiver *)base)->expected_psn);
}

void roce_prepare(struct transport_dim *dim)
{
    const struct roce_spec *spec = roce_spec_const(&dim->spec);
    dim->mtu_bytes = dim->seq_bytes = (uint32_t)spec->mtu_bytes;
    dim->packets_per_ack = (uint32_t)spec->ack_interval;
    bool split = spec->qp_scaling == QP_SCALING_SPLIT;
    dim->connections_per_pair = split ? 1 : (uint32_t)spec->qps_per_pair;
    dim->parts_per_message = split ? (uint32_t)spec->qps_per_pair : 1;
    dim->fresh_connections = spec->qp == QP_PER_MESSAGE;
    dim->retransmits = spec->recovery != RECOVERY_NONE;
    dim->sprays = spec->spray != SPRAY_KIND_NONE;
    dim->in_order = spec->recovery == RECOVERY_GO_BACK_N && !dim->sprays;
    dim->fails_at_once = spec->retry_limit == 0 || spec->recovery == RECOVERY_NONE;
    dim->echoes_marks = spec->cnp == CNP_PER_ACK;
    dim->full = roce_data_sizes(&dim->spec, dim->mtu_bytes, false);
    dim->first = roce_data_sizes(&dim->spec, dim->mtu_bytes, true);
    dim->ack = roce_ack_sizes(&dim->spec);
    dim->uses_control_class = spec->ack_class == ACK_CLASS_CONTROL ||
                              (dim->cc->needs & CC_NEEDS_CNP && spec->cnp == CNP_NP_TIMER);
}

ps_t roce_shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps)
{
    const struct roce_spec *spec = roce_spec_const(t);
    ps_t low = spec->rto_low_ps, high = spec->rto_high_ps;
    if (spec->recovery != RECOVERY_SELECTIVE_REPEAT)
        return spec->rto_adaptive_ps > 0 && spec->rto_adaptive_ps < spec->rto_ps
                   ? spec->rto_adaptive_ps
                   : spec->rto_ps;
    // The automatic values are at least these (transport/roce/selective.c).
    if (low == PARAM_AUTO_TIME)
        low = 2 * base_rtt_ps;
    if (high == PARAM_AUTO_TIME)
        high = base_rtt_ps;
    return low < high ? low : high;
}

size_t roce_check(const struct transport_spec *t, const struct transport_network *network,
                  struct transport_finding *out)
{
    const struct roce_spec *spec = roce_spec_const(t);
    size_t n = 0;
    bool sprays = spec->spray != SPRAY_KIND_NONE;
    bool selective = spec->recovery == RECOVERY_SELECTIVE_REPEAT;
    if (sprays && !selective)
        out[n++] = (struct transport_finding){"spray",
                                              "packets on several paths arrive in any order, "
                                              "which only recovery selective_repeat takes",
                                              true};
    if (spec->spray == SPRAY_MRC)
        out[n++] = (struct transport_finding){
            "spray", "mrc needs to know by which path a packet was lost: transports mrc and uec do",
            true};
    const char *fault = spray_count_fault(spec->entropies);
    if (fault)
        out[n++] = (struct transport_finding){"entropies", fault, true};
    if (sprays && selective && spec->reorder_packets == 0)
        out[n++] = (struct transport_finding){
            "reorder", "is 0: with spray each packet that is overtaken counts as lost", false};
    if (network->reorders && spec->recovery == RECOVERY_GO_BACK_N)
        out[n++] = (struct transport_finding){
            "recovery",
            "go_back_n retransmits after every reordering, and this routing reorders packets: "
            "use selective_repeat with `reorder`",
            false};
    if (!network->lossless && spec->recovery == RECOVERY_NONE)
        out[n++] = (struct transport_finding){
            "recovery", "without recovery and PFC a dropped packet fails its flow", false};
    if (network->trims && spec->recovery != RECOVERY_SELECTIVE_REPEAT)
        out[n++] = (struct transport_finding){
            "recovery", "must be selective_repeat where switches trim packets (switch.trimming)",
            true};
    if (network->trims && spec->ack_class != ACK_CLASS_CONTROL)
        out[n++] = (struct transport_finding){"ack_class",
                                              "must be control where switches trim packets "
                                              "(switch.trimming): the report of a trimmed "
                                              "packet would wait behind data",
                                              true};
    return n;
}
