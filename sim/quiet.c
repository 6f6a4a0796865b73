// SPDX-License-Identifier: MIT
// Whether all messages may end within a window: then the run may be over, or programs that read ahead may
// decide that nothing is left to happen, and both need the order of events across parts.
//
// They cannot, if there is a computation or a start after the window; a message that takes longer even on an
// empty network; or a sender with data never sent, which needs a round trip. A flow fails after several
// retransmission timeouts, so while one has had a timeout, events are processed in order. So are they where
// limits.events may be reached, and where ranks of several parts may begin a phase for which they queue
// (comm/foresight.h).
#include "comm/foresight.h"
#include "sim/parts.h"
#include "transport/host.h"

// A time that no event of the window precedes.
static ps_t begin_ps(const struct sim *sim, ps_t until_ps)
{
    ps_t now = sim->engine.now_ps, whole = until_ps - sim->parts->partition->lookahead_ps;
    return now > whole ? now : whole;
}

// A lower bound of the time from the start of a packet of a sender to its acknowledgement: twice the least time
// between two parts, or within a part the first link in both directions.
static ps_t round_ps(const struct sim *sim, const struct sender *s)
{
    const struct partition *p = sim->parts->partition;
    const struct network *net = &sim->net;
    const struct flow_id *id = sender_id(s);
    if (partition_divides(p, id->src_node, id->dst_node))
        return 2 * p->lookahead_ps;
    return port_link(net, s->port)->delay_ps + port_link(net, net->cold[s->port].peer)->delay_ps;
}

// Most bytes that the ports of a node can receive in a time.
static double receivable(const struct sim *sim, uint32_t node, ps_t time_ps)
{
    const struct network *net = &sim->net;
    double bytes = 0;
    for (uint32_t p = net->first_port[node]; p < net->first_port[node + 1]; p++) {
        const struct byte_time *bt = &port_first_link(net, net->cold[p].peer)->byte_time;
        bytes += (double)time_ps * (double)bt->den / (double)bt->num;
    }
    return bytes;
}

// True if a message lacks more bytes at its receiver than the receiver's links can bring in a time. It is only known
// of receivers that take packets in order.
static bool lacks_more(const struct sim *sim, const struct sender *s, const struct message *m,
                       ps_t time_ps)
{
    if (!s->dim->in_order)
        return false;
    uint64_t received = hosts_delivered_bytes(sender_hosts(s), s, m);
    double lacks = m->bytes > received ? (double)(m->bytes - received) : 0;
    return lacks > receivable(sim, sender_id(s)->dst_node, time_ps) + 2 * s->dim->mtu_bytes;
}

// True if a flow cannot end before `until_ps`: it has something that it never sent, which takes a round trip (what
// is sent again may have arrived before), or its
// receiver, which takes packets in order only, lacks more than its links can bring.
static bool is_witness(const struct sim *sim, uint32_t flow, ps_t until_ps)
{
    const struct sender *s = sim->hosts.senders[flow];
    ps_t window_ps = until_ps - begin_ps(sim, until_ps);
    if (s->failed || s->cls == NET_CLASS_CONTROL || s->oldest == MESSAGE_NIL)
        return false;
    if (s->max < s->tail && round_ps(sim, s) >= window_ps)
        return true;
    return lacks_more(sim, s, hosts_message(sender_hosts(s), s->oldest), window_ps);
}

static bool any_witness(struct sim *sim, ps_t until_ps)
{
    struct sim_parts *parts = sim->parts;
    uint32_t n = sim->hosts.flows.n;
    if (n == 0)
        return false;
    if (parts->witness < n && is_witness(sim, parts->witness, until_ps))
        return true;
    if (sim->engine.events < parts->look_at)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        parts->witness = parts->witness + 1 < n ? parts->witness + 1 : 0;
        if (is_witness(sim, parts->witness, until_ps))
            return true;
    }
    parts->look_at = sim->engine.events + n; // so that looking costs no more than the events
    return false;
}

// More events than a window can have: on each port the smallest frames back to back, and pauses; every timer of a
// flow or a rank as often as timers may fire.
static uint64_t most_events(const struct sim *sim)
{
    const struct sim_parts *parts = sim->parts;
    uint64_t window_ns = (uint64_t)(parts->partition->lookahead_ps / PS_PER_NS) + 2;
    return window_ns * (4 * (uint64_t)sim->hosts.flows.n + 4 * (uint64_t)sim->graph.n_ends) +
           4 * parts->frames_per_window;
}

/* ---- what queues of dimensions need to know ---- */

// The least time that a packet takes from a sender to its destination.
static ps_t one_way_ps(const struct sim *sim, const struct sender *s)
{
    const struct partition *p = sim->parts->partition;
    const struct flow_id *id = sender_id(s);
    return partition_divides(p, id->src_node, id->dst_node)
               ? p->lookahead_ps
               : port_link(&sim->net, s->port)->delay_ps;
}

static ps_t least_ps(void *ctx, const struct transfer_request *request)
{
    const struct sim *sim = ctx;
    const struct partition *p = sim->parts->partition;
    if (sim->relay == NULL)
        return sim_least_ps(sim, request);
    return partition_divides(p, request->src, request->dst) ? p->lookahead_ps : 0;
}

// True if the message has data to send, which takes its time, or lacks more than its receiver's links can bring.
static bool late(void *ctx, const struct transfer_request *request, ps_t until_ps)
{
    const struct sim *sim = ctx;
    const struct sender *s = hosts_only_connection(&sim->hosts, request);
    if (s == NULL || s->failed)
        return false;
    const struct hosts *hosts = sender_hosts(s);
    ps_t window_ps = until_ps - begin_ps(sim, until_ps);
    for (uint32_t i = s->oldest; i != MESSAGE_NIL; i = hosts_message(hosts, i)->next) {
        const struct message *m = hosts_message(hosts, i);
        if (!sim_message_is(sim, m->token, request->token))
            continue;
        if (s->max < message_end_seq(m) && one_way_ps(sim, s) >= window_ps)
            return true;
        return lacks_more(sim, s, m, window_ps);
    }
    return false;
}

static bool may_start(struct sim *sim, ps_t until_ps)
{
    const struct comm_network_view view = {.least_ps = least_ps, .late = late, .ctx = sim};
    return comm_may_start(sim->workload.queued, &view, begin_ps(sim, until_ps), until_ps);
}

bool sim_may_be_quiet(struct sim *sim, ps_t until_ps)
{
    const struct sim_parts *parts = sim->parts;
    uint64_t limit = sim->spec->limits.events;
    if (limit > 0 && limit < engine_model_events(&sim->engine) + most_events(sim))
        return true;
    uint32_t retrying = 0;
    for (uint32_t i = 0; i < parts->partition->n; i++)
        retrying += parts->hosts[i].n_retrying;
    if (retrying > 0 || sim->workload.takes_order)
        return true;
    if (may_start(sim, until_ps))
        return true;
    return sim->workload.busy_until_ps < until_ps && parts->ends_ps < until_ps &&
           !any_witness(sim, until_ps);
}

// If a posted message is known to end later than so many windows from now, the ideal times of further messages are
// not computed.
#define WINDOWS_KNOWN 4

void sim_quiet_posted(struct sim *sim, const struct transfer_request *request, ps_t now)
{
    struct sim_parts *parts = sim->parts;
    if (parts->ends_ps > now + WINDOWS_KNOWN * parts->partition->lookahead_ps)
        return;
    ps_t ends_ps = now + sim_least_ps(sim, request);
    if (ends_ps > parts->ends_ps)
        parts->ends_ps = ends_ps;
}

void sim_quiet_failed(struct sim *sim) { sim->parts->ends_ps = 0; }
