// SPDX-License-Identifier: MIT
// Messages of a connection, and what clears them to send.
#include <stdlib.h>

#include "collective/executor/executor_internal.h"
#include "engine/base/memory.h"

#define CLEAR_BYTES 64     // of the write that clears a message (transport/net_ib.cc)
#define SPLIT_ALIGN 128    // bytes; parts of a message on several queue pairs
#define CHANNELS_MAX 64    // of a group, of each of the kinds below
#define QUEUE_PAIRS_MAX 16 // of a connection
enum { KIND_CLEARS = 1, KIND_EXCHANGE = 2, KINDS = 4 };

// Lower bits of a token: the message modulo MESSAGES, whether it clears a message to send, and
// whether it goes over NVLink to the rank that has the NIC.
#define MESSAGE_BITS 6
#define MESSAGES (1u << MESSAGE_BITS)
#define TOKEN_CLEAR (UINT64_C(1) << MESSAGE_BITS)
#define TOKEN_STAGED (UINT64_C(1) << (MESSAGE_BITS + 1))
#define TOKEN_FIRST (UINT64_C(1) << (MESSAGE_BITS + 2)) // the first lines of a message
#define NUMBER_SHIFT (MESSAGE_BITS + 3)

static struct executor *executor_of(const struct connection *c) { return c->run->group->library; }

// The rank of the network that has a NIC of the server of a member.
static uint32_t owner_of(const struct executor_run *run, uint32_t member, int32_t nic)
{
    const struct executor_group *g = run->group;
    const struct nccl_machine *m = g->spec->machine;
    uint32_t rank = g->ranks[member], gpus = g->spec->gpus;
    if (nic == NCCL_NONE || m->nics == 0)
        return rank;
    uint32_t owner = (uint32_t)nic * gpus / m->nics, own = rank % gpus;
    // If the NIC is the rank's own, the rank owns it; no other rank of the server is needed.
    return own * m->nics / gpus == (uint32_t)nic ? rank : rank - own + owner;
}

// NICs of a connection between servers, and the member whose process sends.
struct ends {
    int32_t send_nic, receive_nic, proxy;
};

static struct ends ends_of(const struct connection *c)
{
    const struct nccl_layout *l = &c->run->group->comm->layout;
    // Exchanges, files and PAT use the NICs that NCCL gives to sends and receives of a pair.
    if (c->run->source != RUN_OPERATION || run_is_by(c->run, NCCL_PAT)) {
        uint32_t channel = c->run->source == RUN_OPERATION ? 0 : c->channel % l->channels.p2p;
        struct nccl_p2p_links p = nccl_layout_p2p(l, channel, c->src, c->dst);
        return (struct ends){p.send_nic, p.receive_nic, p.send_proxy};
    }
    if (run_is_by(c->run, NCCL_RING)) {
        struct nccl_ring_links r = nccl_layout_ring(l, c->channel, c->src);
        return (struct ends){r.send_nic, nccl_layout_ring(l, c->channel, c->dst).receive_nic,
                             r.send_proxy};
    }
    if (run_is_by(c->run, NCCL_TREE)) {
        struct nccl_tree_links t = nccl_layout_tree(l, c->channel, c->src);
        return (struct ends){t.nic, nccl_layout_tree(l, c->channel, c->dst).nic, t.proxy};
    }
    struct nccl_nvls_links v = nccl_layout_nvls(l, c->channel, c->src);
    return (struct ends){v.nic, nccl_layout_nvls(l, c->channel, c->dst).nic, v.proxy};
}

static void set_ends(struct connection *c)
{
    struct ends ends = ends_of(c);
    c->src_node = owner_of(c->run, c->src, ends.send_nic);
    c->dst_node = owner_of(c->run, c->dst, ends.receive_nic);
    c->staged = ends.proxy != NCCL_NONE && ends.proxy != (int32_t)c->src &&
                c->src_node != run_node(c->run, c->src);
}

struct connection *connection_new(struct executor_run *run, uint32_t channel, uint32_t src,
                                  uint32_t dst, uint32_t slots, uint64_t messages)
{
    struct executor *l = run->group->library;
    struct connection *c = memory_zeroed(1, sizeof *c);
    c->run = run;
    c->channel = channel;
    c->src = src;
    c->dst = dst;
    c->src_node = run_node(run, src);
    c->dst_node = run_node(run, dst);
    c->remote = run->group->comm->server_begin[src] != run->group->comm->server_begin[dst];
    c->exchange = run->source == RUN_EXCHANGES;
    c->window = NCCL_STEPS / slots;
    c->messages = messages;
    if (c->remote)
        set_ends(c);
    c->number = slots_take(&l->numbers, l->connections);
    l->connections[c->number] = c;
    return c;
}

void connection_free(struct connection *c)
{
    executor_of(c)->connections[c->number] = NULL;
    slots_give(&executor_of(c)->numbers, c->number);
    free(c);
}

/* ---- what keeps an operation from ending ---- */

static struct transfer_request request_of(const struct connection *c, bool clears)
{
    const struct executor_env *env = run_env(c->run);
    uint32_t kind = (clears ? KIND_CLEARS : 0u) | (c->exchange ? KIND_EXCHANGE : 0u),
             channel = ((c->run->group->index * KINDS + kind) * CHANNELS_MAX + c->channel) *
                       QUEUE_PAIRS_MAX;
    return (struct transfer_request){.src = clears ? c->dst_node : c->src_node,
                                     .dst = clears ? c->src_node : c->dst_node,
                                     .job = env->job,
                                     .channel = c->remote ? channel : 0,
                                     .cls = env->cls,
                                     .transport = env->transport,
                                     .joined = true,
                                     .immediate = c->remote && !clears};
}

static bool holds(const struct connection *c, executor_least *least, void *ctx, ps_t span_ps)
{
    if (c == NULL || !c->remote || c->posted >= c->messages || c->run->launched < c->run->group->n)
        return false;
    struct transfer_request request = request_of(c, false);
    request.bytes = 1;
    return least(ctx, &request) >= span_ps;
}

bool executor_holds(struct executor *l, executor_least *least, void *ctx, ps_t span_ps)
{
    for (uint32_t i = 0; i < l->numbers.n; i++) {
        if (holds(l->connections[l->looked_at], least, ctx, span_ps))
            return true;
        l->looked_at = l->looked_at + 1 < l->numbers.n ? l->looked_at + 1 : 0;
    }
    return false;
}

/* ---- messages ---- */

static void post(struct connection *c, struct transfer_request *request, uint64_t bytes,
                 uint64_t token, ps_t now)
{
    const struct executor_env *env = run_env(c->run);
    request->bytes = bytes;
    request->token = env->token | (uint64_t)c->number << NUMBER_SHIFT | token;
    c->run->open += c->open++ == 0;
    tally_add(env->messages, 1);
    env->transfer->post(env->transfer->net, request, now);
}

// One part for each queue pair, or the message as a whole on the next one.
static void post_parts(struct connection *c, struct transfer_request *request, uint64_t bytes,
                       uint64_t token, ps_t now)
{
    const struct nccl_settings *s = &run_spec(c->run)->settings;
    uint32_t pairs = c->remote ? s->queue_pairs : 1, base = request->channel;
    uint64_t part = bytes;
    if (pairs > 1 && s->split_on_queue_pairs)
        part = (bytes / pairs + SPLIT_ALIGN) / SPLIT_ALIGN * SPLIT_ALIGN;
    else if (pairs > 1)
        base += c->posted % pairs;
    // A message without bytes is still sent, as one part.
    uint32_t n = bytes > 0 ? (uint32_t)((bytes + part - 1) / part) : 1;
    c->parts_left[c->posted % NCCL_STEPS] = c->parts_unsent[c->posted % NCCL_STEPS] = n;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t left = bytes - i * part;
        request->channel = base + i;
        post(c, request, left < part ? left : part, token, now);
    }
}

// Of the message that is posted next.
static struct transfer_request message_request(const struct connection *c)
{
    const struct executor_run *run = c->run;
    struct transfer_request request = request_of(c, false);
    request.origin = (struct message_origin){.op = run->request.op,
                                             .name = run->request.name,
                                             .communicator = run->group->index,
                                             .collective = run->request.step,
                                             .chunk = c->channel,
                                             .step = c->step[c->posted % NCCL_STEPS]};
    return request;
}

static void connection_post(struct connection *c, ps_t now)
{
    const struct executor_env *env = run_env(c->run);
    const struct executor_run *run = c->run;
    const struct nccl_settings *s = &run_spec(run)->settings;
    struct transfer_request request = message_request(c);
    uint32_t slot = c->posted % NCCL_STEPS;
    uint64_t bytes = nccl_wire_bytes(run->protocol, c->bytes[slot]), token = c->posted % MESSAGES;
    c->line_ps[slot] = c->way_ps > 0 ? now + c->way_ps : PS_NEVER;
    env->posted(env->ctx, run->ctx, run_node(run, c->src), bytes, now);
    if (c->remote && s->two_part_bytes > 0 && bytes > s->two_part_bytes) {
        c->parts_left[slot] = c->parts_unsent[slot] = 2; // the write and its notice
        post(c, &request, bytes, token, now);
        post(c, &request, 0, token, now);
    } else {
        post_parts(c, &request, bytes, token, now);
    }
    c->posted++;
}

// How long the proxy is busy with the next message that it posts.
static ps_t busy_ps(const struct connection *c, uint64_t bytes)
{
    const struct nccl_host_cost *cost = &run_spec(c->run)->cost;
    bool checks = c->run->protocol == NCCL_LL && cost->check_bps > 0;
    return cost->proxy_ps + (checks ? serialization_ps(bytes, cost->check_bps) : 0);
}

// Between servers the proxy posts what is written and cleared.
static void give_to_proxy(struct connection *c, ps_t now)
{
    const struct nccl_host_cost *cost = &run_spec(c->run)->cost;
    struct executor *l = executor_of(c);
    while (c->queued < c->there && (c->queued < c->granted || !l->clears)) {
        uint32_t slot = c->queued++ % NCCL_STEPS;
        ps_t seen_ps = c->written_ps[slot] + cost->send_ps[c->run->protocol];
        ps_t latency_ps = (seen_ps > now ? seen_ps - now : 0) + proxy_noise_ps(l, c->src_node);
        proxy_add(l, c->src_node, connection_post, c, latency_ps, busy_ps(c, c->bytes[slot]), now);
    }
}

// The next message is where the proxy looks for it.
static void come_to_nic(struct connection *c, ps_t now)
{
    c->written_ps[c->there++ % NCCL_STEPS] = now;
    give_to_proxy(c, now);
}

// Over NVLink to the rank that has the NIC.
static void stage(struct connection *c, uint64_t bytes, ps_t now)
{
    struct transfer_request request = request_of(c, false);
    request.src = run_node(c->run, c->src);
    request.dst = c->src_node;
    request.channel = 0;
    request.unrecorded = true;
    post(c, &request, nccl_wire_bytes(c->run->protocol, bytes), TOKEN_STAGED, now);
}

/* ---- messages that arrive while they are written ---- */

// Under LL and LL128 every line tells by its flags that it has come, so inside a server the
// receiver forwards the first line before the sender has written the last one. Such a message is
// posted in up to three parts: its first line when the block has written it, what follows at once,
// and the last line when the block has written all. So it is complete when both the link and the
// block have done their part. What follows the first line takes the link earlier than the block
// writes it, by the time of a copy at most. A line is what a warp of 32 threads writes at once: 16
// bytes each under LL (prims_ll.h), 64 under LL128 (prims_ll128.h). Under Simple the receiver waits
// for a counter that is written at the end of a slice, so slices are stored whole at each hop.
static const uint32_t line_wire_bytes[NCCL_PROTOCOLS] = {512, 2048, 0};

uint64_t connection_line_bytes(const struct connection *c)
{
    static const uint32_t data[NCCL_PROTOCOLS] = {256, 1920, 0};
    return data[c->run->protocol];
}

bool connection_flows(const struct connection *c, uint64_t bytes)
{
    return !c->remote && c->run->protocol != NCCL_SIMPLE && bytes > connection_line_bytes(c);
}

void connection_begin(struct connection *c, uint64_t bytes, uint32_t step, ps_t now)
{
    const struct executor_env *env = run_env(c->run);
    uint32_t slot = c->posted % NCCL_STEPS;
    uint64_t wire = nccl_wire_bytes(c->run->protocol, bytes), token = c->posted % MESSAGES,
             line = line_wire_bytes[c->run->protocol], left = wire - line;
    c->bytes[slot] = bytes;
    c->step[slot] = step;
    c->flows = true;
    c->parts_left[slot] = left > line ? 2 : 1;
    struct transfer_request request = message_request(c);
    env->posted(env->ctx, c->run->ctx, run_node(c->run, c->src), wire, now);
    request.unrecorded = true; // what follows, or the last line, has the message's record
    post(c, &request, line, token | TOKEN_FIRST, now);
    request.unrecorded = false;
    if (left > line)
        post(c, &request, left - line, token, now);
}

static void post_last(struct connection *c, ps_t now)
{
    uint64_t wire = nccl_wire_bytes(c->run->protocol, c->bytes[c->posted % NCCL_STEPS]),
             line = line_wire_bytes[c->run->protocol], left = wire - line;
    struct transfer_request request = message_request(c);
    request.unrecorded = left > line;
    post(c, &request, left > line ? line : left, c->posted % MESSAGES, now);
    c->flows = false;
    c->posted++;
}

void connection_send(struct connection *c, uint64_t bytes, uint32_t step, ps_t now)
{
    c->bytes[c->ready % NCCL_STEPS] = bytes;
    c->step[c->ready % NCCL_STEPS] = step;
    c->ready++;
    if (c->flows) {
        post_last(c, now);
    } else if (!c->remote) {
        connection_post(c, now);
    } else if (c->staged) {
        stage(c, bytes, now);
    } else {
        come_to_nic(c, now);
    }
}

/* ---- clear to send ---- */

static void connection_clear(struct connection *c, ps_t now)
{
    struct transfer_request request = request_of(c, true);
    request.unrecorded = true;
    c->cleared_ps[c->grants++ % NCCL_STEPS] = now;
    post(c, &request, CLEAR_BYTES, TOKEN_CLEAR, now);
}

static void clear_more(struct connection *c, ps_t now)
{
    const struct nccl_host_cost *cost = &run_spec(c->run)->cost;
    if (!c->remote || !executor_of(c)->clears)
        return;
    while (c->cleared < c->messages && c->cleared - c->consumed < c->window) {
        c->cleared++;
        proxy_add(executor_of(c), c->dst_node, connection_clear, c, 0, cost->proxy_ps, now);
    }
}

void connection_open(struct connection *c, ps_t now) { clear_more(c, now); }

void connection_consume(struct connection *c, ps_t now)
{
    c->consumed++;
    clear_more(c, now);
    if (!c->remote && c->sender != NULL)
        block_wake(c->sender, now);
}

/* ---- arrivals and ends ---- */

// The lines of a message of LL or LL128 are in the memory of the receiver's GPU as they arrive, and
// its block looks at them there. The first one comes when a packet could come that was posted with
// the message: after the time of the fastest grant, which goes the other way. The sender knows it
// when it posts the message; the receiver may not look at what the sender has learnt since.
static ps_t spread_ps(const struct connection *c, uint32_t message, ps_t now)
{
    ps_t first = c->line_ps[message % NCCL_STEPS];
    return c->run->protocol != NCCL_SIMPLE && first < now ? now - first : 0;
}

static void granted(struct connection *c, ps_t now)
{
    ps_t way = now - c->cleared_ps[c->granted++ % NCCL_STEPS];
    c->way_ps = c->way_ps == 0 || way < c->way_ps ? way : c->way_ps;
}

static void first_arrived(struct connection *c, uint32_t message, ps_t seen_ps)
{
    c->first_ps[message % NCCL_STEPS] = seen_ps;
    c->first_early |= UINT32_C(1) << (message - c->first) % MESSAGES;
    for (; c->first_early & 1; c->first_early >>= 1)
        c->first++;
}

static void connection_arrive(struct connection *c, ps_t seen_ps)
{
    if (c->first == c->arrived) // it came as a whole
        first_arrived(c, c->arrived, seen_ps);
    c->seen_ps[c->arrived++ % NCCL_STEPS] = seen_ps;
}

// Returns when the receiver sees what arrives over a link of the server now.
static ps_t seen_over_link_ps(const struct connection *c, ps_t now)
{
    const struct nccl_host_cost *cost = &run_spec(c->run)->cost;
    bool tree = run_is_by(c->run, NCCL_TREE);
    return now + (tree ? cost->tree_link_ps[c->run->protocol] : cost->link_ps[c->run->protocol]);
}

// The proxy has seen the message: the block can.
static void receive(struct connection *c, ps_t now)
{
    connection_arrive(c, now);
    if (c->receiver != NULL)
        block_go_on(c->receiver, now);
}

static void message_in_order(struct connection *c, ps_t now)
{
    const struct nccl_host_cost *cost = &run_spec(c->run)->cost;
    const struct executor_env *env = run_env(c->run);
    env->arrived(env->ctx, c->run->ctx, now);
    if (c->remote) {
        uint32_t message = c->handed - 1;
        c->spread_ps[message % NCCL_STEPS] = spread_ps(c, message, now);
        bool polled = c->run->protocol == NCCL_SIMPLE; // by the proxy; else by the block itself
        proxy_add(executor_of(c), run_node(c->run, c->dst), receive, c,
                  cost->receive_ps[c->run->protocol], polled ? cost->proxy_ps : 0, now);
        return;
    }
    ps_t seen_ps = seen_over_link_ps(c, now);
    connection_arrive(c, seen_ps);
    if (c->receiver != NULL)
        block_wake(c->receiver, seen_ps);
}

static void message_arrived(struct connection *c, uint32_t message, ps_t now)
{
    if (--c->parts_left[message % NCCL_STEPS] > 0)
        return;
    // Parts on several queue pairs may overtake each other, so messages are handed on in their
    // order: bit i of `early` stands for the i-th message after those that were handed on.
    uint32_t ahead = (message - c->handed) % MESSAGES;
    c->early |= UINT32_C(1) << ahead;
    while (c->early & 1) {
        c->early >>= 1;
        c->handed++;
        message_in_order(c, now);
    }
}

static struct connection *connection_of(const struct executor *l, uint64_t token)
{
    return l->connections[(token & ((UINT64_C(1) << EXECUTOR_TOKEN_BITS) - 1)) >> NUMBER_SHIFT];
}

void executor_entered(struct executor *l, uint64_t token, ps_t now)
{
    if (token & EXECUTOR_TOKEN_MPI)
        l->env.mpi->entered(l, token, now);
}

void executor_delivered(struct executor *l, uint64_t token, ps_t now)
{
    if (token & EXECUTOR_TOKEN_MPI) {
        l->env.mpi->delivered(l, token, now);
        return;
    }
    struct connection *c = connection_of(l, token);
    if (token & TOKEN_FIRST) {
        ps_t seen_ps = seen_over_link_ps(c, now);
        first_arrived(c, (uint32_t)(token % MESSAGES), seen_ps);
        if (c->receiver != NULL)
            block_wake(c->receiver, seen_ps);
    } else if (token & TOKEN_STAGED) {
        come_to_nic(c, now);
    } else if (token & TOKEN_CLEAR) {
        granted(c, now);
        give_to_proxy(c, now);
    } else {
        message_arrived(c, (uint32_t)(token % MESSAGES), now);
    }
}

static void message_sent(struct connection *c, uint32_t message, ps_t now)
{
    if (!c->remote)
        return; // its room depends on what the receiver has used
    if (--c->parts_unsent[message % NCCL_STEPS] > 0)
        return;
    // Likewise for messages whose acknowledgements overtake each other.
    c->sent_early |= UINT32_C(1) << (message - c->ended) % MESSAGES;
    for (; c->sent_early & 1; c->sent_early >>= 1)
        c->ended++;
    if (c->sender != NULL)
        block_wake(c->sender, now);
}

void executor_sent(struct executor *l, uint64_t token, ps_t now)
{
    if (token & EXECUTOR_TOKEN_MPI) {
        l->env.mpi->sent(l, token, now);
        return;
    }
    struct connection *c = connection_of(l, token);
    struct executor_run *run = c->run;
    if (!(token & (TOKEN_CLEAR | TOKEN_STAGED)))
        message_sent(c, (uint32_t)(token % MESSAGES), now);
    if (--c->open > 0)
        return;
    run->open--;
    run_release(run);
}
