// SPDX-License-Identifier: MIT
// A flow of a policy over a closed model of a path.
#include "tests/support/cc_pipe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define RING 65536 // more packets than can be in flight
#define DUPLICATES 3

// A packet on its way, known by its number modulo RING.
struct flight {
    ps_t sent_ps, back_ps; // when it was sent; when an ACK for it would reach the sender
    bool lost, marked;
};

struct run {
    struct cc_pipe *pipe;
    struct cc_flow *flow;
    struct flight flights[RING];
    ps_t queue_free_ps; // the queue is empty from here on
    uint64_t arrived;   // packets whose ACK time has passed: the next to look at
    uint64_t pending;   // of them, not yet acknowledged by the receiver
    uint64_t marks;     // of the pending ones
    uint64_t recovery_end, reported_end;
    uint64_t after_loss; // packets that arrived after the first unreported loss; 0 = no loss
    bool full;           // the window was full when something was last sent
};

static void send_one(struct run *r)
{
    struct cc_pipe *p = r->pipe;
    struct flight *f = &r->flights[p->sent % RING];
    ps_t service_ps = serialization_ps(p->wire_bytes, p->rate_bps);
    ps_t start_ps = r->queue_free_ps > p->now_ps ? r->queue_free_ps : p->now_ps;
    uint64_t queued = (uint64_t)((start_ps - p->now_ps + service_ps - 1) / service_ps);
    *f = (struct flight){.sent_ps = p->now_ps};
    p->sent++;
    f->lost = (p->limit_pkts > 0 && queued >= p->limit_pkts) ||
              (p->lose_every > 0 && p->sent % p->lose_every == 0);
    f->marked = p->mark_pkts > 0 && queued >= p->mark_pkts;
    if (!f->lost)
        r->queue_free_ps = start_ps + service_ps;
    p->lost += f->lost;
    f->back_ps = r->queue_free_ps + p->delay_ps + p->back_ps;
}

static uint64_t inflight_bytes(const struct cc_pipe *p) { return (p->sent - p->acked) * p->mss; }

static void send_all(struct run *r)
{
    struct cc_pipe *p = r->pipe;
    while (p->sent < p->packets && inflight_bytes(p) < r->flow->cc->cwnd_bytes &&
           p->sent - p->acked < RING - 1)
        send_one(r);
    r->full = inflight_bytes(p) >= r->flow->cc->cwnd_bytes;
}

static void report(struct run *r, enum cc_signal_kind kind)
{
    struct cc_pipe *p = r->pipe;
    struct cc_signal signal = {.now_ps = p->now_ps,
                               .kind = kind,
                               .snd_nxt = p->sent * p->mss,
                               .inflight_bytes = inflight_bytes(p)};
    p->cwnd_before = r->flow->cc->cwnd_bytes;
    r->flow->cc->ops->on_signal(r->flow->cc, &signal);
    p->recovering = p->signalled = true;
    p->reductions++;
    r->recovery_end = p->sent;
    if (p->watch)
        p->watch(p, r->flow, p->ctx);
}

// Deliver an ACK for all pending packets.
static void acknowledge(struct run *r, const struct flight *last)
{
    struct cc_pipe *p = r->pipe;
    uint64_t bytes = r->pending * p->mss;
    bool limited = r->full;
    p->acked += r->pending;
    if (p->recovering && p->acked > r->recovery_end)
        p->recovering = false;
    struct cc_ack ack = {.now_ps = p->now_ps,
                         .rtt_ps = p->now_ps - last->sent_ps,
                         .seq = p->acked * p->mss,
                         .snd_una = p->acked * p->mss,
                         .snd_nxt = p->sent * p->mss,
                         .acked_bytes = (uint32_t)bytes,
                         .ce_bytes = (uint32_t)(r->marks * p->mss),
                         .inflight_bytes = inflight_bytes(p),
                         .recovering = p->recovering,
                         .window_limited = limited};
    bool echo = r->marks > 0 && !p->recovering;
    r->pending = r->marks = 0;
    p->signalled = false;
    cc_flow_ack(r->flow, &ack);
    if (p->watch)
        p->watch(p, r->flow, p->ctx);
    if (echo)
        report(r, CC_SIGNAL_ECE);
}

static void next_arrival(struct run *r)
{
    struct cc_pipe *p = r->pipe;
    const struct flight *f = &r->flights[r->arrived % RING];
    p->now_ps = f->back_ps;
    r->arrived++;
    r->pending++;
    r->marks += f->marked;
    if (r->after_loss > 0 && ++r->after_loss > DUPLICATES) {
        r->after_loss = 0;
        report(r, CC_SIGNAL_DUPACK);
    }
    if (f->lost && r->after_loss == 0 && !p->recovering)
        r->after_loss = 1;
    bool last = r->arrived == p->packets;
    if (r->pending >= p->per_ack || last)
        acknowledge(r, f);
}

void cc_pipe_run(struct cc_pipe *pipe, struct cc_flow *flow)
{
    struct run *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->pipe = pipe;
    r->flow = flow;
    for (;;) {
        send_all(r);
        if (r->arrived == pipe->sent || (pipe->stop_ps > 0 && pipe->now_ps >= pipe->stop_ps))
            break;
        next_arrival(r);
    }
    free(r);
}
