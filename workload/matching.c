// SPDX-License-Identifier: MIT
// A channel numbers its sends and its receives; pairing k of its window describes send k and
// receive k.
#include "workload/matching.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct pairing { // send number k and receive number k of a channel
    bool delivered, received;
    uint32_t step; // step of the receive
};

struct channel {
    uint32_t src, dst, tag;
    uint64_t n_sends, n_receives, base; // base: number of pairings[0]
    struct pairing *pairings;
    size_t n, cap;
};

struct matched_message {
    uint32_t channel, step; // step: of the send
    uint64_t number;        // number of the send in its channel
    ps_t posted_ps;
    bool step_over; // the sender's step has ended
};

void matching_free(struct matching *m)
{
    for (size_t i = 0; i < m->n_channels; i++)
        free(m->channels[i].pairings);
    free(m->channels);
    free(m->buckets);
    free(m->messages);
    slots_free(&m->numbers);
    *m = (struct matching){0};
}

/* ---- channels ---- */

// The finalizer of MurmurHash3 applied to the three parts.
static uint32_t hash_of(uint32_t src, uint32_t dst, uint32_t tag)
{
    uint64_t x = ((uint64_t)src << 32 | dst) ^ (uint64_t)tag * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return (uint32_t)(x ^ x >> 33);
}

static uint32_t *bucket_of(const struct matching *m, uint32_t src, uint32_t dst, uint32_t tag)
{
    for (size_t at = hash_of(src, dst, tag);; at++) {
        uint32_t *bucket = &m->buckets[at & (m->n_buckets - 1)];
        const struct channel *c = *bucket > 0 ? &m->channels[*bucket - 1] : NULL;
        if (c == NULL || (c->src == src && c->dst == dst && c->tag == tag))
            return bucket;
    }
}

static void buckets_grow(struct matching *m)
{
    free(m->buckets);
    m->n_buckets = m->n_buckets > 0 ? 2 * m->n_buckets : 64;
    m->buckets = memory_zeroed(m->n_buckets, sizeof *m->buckets);
    for (size_t i = 0; i < m->n_channels; i++) {
        const struct channel *c = &m->channels[i];
        *bucket_of(m, c->src, c->dst, c->tag) = (uint32_t)i + 1;
    }
}

static uint32_t channel_of(struct matching *m, uint32_t src, uint32_t dst, uint32_t tag)
{
    if (2 * m->n_channels >= m->n_buckets)
        buckets_grow(m);
    uint32_t *bucket = bucket_of(m, src, dst, tag);
    if (*bucket == 0) {
        if (m->n_channels == m->cap_channels)
            m->channels = memory_grow(m->channels, &m->cap_channels, sizeof *m->channels);
        m->channels[m->n_channels++] = (struct channel){.src = src, .dst = dst, .tag = tag};
        *bucket = (uint32_t)m->n_channels;
    }
    return *bucket - 1;
}

static struct pairing *pairing_at(struct channel *c, uint64_t number)
{
    while (c->base + c->n <= number) {
        if (c->n == c->cap)
            c->pairings = memory_grow(c->pairings, &c->cap, sizeof *c->pairings);
        c->pairings[c->n++] = (struct pairing){0};
    }
    return &c->pairings[number - c->base];
}

// Remove finished pairings at the front when they are half of the window.
static void channel_slide(struct channel *c)
{
    size_t over = 0;
    while (over < c->n && c->pairings[over].delivered && c->pairings[over].received)
        over++;
    if (2 * over < c->n || over == 0)
        return;
    memmove(c->pairings, c->pairings + over, (c->n - over) * sizeof *c->pairings);
    c->n -= over;
    c->base += over;
}

/* ---- messages ---- */

static uint64_t number_of(const struct matching_key *key, uint64_t *next)
{
    return key->number == MATCHING_NEXT ? (*next)++ : key->number;
}

uint32_t matching_send(struct matching *m, struct matching_key key, uint32_t step, ps_t now)
{
    uint32_t channel = channel_of(m, key.src, key.dst, key.tag);
    uint32_t at = slots_take(&m->numbers, m->messages);
    m->messages[at] =
        (struct matched_message){.channel = channel,
                                 .step = step,
                                 .posted_ps = now,
                                 .number = number_of(&key, &m->channels[channel].n_sends)};
    return at;
}

bool matching_receive(struct matching *m, struct matching_key key, uint32_t step)
{
    uint32_t channel = channel_of(m, key.src, key.dst, key.tag);
    struct channel *c = &m->channels[channel];
    struct pairing *p = pairing_at(c, number_of(&key, &c->n_receives));
    bool over = p->delivered;
    p->received = true;
    p->step = step;
    if (over)
        channel_slide(c);
    return over;
}

bool matching_delivered(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step)
{
    struct channel *c = &m->channels[m->messages[message].channel];
    struct pairing *p = pairing_at(c, m->messages[message].number);
    bool over = p->received;
    p->delivered = true;
    *rank = c->dst;
    *step = p->step;
    if (over)
        channel_slide(c);
    return over;
}

ps_t matching_posted_ps(const struct matching *m, uint32_t message, uint32_t *src)
{
    *src = m->channels[m->messages[message].channel].src;
    return m->messages[message].posted_ps;
}

void matching_entered(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step)
{
    struct matched_message *entered = &m->messages[message];
    *rank = m->channels[entered->channel].src;
    *step = entered->step;
    entered->step_over = true;
}

bool matching_sent(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step)
{
    struct matched_message *sent = &m->messages[message];
    *rank = m->channels[sent->channel].src;
    *step = sent->step;
    slots_give(&m->numbers, message);
    return !sent->step_over;
}
