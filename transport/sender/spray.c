// SPDX-License-Identifier: MIT
// The kinds of spraying.
#include "transport/sender/spray.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

enum {
    PENALTY_MARKED = 1,
    PENALTY_LOST = 4,
    PENALTY_MAX = 15,
    EXPLORED = 16, // packets that go at random after a freeze
};
#define FREEZE_PS (10 * PS_PER_MS)

const char *const spray_words[] = {"none", "mixed", "oblivious", "bitmap", "reps", "mrc", NULL};

void spray_init(struct spray *s, enum spray_kind kind, uint32_t n, uint64_t seed, uint64_t name)
{
    struct rng rng = rng_init(seed, RNG_SPRAY, (uint32_t)hash_mix(name));
    *s = (struct spray){.kind = (uint8_t)kind, .n = n, .rng = rng};
    s->mask = rng_u32(&s->rng) & (n - 1);
}

void spray_free(struct spray *s)
{
    free(s->penalty);
    free(s->queue);
    s->penalty = NULL;
    s->queue = NULL;
}

static uint32_t draw(struct spray *s) { return rng_u32(&s->rng) & (s->n - 1); }

/* ---- the walk over all entropies ---- */

static uint32_t walk(struct spray *s)
{
    uint32_t entropy = s->at ^ s->mask;
    if (++s->at == s->n) {
        s->at = 0;
        s->mask = draw(s);
    }
    return entropy;
}

// Returns the next entropy without a penalty, or the last one after a whole round. Only the first
// entropy that is passed over loses a part of its penalty.
static uint32_t walk_good(struct spray *s)
{
    uint32_t entropy = walk(s);
    for (uint32_t tries = 0; s->n_penalties > 0 && s->penalty[entropy] > 0 && tries < s->n;
         tries++) {
        if (tries == 0)
            s->n_penalties -= --s->penalty[entropy] == 0;
        entropy = walk(s);
    }
    return entropy;
}

static void punish(struct spray *s, uint32_t entropy, unsigned penalty)
{
    if (!s->penalty)
        s->penalty = memory_zeroed(s->n, sizeof *s->penalty);
    unsigned sum = s->penalty[entropy] + penalty;
    s->n_penalties += s->penalty[entropy] == 0;
    s->penalty[entropy] = (uint8_t)(sum < PENALTY_MAX ? sum : PENALTY_MAX);
}

/* ---- MRC ---- */

enum { ENTROPY_GOOD, ENTROPY_SKIP, ENTROPY_BAD }; // values of `penalty`

// Returns the next entropy that is in use. Two rounds are enough to reach every entropy.
static uint32_t walk_states(struct spray *s)
{
    uint32_t entropy = walk(s);
    for (uint32_t tries = 0; s->penalty && s->penalty[entropy] != ENTROPY_GOOD && tries < 2 * s->n;
         tries++) {
        if (s->penalty[entropy] == ENTROPY_SKIP)
            s->penalty[entropy] = ENTROPY_GOOD;
        entropy = walk(s);
    }
    return entropy;
}

static void set_state(struct spray *s, uint32_t entropy, uint8_t state)
{
    if (!s->penalty && state == ENTROPY_GOOD)
        return;
    if (!s->penalty)
        s->penalty = memory_zeroed(s->n, sizeof *s->penalty);
    bool was_bad = s->penalty[entropy] == ENTROPY_BAD;
    if (state == ENTROPY_BAD && !was_bad && s->n_penalties >= s->n - (s->n + 3) / 4)
        return;
    s->n_penalties += state == ENTROPY_BAD;
    s->n_penalties -= was_bad;
    s->penalty[entropy] = state;
}

static void mrc_report(struct spray *s, uint32_t entropy, enum spray_report report)
{
    if (report == SPRAY_GONE)
        set_state(s, entropy, ENTROPY_BAD);
    else if (report == SPRAY_MARKED || report == SPRAY_LOST)
        set_state(s, entropy, ENTROPY_SKIP);
    else if (report == SPRAY_GOOD && s->n_penalties > 0 && s->penalty[entropy] == ENTROPY_BAD)
        set_state(s, entropy, ENTROPY_GOOD);
}

uint32_t spray_probe(struct spray *s, ps_t every_ps, ps_t now)
{
    if (s->kind != SPRAY_MRC || s->n_penalties == 0 || now < s->probe_due_ps)
        return UINT32_MAX;
    while (s->penalty[s->probed] != ENTROPY_BAD)
        s->probed = (s->probed + 1) & (s->n - 1);
    uint32_t entropy = s->probed;
    s->probed = (s->probed + 1) & (s->n - 1);
    s->probe_due_ps = now + every_ps;
    return entropy;
}

/* ---- REPS ---- */

static void ring_add(struct spray *s, uint32_t entropy)
{
    s->ring[s->ring_next] = (uint16_t)entropy;
    s->ring_next = (uint8_t)((s->ring_next + 1) % SPRAY_RING);
    s->ring_used = (uint8_t)(s->ring_used + (s->ring_used < SPRAY_RING));
    s->ring_fresh = (uint8_t)(s->ring_fresh + (s->ring_fresh < SPRAY_RING));
}

// Returns the oldest entropy of the ring that has not been used again.
static uint32_t ring_take(struct spray *s)
{
    unsigned at = (unsigned)s->ring_next + SPRAY_RING - s->ring_fresh--;
    return s->ring[at % SPRAY_RING];
}

static void thaw(struct spray *s)
{
    s->frozen_until_ps = 0;
    s->ring_next = s->ring_used = s->ring_fresh = 0;
    s->explore = EXPLORED;
}

static uint32_t reps(struct spray *s, ps_t now)
{
    if (s->frozen_until_ps > 0 && now > s->frozen_until_ps)
        thaw(s);
    if (s->explore > 0) {
        s->explore--;
        return draw(s);
    }
    if (s->frozen_until_ps > 0 && s->ring_used > 0)
        return s->ring[s->frozen_next++ % s->ring_used];
    return s->ring_fresh > 0 ? ring_take(s) : draw(s);
}

/* ---- mixed ---- */

static void queue_add(struct spray *s, uint32_t entropy)
{
    if (!s->queue)
        s->queue = memory_zeroed(s->n, sizeof *s->queue);
    if (s->queue_count == s->n)
        return;
    s->queue[(s->queue_head + s->queue_count++) & (s->n - 1)] = (uint16_t)entropy;
}

static uint32_t queue_take(struct spray *s)
{
    uint32_t entropy = s->queue[s->queue_head];
    s->queue_head = (s->queue_head + 1) & (s->n - 1);
    s->queue_count--;
    return entropy;
}

/* ---- packets and reports ---- */

uint32_t spray_next(struct spray *s, ps_t now)
{
    switch (s->kind) {
    case SPRAY_OBLIVIOUS:
        return walk(s);
    case SPRAY_BITMAP:
        return walk_good(s);
    case SPRAY_REPS:
        return reps(s, now);
    case SPRAY_MRC:
        return walk_states(s);
    case SPRAY_MIXED:
        return s->queue_count > 0 ? queue_take(s) : walk_good(s);
    default:
        return 0;
    }
}

void spray_report(struct spray *s, uint32_t entropy, enum spray_report report, ps_t now)
{
    bool walks = s->kind == SPRAY_BITMAP || s->kind == SPRAY_MIXED;
    entropy &= s->n - 1;
    if (s->kind == SPRAY_MRC)
        mrc_report(s, entropy, report);
    if (walks && report == SPRAY_MARKED)
        punish(s, entropy, PENALTY_MARKED);
    else if (walks && report == SPRAY_LOST)
        punish(s, entropy, PENALTY_LOST);
    else if (s->kind == SPRAY_MIXED && report == SPRAY_GOOD)
        queue_add(s, entropy);
    else if (s->kind == SPRAY_REPS && report == SPRAY_GOOD && s->frozen_until_ps == 0)
        ring_add(s, entropy);
    else if (s->kind == SPRAY_REPS && report == SPRAY_TIMEOUT && s->explore == 0 &&
             s->frozen_until_ps == 0)
        s->frozen_until_ps = now + FREEZE_PS;
}
