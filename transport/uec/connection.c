// SPDX-License-Identifier: MIT
// Opening and closing of connections, and their names.
#include "transport/uec/uec.h"

#include <stdio.h>

#include "net/wire/ip.h"

#define UDP_ENTROPY 0xC000 // the ports above are those of entropies

// Connection numbers are counted at the source; the UDP source ports of all entropies begin at a
// multiple of their number, which is a hash.
void uec_name_connection(struct sender *s, uint32_t count)
{
    const struct transport_dim *dim = s->dim;
    const struct uec_spec *spec = uec_spec_const(&dim->spec);
    struct flow_id *id = &dim->hosts->flows.ids[s->flow];
    struct uec_sender *u = uec_of(s);
    uint64_t responder = (uint64_t)count * dim->hosts->net->n_ranks + id->src;
    id->src_conn = (1 + count) & 0xffff;
    id->dst_conn = (uint32_t)(1 + responder) & 0xffff;
    uint64_t name = (uint64_t)count << 32 | id->src;
    uint32_t hash = (uint32_t)hash_mix(name << 1) & 0x3fff;
    uint32_t back = (uint32_t)hash_mix(name << 1 | 1) & 0x3fff,
             mask = (uint32_t)spec->entropies - 1;
    id->src_port = (uint16_t)(UDP_ENTROPY | (hash & ~mask));
    id->dst_port = (uint16_t)(UDP_ENTROPY | (back & ~mask));
    if (u->single_path) {
        id->src_port = (uint16_t)(UDP_ENTROPY | hash);
        id->dst_port = (uint16_t)(UDP_ENTROPY | back);
    }
    id->data_dscp = dscp_of_class(id->cls);
    id->ack_dscp = id->cnp_dscp = dscp_of_class(NET_CLASS_CONTROL);
    u->addresses = address_hash(id->src, id->dst);
    u->port_base = id->src_port;
    id->entropy = s->entropy = path_entropy(u->addresses, id->src_port, 0);
    id->back_entropy = header_entropy(id->dst, id->src, id->dst_port, 0);
    spray_init(&u->spray, (enum spray_kind)spec->spray, (uint32_t)spec->entropies,
               dim->hosts->net->engine->seed, name);
}

// Timeouts of `rto` auto: 15 us plus six times the drain time of a switch's queue, as in uet-htsim,
// whose queues have a fixed limit. With dynamic thresholds of a large buffer the length at which
// every packet is marked counts, since policies keep queues below it; the timeout then follows
// longer RTTs. Before the first RTT sample, when an incast may fill the buffer, it is 15 us plus
// the drain time of all buffers of the path.
ps_t uec_rto_of(const struct transport_dim *dim, const struct transport_path *path, ps_t *least)
{
    const struct uec_spec *spec = uec_spec_const(&dim->spec);
    uint32_t switches = path->hops > 1 ? path->hops - 1 : 1;
    if (spec->rto_ps != PARAM_AUTO_TIME)
        return *least = spec->rto_ps;
    *least = ps_longer(15 * PS_PER_US + 6 * (path->target_ps / switches), 2 * path->base_rtt_ps);
    return path->limited ? *least : ps_longer(15 * PS_PER_US + path->queueing_ps, *least);
}

size_t uec_autos(const struct transport_dim *dim, const struct transport_path *path,
                 struct transport_auto *out)
{
    char least[UNIT_TEXT], first[UNIT_TEXT];
    ps_t least_ps, first_ps = uec_rto_of(dim, path, &least_ps);
    if (uec_spec_const(&dim->spec)->rto_ps != PARAM_AUTO_TIME)
        return 0;
    out->key = "rto";
    human_time(least_ps, least);
    if (first_ps == least_ps)
        snprintf(out->text, sizeof out->text, "%s", least);
    else
        snprintf(out->text, sizeof out->text, "%s (%s at first)", least,
                 human_time(first_ps, first));
    return 1;
}

void uec_open_sender(struct sender *s, const struct transport_path *path)
{
    struct uec_sender *u = uec_of(s);
    s->cc_needs_acks = s->dim->cc->on_ack != NULL;
    s->ackreq_end = UINT64_MAX; // sender_may_send() need not send only to request an ACK
    u->first_rto_ps = uec_rto_of(s->dim, path, &u->rto_ps);
    u->adapts = uec_spec_const(&s->dim->spec)->rto_ps == PARAM_AUTO_TIME && !path->limited;
    u->single_path = uec_spec_const(&s->dim->spec)->spray == SPRAY_KIND_NONE;
    uec_credits_open(s);
}

void uec_close_sender(struct sender *s)
{
    spray_free(&uec_of(s)->spray);
    flight_free(&uec_of(s)->flight);
}

void uec_prepare(struct transport_dim *dim)
{
    const struct uec_spec *spec = uec_spec_const(&dim->spec);
    dim->mtu_bytes = dim->seq_bytes = (uint32_t)spec->mtu_bytes;
    dim->fails_at_once = spec->retry_limit == 0;
    dim->full = dim->first = uec_data_sizes(&dim->spec, dim->mtu_bytes, false);
    dim->ack = uec_ack_sizes(&dim->spec);
    uint64_t per_ack = (spec->ack_every_bytes + dim->full.wire - 1) / dim->full.wire;
    dim->packets_per_ack = per_ack > 0 ? (uint32_t)per_ack : 1;
    dim->connections_per_pair = 1;
    dim->sprays = spec->entropies > 1;
    dim->retransmits = true;
    dim->echoes_marks = true;
    dim->uses_control_class = true;
}

ps_t uec_shortest_timer_ps(const struct transport_spec *t, ps_t base_rtt_ps)
{
    const struct uec_spec *spec = uec_spec_const(t);
    ps_t least_ps = 15 * PS_PER_US > 2 * base_rtt_ps ? 15 * PS_PER_US : 2 * base_rtt_ps;
    return spec->rto_ps == PARAM_AUTO_TIME ? least_ps : spec->rto_ps;
}
