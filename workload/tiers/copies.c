// SPDX-License-Identifier: MIT
// Copies between local tiers, and the local end of the others. A copy keeps its timer after it has
// ended, so that the next copy of the rank uses it again.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"
#include "workload/tiers/copies_internal.h"

/* ---- begin and end ---- */

static uint32_t n_memories(const struct copies *c, const struct tier *t)
{
    return t->memory_of != NULL ? t->n_memories : c->env.n_ranks;
}

// One channel for both directions, or one each; none for a direction without a limit.
static uint32_t *channels_new(struct copies *c, const struct tier *t)
{
    uint32_t n = t->hosts != NULL || tier_is_pool(t) ? 0 : n_memories(c, t);
    uint32_t *channels = memory_zeroed(2 * (size_t)n + 1, sizeof *channels);
    for (uint32_t i = 0; i < 2 * n; i++) {
        uint64_t rate = tier_rate(t, i % 2 == 1);
        bool same = i % 2 == 1 && tier_is_joint(t);
        channels[i] = same                 ? channels[i - 1]
                      : rate == PARAM_AUTO ? SHARING_NONE
                                           : sharing_channel_new(&c->sharing, rate);
    }
    return channels;
}

struct copies *copies_new(const struct copies_env *env)
{
    struct copies *c = memory_zeroed(1, sizeof *c);
    c->env = *env;
    c->channels = memory_zeroed(env->tiers->n, sizeof *c->channels);
    for (uint32_t t = 0; t < env->tiers->n; t++)
        c->channels[t] = channels_new(c, &env->tiers->items[t]);
    c->all = memory_zeroed(env->n_ranks, sizeof(struct copy *));
    c->free = memory_zeroed(env->n_ranks, sizeof(struct copy *));
    c->turn = memory_zeroed(env->n_ranks, sizeof(struct copy *));
    c->turn_last = memory_zeroed(env->n_ranks, sizeof(struct copy *));
    remotes_new(c);
    return c;
}

const struct tier_set *copies_tiers(const struct copies *c) { return c->env.tiers; }

void copies_free(struct copies *c)
{
    for (uint32_t r = 0; r < c->env.n_ranks; r++)
        for (struct copy *copy = c->all[r], *next; copy != NULL; copy = next) {
            next = copy->next;
            sim_timer_end(c->env.engine, &copy->timer);
            free(copy->shares);
            free(copy);
        }
    for (uint32_t t = 0; t < c->env.tiers->n; t++)
        free(c->channels[t]);
    remotes_free(c);
    sharing_free(&c->sharing);
    free(c->channels);
    free(c->all);
    free(c->free);
    free(c->turn);
    free(c->turn_last);
    free(c);
}

/* ---- timers ---- */

void copies_timer_start(const struct copies *c, struct sim_timer *timer, ps_t at_ps)
{
    if (!sim_timer_active(timer))
        tally_add(c->env.pending, 1);
    else if (at_ps < timer->at_ps)
        *c->env.busy_until_ps = 0; // what was promised by this timer may end earlier now
    *c->env.busy_until_ps = ps_longer(*c->env.busy_until_ps, at_ps);
    sim_timer_start(c->env.engine, timer, at_ps);
}

static void timers_update(struct copies *c)
{
    for (size_t i = 0; i < c->sharing.n_changed; i++) {
        const struct sharing_transfer *t = &c->sharing.transfers[c->sharing.changed[i]];
        copies_timer_start(c, &((struct copy *)t->owner)->timer, t->end_ps);
    }
}

static void latency_ended(struct copy *copy, ps_t now)
{
    if (copy->remote != NULL)
        remote_begin(copy, now);
    else if (!copy_move(copy, copy->step.bytes, now))
        copy_end(copy, now);
}

static void on_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    struct copy *copy = timer->data;
    struct copies *c = copy->owner;
    struct path_book *book = c->env.path_book;
    ps_t now = e->now_ps;
    uint32_t path = path_own(book, copy->path), transfer = copy->transfer;
    (void)revents;
    tally_add(c->env.pending, -1);
    copy->transfer = SHARING_NONE;
    path_extend(book, path, PATH_MEMORY, now);
    uint32_t before = path_enter(book, path);
    if (transfer == SHARING_NONE) {
        latency_ended(copy, now);
    } else {
        sharing_end(&c->sharing, transfer, now);
        timers_update(c);
        if (copy->remote != NULL)
            remote_moved(copy, now);
        else
            copy_end(copy, now);
    }
    path_leave(book, before);
}

/* ---- transfers through local memories ---- */

static uint32_t channel_of(const struct copy *copy, uint32_t tier, bool writes)
{
    const struct tier *t = &copy->owner->env.tiers->items[tier];
    uint32_t memory = t->memory_of != NULL ? t->memory_of[copy->rank] : copy->rank;
    return t->hosts != NULL || tier_is_pool(t) ? SHARING_NONE
                                               : copy->owner->channels[tier][2 * memory + writes];
}

bool copy_move(struct copy *copy, uint64_t bytes, ps_t now)
{
    struct copies *c = copy->owner;
    uint32_t from = channel_of(copy, copy->step.from, false),
             to = channel_of(copy, copy->step.to, true);
    uint32_t channels[SHARING_CHANNELS] = {from != SHARING_NONE ? from : to,
                                           from != SHARING_NONE ? to : SHARING_NONE};
    if (channels[0] == SHARING_NONE)
        return false;
    copy->path = path_take(c->env.path_book, now);
    copy->transfer = sharing_begin(&c->sharing, channels, bytes, copy, now);
    timers_update(c);
    return true;
}

static struct copy *copy_take(struct copies *c, uint32_t rank)
{
    struct copy *copy = c->free[rank];
    if (copy != NULL) {
        c->free[rank] = copy->next_free;
        return copy;
    }
    copy = memory_zeroed(1, sizeof *copy);
    copy->owner = c;
    copy->rank = rank;
    copy->next = c->all[rank];
    c->all[rank] = copy;
    sim_timer_init_locked(c->env.engine, &copy->timer, copies_node(c, rank), on_timer, copy);
    return copy;
}

// Time of a copy at one of its tiers that others do not change.
static ps_t time_before(const struct tier *t, uint64_t bytes)
{
    if (t->hosts != NULL) // its latency is that of its hosts
        return 0;
    return t->p.latency_ps + (tier_is_pool(t) ? pool_copy_ps(&t->pool, bytes) : 0);
}

static void copy_begin(struct copy *copy, ps_t now)
{
    const struct copies *c = copy->owner;
    const struct tier *from = &c->env.tiers->items[copy->step.from],
                      *to = &c->env.tiers->items[copy->step.to];
    ps_t before_ps = time_before(from, copy->step.bytes) + time_before(to, copy->step.bytes);
    copy->path = path_take(c->env.path_book, now);
    copies_timer_start(c, &copy->timer, now + before_ps);
}

// Append a copy to those of its rank that go in turn. Returns true if it is the first.
static bool turn_wait(struct copies *c, struct copy *copy)
{
    struct copy **first = &c->turn[copy->rank], **last = &c->turn_last[copy->rank];
    bool alone = *first == NULL;
    copy->next_turn = NULL;
    if (alone)
        *first = copy;
    else
        (*last)->next_turn = copy;
    *last = copy;
    return alone;
}

void copies_begin(struct copies *c, uint32_t rank, const struct copy_step *step, ps_t now)
{
    struct copy *copy = copy_take(c, rank);
    const struct tier *from = &c->env.tiers->items[step->from],
                      *to = &c->env.tiers->items[step->to];
    copy->step = *step;
    copy->remote = from->hosts != NULL ? from : to->hosts != NULL ? to : NULL;
    copy->transfer = SHARING_NONE;
    if (!step->in_turn || turn_wait(c, copy))
        copy_begin(copy, now);
}

void copy_end(struct copy *copy, ps_t now)
{
    struct copies *c = copy->owner;
    uint32_t rank = copy->rank;
    struct copy *next = copy->step.in_turn ? copy->next_turn : NULL;
    if (copy->step.in_turn)
        c->turn[rank] = next;
    if (next != NULL)
        copy_begin(next, now);
    copy->next_free = c->free[rank];
    c->free[rank] = copy;
    c->env.ended(c->env.ctx, rank, copy->step.id, now);
}
