// SPDX-License-Identifier: MIT
// Progressive filling over the channels that are joined to the one that has changed.
#include "workload/tiers/sharing.h"

#include <stdlib.h>

#include "engine/base/memory.h"

#define SCALE_BITS 30         // of rates
#define ROUNDING_BITS 20      // work of 2^-20 ps counts as done
#define PS_BITS 8000000000000 // bits of a byte times ps of a second

uint32_t sharing_channel_new(struct sharing *s, uint64_t rate_bps)
{
    s->channels = memory_resize(s->channels, s->n_channels + 1, sizeof *s->channels);
    s->group = memory_resize(s->group, s->n_channels + 1, sizeof *s->group);
    s->channels[s->n_channels] =
        (struct sharing_channel){.rate_bps = rate_bps, .first = SHARING_NONE};
    return s->n_channels++;
}

void sharing_free(struct sharing *s)
{
    free(s->channels);
    free(s->transfers);
    free(s->group);
    free(s->changed);
    slots_free(&s->numbers);
    *s = (struct sharing){0};
}

/* ---- lists of channels ---- */

// The place of a channel among those of a transfer.
static unsigned side(const struct sharing_transfer *t, uint32_t channel)
{
    return t->channels[0] == channel ? 0 : 1;
}

static void list_add(struct sharing *s, uint32_t transfer, unsigned at)
{
    struct sharing_transfer *t = &s->transfers[transfer];
    struct sharing_channel *c = &s->channels[t->channels[at]];
    t->before[at] = SHARING_NONE;
    t->next[at] = c->first;
    if (c->first != SHARING_NONE) {
        struct sharing_transfer *first = &s->transfers[c->first];
        first->before[side(first, t->channels[at])] = transfer;
    }
    c->first = transfer;
}

static void list_remove(struct sharing *s, uint32_t transfer, unsigned at)
{
    const struct sharing_transfer *t = &s->transfers[transfer];
    uint32_t channel = t->channels[at], before = t->before[at], next = t->next[at];
    if (before == SHARING_NONE)
        s->channels[channel].first = next;
    else
        s->transfers[before].next[side(&s->transfers[before], channel)] = next;
    if (next != SHARING_NONE)
        s->transfers[next].before[side(&s->transfers[next], channel)] = before;
}

/* ---- rates ---- */

static void channel_join(struct sharing *s, uint32_t channel)
{
    struct sharing_channel *c = &s->channels[channel];
    if (channel == SHARING_NONE || c->visit == s->visits)
        return;
    c->visit = s->visits;
    c->free = (sharing_work)c->rate_bps << SCALE_BITS;
    c->open = 0;
    s->group[s->n_group++] = channel;
}

// Find the channels that are joined to those in the group, bring their transfers up to `now`, and
// list these as changed.
static void group_find(struct sharing *s, ps_t now)
{
    for (uint32_t g = 0; g < s->n_group; g++) {
        uint32_t channel = s->group[g];
        for (uint32_t i = s->channels[channel].first, next; i != SHARING_NONE; i = next) {
            struct sharing_transfer *t = &s->transfers[i];
            next = t->next[side(t, channel)];
            s->channels[channel].open++;
            if (t->visit == s->visits)
                continue;
            t->visit = s->visits;
            t->fixed = false;
            sharing_work done = t->rate * (uint64_t)(now - t->since_ps);
            t->left -= done < t->left ? done : t->left;
            t->since_ps = now;
            for (unsigned at = 0; at < SHARING_CHANNELS; at++)
                channel_join(s, t->channels[at]);
            if (s->n_changed == s->cap_changed)
                s->changed = memory_grow(s->changed, &s->cap_changed, sizeof *s->changed);
            s->changed[s->n_changed++] = i;
        }
    }
}

static void transfer_fix(struct sharing *s, struct sharing_transfer *t, sharing_work rate)
{
    t->fixed = true;
    t->rate = rate;
    for (unsigned at = 0; at < SHARING_CHANNELS; at++) {
        if (t->channels[at] == SHARING_NONE)
            continue;
        s->channels[t->channels[at]].free -= rate;
        s->channels[t->channels[at]].open--;
    }
}

// Returns true if a channel with open transfers was left, after fixing those of the channels with
// the smallest share.
static bool rates_fill(struct sharing *s)
{
    sharing_work least = 0;
    bool any = false;
    for (uint32_t g = 0; g < s->n_group; g++) {
        const struct sharing_channel *c = &s->channels[s->group[g]];
        if (c->open == 0)
            continue;
        sharing_work share = c->free / c->open;
        least = !any || share < least ? share : least;
        any = true;
    }
    for (uint32_t g = 0; g < s->n_group && any; g++) {
        uint32_t channel = s->group[g];
        const struct sharing_channel *c = &s->channels[channel];
        if (c->open == 0 || c->free / c->open > least)
            continue;
        for (uint32_t i = c->first; i != SHARING_NONE;) {
            struct sharing_transfer *t = &s->transfers[i];
            if (!t->fixed)
                transfer_fix(s, t, least);
            i = t->next[side(t, channel)];
        }
    }
    return any;
}

static ps_t end_of(const struct sharing_transfer *t)
{
    sharing_work rounding = t->rate >> ROUNDING_BITS;
    if (t->left <= rounding)
        return t->since_ps;
    sharing_work takes = (t->left - rounding + t->rate - 1) / t->rate;
    return takes < (uint64_t)(PS_NEVER - t->since_ps) ? t->since_ps + (ps_t)takes : PS_NEVER;
}

static void rates_update(struct sharing *s, ps_t now)
{
    size_t kept = 0;
    group_find(s, now);
    while (rates_fill(s)) {
    }
    for (size_t i = 0; i < s->n_changed; i++) {
        struct sharing_transfer *t = &s->transfers[s->changed[i]];
        ps_t end_ps = end_of(t);
        if (end_ps == t->end_ps)
            continue;
        t->end_ps = end_ps;
        s->changed[kept++] = s->changed[i];
    }
    s->n_changed = kept;
}

static void group_begin(struct sharing *s)
{
    s->visits++;
    s->n_group = 0;
    s->n_changed = 0;
}

/* ---- begin and end ---- */

uint32_t sharing_begin(struct sharing *s, const uint32_t *channels, uint64_t bytes, void *owner,
                       ps_t now)
{
    uint32_t number = slots_take(&s->numbers, s->transfers);
    struct sharing_transfer *t = &s->transfers[number];
    *t = (struct sharing_transfer){.owner = owner,
                                   .left = (sharing_work)bytes * PS_BITS << SCALE_BITS,
                                   .since_ps = now,
                                   .end_ps = PS_NEVER};
    group_begin(s);
    for (unsigned at = 0; at < SHARING_CHANNELS; at++) {
        t->channels[at] = channels[at];
        if (channels[at] == SHARING_NONE)
            continue;
        list_add(s, number, at);
        channel_join(s, channels[at]);
    }
    rates_update(s, now);
    return number;
}

void sharing_end(struct sharing *s, uint32_t transfer, ps_t now)
{
    group_begin(s);
    for (unsigned at = 0; at < SHARING_CHANNELS; at++) {
        uint32_t channel = s->transfers[transfer].channels[at];
        if (channel == SHARING_NONE)
            continue;
        list_remove(s, transfer, at);
        channel_join(s, channel);
    }
    slots_give(&s->numbers, transfer);
    rates_update(s, now);
}
