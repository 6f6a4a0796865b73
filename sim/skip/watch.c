// SPDX-License-Identifier: MIT
// Finds candidates for a period.
#include "sim/skip/watch.h"

#include <string.h>

#include "engine/base/rng.h"

static void follow(struct skip_watch *w, uint64_t sign)
{
    struct skip_candidate *worst = &w->candidates[0];
    uint64_t before = w->seen[sign % WATCH_SIGNS];
    uint32_t period = before > 0 && w->n - before < WATCH_SIGNS / 2 ? (uint32_t)(w->n - before) : 0;
    for (unsigned i = 0; i < WATCH_CANDIDATES; i++) {
        struct skip_candidate *c = &w->candidates[i];
        if (c->period > 0 && w->signs[(w->n - c->period) % WATCH_SIGNS] == sign)
            c->repeated++;
        else
            c->period = 0;
        if (c->period > 0 && c->period == period)
            period = 0; // it is followed already
        if (c->period == 0 || (worst->period > 0 && c->repeated < worst->repeated))
            worst = c;
    }
    if (period > 0)
        *worst = (struct skip_candidate){period, 1};
}

void skip_watch_begin(struct skip_watch *w, uint32_t rank)
{
    memset(w, 0, sizeof *w);
    w->rank = rank;
}

void skip_watch_note(struct skip_watch *w, uint32_t src, uint64_t bytes, ps_t age_ps, ps_t now)
{
    w->n++;
    uint64_t times = hash_mix(hash_mix((uint64_t)(now - w->last_ps)) + (uint64_t)age_ps);
    uint64_t sign = hash_mix(times + bytes * 64 + src) | 1;
    w->last_ps = now;
    w->bytes = bytes;
    w->signs[w->n % WATCH_SIGNS] = sign;
    follow(w, sign);
    w->seen[sign % WATCH_SIGNS] = w->n;
}

uint32_t skip_watch_period(const struct skip_watch *w)
{
    uint32_t best = 0;
    for (unsigned i = 0; i < WATCH_CANDIDATES; i++) {
        const struct skip_candidate *c = &w->candidates[i];
        uint64_t enough = c->period < WATCH_CONVINCED ? c->period : WATCH_CONVINCED;
        if (c->period > 0 && c->repeated > enough && (best == 0 || c->period < best))
            best = c->period;
    }
    return best;
}

bool skip_watch_repeats(const struct skip_watch *w, uint32_t period)
{
    return w->n > period && w->signs[w->n % WATCH_SIGNS] == w->signs[(w->n - period) % WATCH_SIGNS];
}
