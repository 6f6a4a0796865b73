// SPDX-License-Identifier: MIT
// The sender's credits: initial ones, and how they are spent, requested and granted (RCCC).
//
// A pull target is the number of credits, in quanta since the flow began, that the sender could use
// in all: those granted, plus its backlog (at most its window and a packet, and at most
// `max_bytes`) less the credits that are left. If several flows of a port are ready to send, each
// requests an equal share of this difference. A negative balance is requested in full, because with
// less the sender could neither send nor request again.
#include "transport/uec/uec.h"

static int64_t wire_of(const struct sender *s, uint64_t payload, uint64_t packets)
{
    return (int64_t)(payload + packets * (s->dim->full.wire - s->dim->mtu_bytes));
}

// Returns true if the flow waits only for its NIC port.
static bool is_ready(const struct sender *s)
{
    return !s->failed && (s->special_due || (s->nxt < s->tail && s->window_bytes > 0));
}

// Wire bytes that wait to be sent, or to be sent again.
static int64_t backlog(const struct sender *s)
{
    uint64_t lost = uec_of(s)->flight.lost.n, fresh = s->tail - s->nxt, payload = 0;
    if (fresh > 0) {
        const struct message *last = hosts_message(sender_hosts(s), s->cold.newest);
        payload = last->start_byte + last->bytes - s->nxt_bytes;
    }
    return wire_of(s, payload, fresh) + (int64_t)(lost * s->dim->full.wire);
}

/* ---- flows of a port that are ready ---- */

void uec_credits_count(struct sender *s)
{
    struct uec_credits *c = &uec_of(s)->credits;
    if (!c->on || is_ready(s) == c->counted)
        return;
    c->counted = !c->counted;
    if (c->counted)
        c->port = s->port;
    uint32_t *waiting = uec_waiting_at(uec_dim(s->dim), c->port);
    *waiting = c->counted ? *waiting + 1 : *waiting - 1;
}

/* ---- credits ---- */

void uec_credits_open(struct sender *s)
{
    struct uec_credits *c = &uec_of(s)->credits;
    const struct cc_ops *cc = s->dim->cc;
    *c = (struct uec_credits){.on = cc->needs & CC_NEEDS_CREDITS};
    if (!c->on)
        return;
    c->limits = cc_credits_of(cc, s->dim->cc_params, sender_env(s));
    c->left = (int64_t)c->limits.initial_bytes;
    c->speculative = true;
}

void uec_credits_spend(struct sender *s, uint32_t wire_bytes)
{
    uec_of(s)->credits.left -= wire_bytes;
}

void uec_credits_reported(struct sender *s)
{
    struct uec_credits *c = &uec_of(s)->credits;
    if (c->on && c->speculative && c->left > 0)
        c->left = 0;
    c->speculative = false;
}

void uec_credits_granted(struct sender *s, uint32_t pull)
{
    struct uec_credits *c = &uec_of(s)->credits;
    uec_credits_reported(s);
    int32_t quanta = (int32_t)(pull - c->pulled);
    if (!c->on || quanta <= 0) // a later grant has overtaken it
        return;
    c->pulled = pull;
    sender_progress(s);
    c->left += (int64_t)quanta * UEC_QUANTUM_BYTES;
    if (c->left > (int64_t)c->limits.max_bytes)
        c->left = (int64_t)c->limits.max_bytes;
}

uint32_t uec_pull_target(struct sender *s)
{
    const struct uec_credits *c = &uec_of(s)->credits;
    int64_t want = backlog(s), packet = s->dim->full.wire;
    if (s->cwnd_bytes < CC_UNLIMITED / 2) {
        uint64_t packets = s->cwnd_bytes / s->dim->mtu_bytes;
        int64_t window = wire_of(s, s->cwnd_bytes, packets) + packet;
        want = want < window ? want : window;
    }
    want = want < (int64_t)c->limits.max_bytes ? want : (int64_t)c->limits.max_bytes;
    bool any = want > 0;
    uint32_t k = *uec_waiting_at(uec_dim(s->dim), s->port) - (c->counted && c->port == s->port);
    int64_t debt = c->left < 0 ? -c->left : 0, more = want - (c->left > 0 ? c->left : 0);
    if (c->speculative && any && more < packet)
        more = packet;
    more = more > 0 ? more : 0;
    int64_t target = (int64_t)c->pulled * UEC_QUANTUM_BYTES + debt + more / (k > 1 ? k : 1);
    return (uint32_t)((target + UEC_QUANTUM_BYTES - 1) / UEC_QUANTUM_BYTES);
}
