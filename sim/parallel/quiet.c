// SPDX-License-Identifier: MIT
// Decides if all messages may end within a window. Then the run may be over, or programs that read
// ahead may find that nothing is left to happen, and both need the order of events across shards.
//
// They cannot all end if there is a computation or a start after the window; a message that takes
// longer even on an empty network; a sender with unsent data, which needs a round trip; or an
// operation of a library with a message still to be posted. A flow
// fails after several retransmission timeouts, so while one has had a timeout, events are processed
// in order. So are they where limits.events may be reached, and where ranks of several shards may
// begin a phase for which they queue (collective/foresight.h).
#include "collective/foresight.h"
#include "sim/parallel/parallel_internal.h"
#include "transport/host.h"

// Returns a time before which there is no event of the window.
static ps_t begin_ps(const struct parallel *parallel, ps_t until_ps)
{
    ps_t now = parallel->fabric->engine.now_ps,
         whole = until_ps - parallel->fabric->shards->lookahead_ps;
    return now > whole ? now : whole;
}

// A lower bound of the time from the start of a packet of a sender to its acknowledgement: twice
// the least time between two shards, or within a shard the first link in both directions.
static ps_t round_ps(const struct parallel *parallel, const struct sender *s)
{
    const struct shards *p = parallel->fabric->shards;
    const struct network *net = &parallel->fabric->net;
    const struct flow_id *id = sender_id(s);
    if (shards_separate(p, id->src_node, id->dst_node))
        return 2 * p->lookahead_ps;
    return port_link(net, s->port)->delay_ps + port_link(net, net->cold[s->port].peer)->delay_ps;
}

// A lower bound of the time that a packet takes from a sender to its destination, or back.
static ps_t one_way_ps(const struct parallel *parallel, const struct sender *s)
{
    const struct shards *p = parallel->fabric->shards;
    const struct flow_id *id = sender_id(s);
    return shards_separate(p, id->src_node, id->dst_node)
               ? p->lookahead_ps
               : port_link(&parallel->fabric->net, s->port)->delay_ps;
}

// Most bytes that the ports of a node can receive in `time_ps`.
static double receivable(const struct parallel *parallel, uint32_t node, ps_t time_ps)
{
    const struct network *net = &parallel->fabric->net;
    double bytes = 0;
    for (uint32_t p = net->first_port[node]; p < net->first_port[node + 1]; p++) {
        const struct byte_time *bt = &port_first_link(net, net->cold[p].peer)->byte_time;
        bytes += (double)time_ps * (double)bt->den / (double)bt->num;
    }
    return bytes;
}

// True if a message lacks more bytes at its receiver than the receiver's links can bring in
// `time_ps`. The number of missing bytes is known only for receivers that take packets in order.
static bool lacks_more(const struct parallel *parallel, const struct sender *s,
                       const struct message *m, ps_t time_ps)
{
    uint32_t dst_node = sender_id(s)->dst_node;
    // The receiver in another process is not visible here.
    if (!s->dim->in_order || shards_is_elsewhere(parallel->fabric->shards, dst_node))
        return false;
    uint64_t received = hosts_delivered_bytes(sender_hosts(s), s, m);
    double lacks = m->bytes > received ? (double)(m->bytes - received) : 0;
    return lacks > receivable(parallel, sender_id(s)->dst_node, time_ps) + 2 * s->dim->mtu_bytes;
}

// True if a flow cannot end before `until_ps`: it has data that it never sent, which takes a round
// trip (retransmitted data may have arrived before), or its receiver takes packets in order only
// and lacks more than its links can bring.
static bool is_witness(const struct parallel *parallel, uint32_t flow, ps_t until_ps)
{
    const struct sender *s = parallel->fabric->hosts.senders[flow];
    ps_t window_ps = until_ps - begin_ps(parallel, until_ps);
    // A failed flow sends nothing, one of the control class carries no message of a job, and one
    // without a message has nothing to end.
    if (s->failed || s->cls == NET_CLASS_CONTROL || s->oldest == MESSAGE_NIL)
        return false;
    if (s->max < s->tail && round_ps(parallel, s) >= window_ps)
        return true;
    const struct message *m = hosts_message(sender_hosts(s), s->oldest);
    if (one_way_ps(parallel, s) >= window_ps && !ledger_is_delivered(parallel->delivery, m->token))
        return true; // its last ACK is still to be made
    return lacks_more(parallel, s, m, window_ps);
}

static bool any_witness(struct parallel *parallel, ps_t until_ps)
{
    uint32_t first = parallel->fabric->hosts.flows.first;
    uint32_t n = parallel->fabric->hosts.flows.n - first;
    if (n == 0)
        return false;
    // The last witness is often still one, so it is checked before all other flows.
    if (parallel->witness < n && is_witness(parallel, first + parallel->witness, until_ps))
        return true;
    // A complete search that found nothing is repeated only after as many events as it has looked
    // at flows, so that searching costs no more than the events.
    if (parallel->fabric->engine.events < parallel->look_at)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        parallel->witness = parallel->witness + 1 < n ? parallel->witness + 1 : 0;
        if (is_witness(parallel, first + parallel->witness, until_ps))
            return true;
    }
    parallel->look_at =
        parallel->fabric->engine.events + n; // so that looking costs no more than the events
    return false;
}

static uint32_t own_flows(const struct parallel *parallel)
{
    const struct flow_ids *flows = &parallel->fabric->hosts.flows;
    return flows->n - flows->first;
}

static uint32_t own_retrying(const struct parallel *parallel)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < parallel->fabric->shards->n_own; i++)
        n += parallel->fabric->shard_hosts[i].n_retrying;
    return n;
}

struct process_facts quiet_facts(void *ctx)
{
    struct parallel *parallel = ctx;
    const struct fabric *fabric = parallel->fabric;
    ps_t until_ps = fabric->engine.now_ps + fabric->shards->lookahead_ps;
    return (struct process_facts){.holds = any_witness(parallel, until_ps),
                                  .retrying = own_retrying(parallel),
                                  .flows = own_flows(parallel)};
}

// Sums over all processes, which exchanged their numbers before the window (process_facts).
static uint64_t flows_of_all(const struct parallel *parallel)
{
    const struct shards *p = parallel->fabric->shards;
    return p->processes ? p->all.flows : own_flows(parallel);
}
static bool is_held(struct parallel *parallel, ps_t until_ps)
{
    const struct shards *p = parallel->fabric->shards;
    return p->processes ? p->all.holds > 0 : any_witness(parallel, until_ps);
}

// An upper bound of the events of a window: on each port the smallest frames back to back, and
// pauses; every timer of a flow or a rank as often as timers may fire.
static uint64_t most_events(const struct parallel *parallel)
{
    // Timers are taken to fire at most once in each nanosecond.
    uint64_t window_ns = (uint64_t)(parallel->fabric->shards->lookahead_ps / PS_PER_NS) + 2;
    return window_ns * (4 * flows_of_all(parallel) + 4 * (uint64_t)parallel->fabric->graph.n_ends) +
           4 * parallel->frames_per_window;
}

/* ---- queues of dimensions (collective/foresight.h) ---- */

static ps_t least_ps(void *ctx, const struct transfer_request *request)
{
    const struct parallel *parallel = ctx;
    const struct shards *p = parallel->fabric->shards;
    // With relays, a message may be posted in legs by other ranks, of which only the delay between
    // shards is certain.
    if (parallel->delivery->relay == NULL)
        return ledger_least_ps(parallel->delivery, request);
    return shards_separate(p, request->src, request->dst) ? p->lookahead_ps : 0;
}

// True if the message has data to send, which takes its time, or lacks more than its receiver's
// links can bring.
static bool late(void *ctx, const struct transfer_request *request, ps_t until_ps)
{
    const struct parallel *parallel = ctx;
    if (parallel->fabric->shards->processes)
        return false; // only the process of the sender has its connections
    const struct sender *s =
        hosts_only_connection(fabric_hosts_of(parallel->fabric, request->src), request);
    if (s == NULL || s->failed)
        return false;
    const struct hosts *hosts = sender_hosts(s);
    ps_t window_ps = until_ps - begin_ps(parallel, until_ps);
    for (uint32_t i = s->oldest; i != MESSAGE_NIL; i = hosts_message(hosts, i)->next) {
        const struct message *m = hosts_message(hosts, i);
        if (!ledger_is(parallel->delivery, m->token, request->token))
            continue;
        if (s->max < message_end_seq(m) && one_way_ps(parallel, s) >= window_ps)
            return true;
        return lacks_more(parallel, s, m, window_ps);
    }
    return false;
}

static struct comm_network_view view_of(struct parallel *parallel)
{
    return (struct comm_network_view){.least_ps = least_ps,
                                      .late = late,
                                      .events = parallel->fabric->engine.events,
                                      .ctx = parallel};
}

static bool executor_holds_job(struct parallel *parallel, ps_t until_ps)
{
    const struct comm_network_view view = view_of(parallel);
    const struct workload *w = parallel->workload;
    for (size_t j = 0; j < w->n_jobs; j++)
        if (comm_library_holds(&w->jobs[j].comm, &view, until_ps - begin_ps(parallel, until_ps)))
            return true;
    return false;
}

static bool may_start(struct parallel *parallel, ps_t until_ps)
{
    const struct comm_network_view view = view_of(parallel);
    return comm_may_start(parallel->workload->queued, &view, begin_ps(parallel, until_ps),
                          until_ps);
}

// True if events may reach limits.events, a flow may fail, or all messages may end. The last of an
// instant decides, so the order within it does not matter.
static bool may_end(struct parallel *parallel, ps_t until_ps)
{
    const struct shards *p = parallel->fabric->shards;
    uint64_t limit = parallel->fabric->spec->limits.events;
    uint64_t retrying = p->processes ? p->all.retrying : own_retrying(parallel);
    // All events that the window may have count, as the limit must be met at the exact event.
    if (limit > 0 && limit < engine_model_events(&parallel->fabric->engine) + most_events(parallel))
        return true;
    if (retrying > 0)
        return true;
    return parallel->workload->busy_until_ps < until_ps && parallel->ends_ps < until_ps &&
           !is_held(parallel, until_ps) && !executor_holds_job(parallel, until_ps);
}

enum shards_order quiet_order(struct parallel *parallel, ps_t until_ps)
{
    // Plans that depend on who issues first need every event in its place.
    if (parallel->workload->takes_order || may_start(parallel, until_ps))
        return ORDER_EVENTS;
    return may_end(parallel, until_ps) ? ORDER_INSTANTS : ORDER_NONE;
}

// If a posted message is known to end later than so many windows from now, the ideal times of
// further messages are not computed.
#define WINDOWS_KNOWN 4

void quiet_posted(void *ctx, const struct transfer_request *request, ps_t now)
{
    struct parallel *parallel = ctx;
    SIM_ASSERT(&parallel->fabric->engine, request->src,
               shards_is_current(parallel->fabric->shards, request->src));
    // Grants of clear-to-send are no messages of a job, so the run may end before they do.
    if (request->control)
        return;
    if (__atomic_load_n(&parallel->ends_ps, __ATOMIC_RELAXED) >
        now + WINDOWS_KNOWN * parallel->fabric->shards->lookahead_ps)
        return;
    ps_t ends_ps = now + ledger_least_ps(parallel->delivery, request);
    engine_lock(&parallel->fabric->engine);
    if (ends_ps > parallel->ends_ps)
        __atomic_store_n(&parallel->ends_ps, ends_ps, __ATOMIC_RELAXED);
    engine_unlock(&parallel->fabric->engine);
}

void quiet_failed(void *ctx)
{
    __atomic_store_n(&((struct parallel *)ctx)->ends_ps, 0, __ATOMIC_RELAXED);
}
