// SPDX-License-Identifier: MIT
// Connects hosts and ledger where several processes simulate the network. Each process records the
// calls that its own hosts make to the ledger, and repeats those that the other processes have
// recorded (engine/calls.h), so that all ledgers have the same contents. The senders of other
// processes do not exist here, so the critical paths of their busy periods are kept by flow.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/calls.h"
#include "sim/delivery/delivery_internal.h"
#include "transport/host.h"

enum {
    REPLICA_DELIVERED = CALL_KINDS,
    REPLICA_ENTERED,
    REPLICA_SENT,
    REPLICA_FAILED,
    REPLICA_ENDED,
    REPLICA_BUSY,
    REPLICA_IDLE,
    REPLICA_LAST_PACKET
};

struct call {
    uint64_t token;
    struct meta_held acking; // ended, sent: of the ACK
    ps_t now_ps;             // a port may compute earlier departures in a later event
    union {
        uint32_t flow;            // busy, idle
        struct arriving arriving; // delivered
        struct message_end end;
        struct sender_account account; // last packet
    };
};

// The paths of busy periods of one process's flows.
struct flow_paths {
    uint32_t *list; // [flow - first]
    size_t cap;
};

struct replica {
    struct delivery *delivery;
    struct host_client client;     // the ledger's
    struct host_observer observer; // likewise
    struct flow_paths *paths;      // [process]
    uint32_t n_processes;
    uint64_t posting; // token of the message that is being posted
};

static struct shards *shards_of(const struct replica *r) { return r->delivery->fabric->shards; }

static struct hosts *hosts_of(const struct replica *r, uint32_t rank)
{
    return fabric_hosts_of(r->delivery->fabric, rank);
}

#define LOG(r, kind, member, ...)                                                                  \
    do {                                                                                           \
        const struct call call_ = {__VA_ARGS__};                                                   \
        calls_begin(shards_of(r), kind, &call_,                                                    \
                    offsetof(struct call, flow) + sizeof call_.member);                            \
    } while (0)

/* ---- calls of this process ---- */

static void delivered(void *ctx, uint64_t token, ps_t now)
{
    const struct replica *r = ctx;
    uint32_t dst = ledger_message(r->delivery, token).dst;
    LOG(r, REPLICA_DELIVERED, arriving, .now_ps = now, .token = token,
        .arriving = hosts_of(r, dst)->arriving);
    r->client.delivered(r->client.ctx, token, now);
    calls_end(shards_of(r));
}

static void entered(void *ctx, uint64_t token, ps_t now)
{
    const struct replica *r = ctx;
    LOG(r, REPLICA_ENTERED, flow, .now_ps = now, .token = token);
    r->client.entered(r->client.ctx, token, now);
    calls_end(shards_of(r));
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    const struct replica *r = ctx;
    uint32_t src = ledger_message(r->delivery, token).src;
    LOG(r, REPLICA_SENT, acking, .now_ps = now, .token = token, .acking = hosts_of(r, src)->acking);
    r->client.sent(r->client.ctx, token, now);
    calls_end(shards_of(r));
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    const struct replica *r = ctx;
    LOG(r, REPLICA_FAILED, flow, .now_ps = now, .token = token);
    r->client.failed(r->client.ctx, token, now);
    calls_end(shards_of(r));
}

static void message_ended(void *ctx, const struct message_end *end, ps_t now)
{
    const struct replica *r = ctx;
    uint32_t src = ledger_message(r->delivery, end->message.token).src;
    LOG(r, REPLICA_ENDED, end, .now_ps = now, .token = end->message.token, .end = *end,
        .acking = hosts_of(r, src)->acking);
    r->observer.message_ended(r->observer.ctx, end, now);
    calls_end(shards_of(r));
}

static uint32_t busy(void *ctx, uint32_t flow, ps_t now)
{
    const struct replica *r = ctx;
    LOG(r, REPLICA_BUSY, flow, .now_ps = now, .token = r->posting, .flow = flow);
    uint32_t path = r->observer.busy(r->observer.ctx, flow, now);
    calls_end(shards_of(r));
    return path;
}

static void idle(void *ctx, uint32_t flow, uint32_t path)
{
    const struct replica *r = ctx;
    LOG(r, REPLICA_IDLE, flow, .flow = flow);
    r->observer.idle(r->observer.ctx, flow, path);
    calls_end(shards_of(r));
}

static void last_packet(void *ctx, uint64_t token, const struct sender_account *account, ps_t now)
{
    const struct replica *r = ctx;
    LOG(r, REPLICA_LAST_PACKET, account, .now_ps = now, .token = token, .account = *account);
    r->observer.last_packet(r->observer.ctx, token, account, now);
    calls_end(shards_of(r));
}

// note(), timed_out() and timeout_ps() serve the packets and senders of this process only, so other
// processes do not repeat these calls.
static void note(void *ctx, uint64_t token, struct packet_note *packet)
{
    const struct replica *r = ctx;
    r->observer.note(r->observer.ctx, token, packet);
}

static void timed_out(void *ctx, const struct sender *s, ps_t now)
{
    const struct replica *r = ctx;
    r->observer.timed_out(r->observer.ctx, s, now);
}

static ps_t timeout_ps(void *ctx, uint64_t token)
{
    const struct replica *r = ctx;
    return r->observer.timeout_ps(r->observer.ctx, token);
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct replica *r = net;
    struct shards *p = shards_of(r);
    if (!shards_is_elsewhere(p, request->src)) {
        r->posting = request->token;
        hosts_post(hosts_of(r, request->src), request, now);
        calls_mark(p);
    } else {
        calls_within(p, request->src);
    }
}

/* ---- calls of others ---- */

static uint32_t *path_of(const struct replica *r, uint32_t flow)
{
    // Each process numbers its flows from a multiple of `each` on.
    uint32_t each = HOSTS_FLOWS_MAX / r->n_processes;
    struct flow_paths *paths = &r->paths[flow / each];
    size_t old = paths->cap;
    while (flow % each >= paths->cap)
        paths->list = memory_grow(paths->list, &paths->cap, sizeof *paths->list);
    for (size_t i = old; i < paths->cap; i++)
        paths->list[i] = 0;
    return &paths->list[flow % each];
}

static void repeat_last_packet(const struct replica *r, const struct call *call, ps_t now)
{
    struct sender_account account = call->account;
    account.path = *path_of(r, account.flow);
    r->observer.last_packet(r->observer.ctx, call->token, &account, now);
}

static void repeat_idle(const struct replica *r, const struct call *call)
{
    uint32_t *path = path_of(r, call->flow);
    r->observer.idle(r->observer.ctx, call->flow, *path);
    *path = 0;
}

static void set_acking(const struct replica *r, const struct call *call)
{
    hosts_of(r, ledger_message(r->delivery, call->token).src)->acking = call->acking;
}

// Of a message that has failed, only the process of its destination has the receiver, and so the
// number of bytes that arrived. It completes the record here.
static void repeat_ended(const struct replica *r, const struct call *call, ps_t now)
{
    struct message_end end = call->end;
    set_acking(r, call);
    const struct receiver *to = r->delivery->fabric->hosts.receivers[end.flow];
    if (end.message.status != MESSAGE_DONE && to != NULL)
        end.delivered_bytes = to->dim->ops->received_bytes(to, &end.message);
    r->observer.message_ended(r->observer.ctx, &end, now);
}

void replica_call(struct delivery *delivery, unsigned kind, const void *args)
{
    const struct replica *r = delivery->replica;
    const struct call *call = args;
    ps_t now = call->now_ps;
    switch (kind) {
    case REPLICA_DELIVERED:
        hosts_of(r, ledger_message(delivery, call->token).dst)->arriving = call->arriving;
        r->client.delivered(r->client.ctx, call->token, now);
        break;
    case REPLICA_ENTERED:
        r->client.entered(r->client.ctx, call->token, now);
        break;
    case REPLICA_SENT:
        set_acking(r, call);
        r->client.sent(r->client.ctx, call->token, now);
        break;
    case REPLICA_FAILED:
        r->client.failed(r->client.ctx, call->token, now);
        break;
    case REPLICA_ENDED:
        repeat_ended(r, call, now);
        break;
    case REPLICA_BUSY:
        *path_of(r, call->flow) = ledger_posted_path(delivery, call->token);
        break;
    case REPLICA_IDLE:
        repeat_idle(r, call);
        break;
    case REPLICA_LAST_PACKET:
        repeat_last_packet(r, call, now);
        break;
    default:
        break;
    }
}

/* ---- life ---- */

void replica_attach(struct delivery *delivery, uint32_t n_processes)
{
    struct hosts *hosts = &delivery->fabric->hosts;
    struct replica *r = delivery->replica = memory_zeroed(1, sizeof *r);
    r->delivery = delivery;
    r->client = hosts->client;
    r->observer = hosts->observer;
    r->n_processes = n_processes;
    r->paths = memory_zeroed(n_processes, sizeof *r->paths);
    ledger_share(delivery, n_processes);
    hosts->client = (struct host_client){.delivered = delivered,
                                         .entered = r->client.entered ? entered : NULL,
                                         .sent = sent,
                                         .failed = failed,
                                         .ctx = r};
    hosts->observer = (struct host_observer){.busy = busy,
                                             .last_packet = last_packet,
                                             .idle = idle,
                                             .note = note,
                                             .timed_out = timed_out,
                                             .timeout_ps = timeout_ps,
                                             .message_ended = message_ended,
                                             .ctx = r};
    delivery->hosts = (struct transfer){.post = post, .net = r};
}

void replica_free(struct delivery *delivery)
{
    struct replica *r = delivery->replica;
    for (uint32_t q = 0; r && q < r->n_processes; q++)
        free(r->paths[q].list);
    if (r)
        free(r->paths);
    free(r);
    delivery->replica = NULL;
}
