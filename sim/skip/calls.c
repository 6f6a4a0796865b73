// SPDX-License-Identifier: MIT
// Stands between the hosts and the ledger: passes their calls on, and writes them down while a
// period is recorded.
#include "sim/skip/skip_internal.h"

// Write a call down. Returns its index, for call_end().
static size_t call_begin(struct skip *s, enum skip_call_kind kind, uint64_t token, uint32_t flow,
                         ps_t now)
{
    const struct engine *e = &s->fabric->engine;
    ps_t begin = s->first.at_ps;
    struct skip_call *call = skip_log_add(&s->log, kind);
    call->event_ps = e->now_ps - begin;
    call->event_key = e->now_key;
    call->order_key = engine_order_key(e);
    call->now_ps = now - begin;
    call->message = token < s->n_names ? s->names[token] : STATE_NO_TOKEN;
    call->flow = flow;
    return s->log.n - 1;
}

static void call_end(struct skip *s, size_t index)
{
    if (s->mode == SKIP_RECORD)
        s->log.calls[index].end = (uint32_t)s->log.n;
}

static void delivered(void *ctx, uint64_t token, ps_t now)
{
    struct skip *s = ctx;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_DELIVERED);
        return;
    }
    size_t call = 0;
    if (s->mode == SKIP_RECORD) {
        call = call_begin(s, CALL_DELIVERED, token, 0, now);
        struct arriving *arriving = &s->log.arrivals[s->log.calls[call].detail];
        *arriving = s->fabric->hosts.arriving;
        arriving->sent_ps -= s->first.at_ps;
    }
    s->client.delivered(s->client.ctx, token, now);
    call_end(s, call);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    struct skip *s = ctx;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_SENT);
        return;
    }
    size_t call = s->mode == SKIP_RECORD ? call_begin(s, CALL_SENT, token, 0, now) : 0;
    s->client.sent(s->client.ctx, token, now);
    call_end(s, call);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    struct skip *s = ctx;
    skip_spoil(s, "a message has failed");
    s->client.failed(s->client.ctx, token, now);
}

static void message_ended(void *ctx, const struct message_end *end, ps_t now)
{
    struct skip *s = ctx;
    const struct message *m = &end->message;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_ENDED);
        return;
    }
    if (s->mode == SKIP_RECORD) {
        size_t call = call_begin(s, CALL_ENDED, m->token, end->flow, now);
        s->log.ended[s->log.calls[call].detail] = *m;
        if (m->status != MESSAGE_DONE)
            skip_spoil(s, "a message has failed");
    }
    s->observer.message_ended(s->observer.ctx, end, now);
}

static uint32_t busy(void *ctx, uint32_t flow, ps_t now)
{
    struct skip *s = ctx;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_BUSY);
        return 1; // any path but 0 until skip_rejoin() restores the flow's own
    }
    if (s->mode == SKIP_RECORD)
        call_begin(s, CALL_BUSY, UINT64_MAX, flow, now);
    return s->observer.busy(s->observer.ctx, flow, now);
}

static void idle(void *ctx, uint32_t flow, uint32_t path)
{
    struct skip *s = ctx;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_IDLE);
        return;
    }
    if (s->mode == SKIP_RECORD)
        call_begin(s, CALL_IDLE, UINT64_MAX, flow, s->first.at_ps);
    s->observer.idle(s->observer.ctx, flow, path);
}

static void last_packet(void *ctx, uint64_t token, const struct sender_account *account, ps_t now)
{
    struct skip *s = ctx;
    if (s->mode == SKIP_REJOIN) {
        skip_swallow(s, CALL_LAST_PACKET);
        return;
    }
    if (s->mode == SKIP_RECORD) {
        size_t call = call_begin(s, CALL_LAST_PACKET, token, account->flow, now);
        struct sender_account *kept = &s->log.accounts[s->log.calls[call].detail];
        *kept = *account;
        kept->now.at_ps -= s->first.at_ps;
        kept->mark.at_ps -= s->first.at_ps;
    }
    s->observer.last_packet(s->observer.ctx, token, account, now);
}

static void timed_out(void *ctx, const struct sender *sender, ps_t now)
{
    struct skip *s = ctx;
    skip_spoil(s, "a retransmission timer has expired");
    s->observer.timed_out(s->observer.ctx, sender, now);
}

static ps_t timeout_ps(void *ctx, uint64_t token)
{
    struct skip *s = ctx;
    skip_spoil(s, "packets are sent again");
    return s->observer.timeout_ps(s->observer.ctx, token);
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct skip *s = net;
    if (s->mode == SKIP_REPEAT) {
        skip_repeat_post(s, request, now);
        return;
    }
    size_t call = 0;
    if (s->mode == SKIP_RECORD) {
        skip_name_post(s, request->token);
        call = call_begin(s, CALL_POST, request->token, 0, now);
        s->log.posts[s->log.calls[call].detail] = *request;
    }
    hosts_post(&s->fabric->hosts, request, now);
    call_end(s, call);
}

void skip_attach(struct skip *s)
{
    struct hosts *hosts = &s->fabric->hosts;
    s->hosts = s->delivery->hosts;
    s->delivery->hosts = (struct transfer){.post = post, .net = s};
    hosts->client =
        (struct host_client){.delivered = delivered, .sent = sent, .failed = failed, .ctx = s};
    hosts->observer = (struct host_observer){.busy = busy,
                                             .last_packet = last_packet,
                                             .idle = idle,
                                             .note = NULL, // captures are refused
                                             .timed_out = timed_out,
                                             .timeout_ps = timeout_ps,
                                             .message_ended = message_ended,
                                             .ctx = s};
}

void skip_detach(struct skip *s)
{
    if (s->hosts.post)
        s->delivery->hosts = s->hosts;
    s->fabric->hosts.client = s->client;
    s->fabric->hosts.observer = s->observer;
}
