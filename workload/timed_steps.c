// SPDX-License-Identifier: MIT
// A step keeps its timer after it has ended, so that the next step of the rank uses it again.
#include "workload/timed_steps.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"

struct timed_step {
    struct sim_timer timer;
    struct timed_steps *owner;
    struct timed_step *next, *next_free;
    enum timed_kind kind;
    uint32_t id, label;
    uint32_t path; // critical path up to the step's start
    ps_t since_ps; // time when `left_ps` was computed
    ps_t left_ps;  // at full speed
    double share;  // of the speed, lost beside collectives
    bool running;
};

static uint32_t path_at_end(const struct timed_step *s, ps_t now)
{
    struct path_book *book = s->owner->path_book;
    uint32_t path = path_own(book, s->path);
    ps_t takes = now - path_at(book, path)->end_ps;
    if (s->kind == TIMED_FIXED) {
        path_extend(book, path, PATH_SCHEDULED, now);
        return path;
    }
    path_extend_at(book, path, PATH_COMPUTE, now, PLACE_RANK, s->owner->node);
    path_label(book, path, s->label, false, takes);
    return path;
}

static void on_end(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct timed_step *s = timer->data;
    struct timed_steps *t = s->owner;
    s->running = false;
    s->next_free = t->free_steps;
    t->free_steps = s;
    tally_add(t->pending, -1);
    if (s->kind == TIMED_COMPUTE && t->computing != NULL)
        t->computing(t->ctx, false, e->now_ps);
    uint32_t before = path_enter(t->path_book, path_at_end(s, e->now_ps));
    t->ended(t->ctx, s->id, e->now_ps);
    path_leave(t->path_book, before);
}

static struct timed_step *step_take(struct timed_steps *t)
{
    struct timed_step *s = t->free_steps;
    if (s != NULL) {
        t->free_steps = s->next_free;
        return s;
    }
    s = memory_zeroed(1, sizeof *s);
    s->owner = t;
    s->next = t->steps;
    t->steps = s;
    sim_timer_init_locked(t->engine, &s->timer, t->node, on_end, s);
    return s;
}

static bool slows(const struct timed_step *s) { return s->kind == TIMED_COMPUTE; }

static double speed_of(const struct timed_step *s)
{
    double share = s->owner->beside ? s->share : 0, network = s->owner->in_network;
    double lost = s->owner->lost;
    return slows(s) ? (1 - (network > share ? network : share)) * (1 - lost) : 1;
}

static ps_t rest_ps(const struct timed_step *s)
{
    double speed = speed_of(s);
    if (speed <= 0)
        return PS_NEVER; // until it gets a core
    return speed < 1 ? (ps_t)((double)s->left_ps / speed + 0.5) : s->left_ps;
}

void timed_step_start(struct timed_steps *t, enum timed_kind kind, uint32_t step, uint32_t label,
                      ps_t takes_ps, double share, ps_t now)
{
    if (kind == TIMED_COMPUTE && t->computing != NULL)
        t->computing(t->ctx, true, now);
    struct timed_step *s = step_take(t);
    s->kind = kind;
    s->id = step;
    s->label = label;
    s->left_ps = takes_ps;
    s->share = share;
    s->since_ps = now;
    s->running = true;
    s->path = path_take(t->path_book, now);
    tally_add(t->pending, 1);
    ps_t full_ps = now + takes_ps; // its end at full speed; it may be slower now, and faster later
    *t->busy_until_ps = full_ps > *t->busy_until_ps ? full_ps : *t->busy_until_ps;
    ps_t rest = rest_ps(s);
    if (rest != PS_NEVER)
        sim_timer_start(t->engine, &s->timer, now + rest);
}

// Subtract what running computations have done at their present speed.
static void note_work(struct timed_steps *t, ps_t now)
{
    for (struct timed_step *s = t->steps; s != NULL; s = s->next) {
        if (!s->running || !slows(s))
            continue;
        ps_t done = (ps_t)((double)(now - s->since_ps) * speed_of(s) + 0.5);
        s->left_ps -= done < s->left_ps ? done : s->left_ps;
        s->since_ps = now;
    }
}

// Set the ends of running computations at their new speed.
static void restart(struct timed_steps *t, ps_t now)
{
    for (struct timed_step *s = t->steps; s != NULL; s = s->next) {
        if (!s->running || !slows(s))
            continue;
        ps_t rest = rest_ps(s);
        if (rest == PS_NEVER)
            sim_timer_stop(&s->timer);
        else
            sim_timer_start(t->engine, &s->timer, now + rest);
    }
}

// Whether a running step's speed depends on what has changed.
static bool any_slows(const struct timed_steps *t, bool beside, double in_network)
{
    bool changed = in_network < t->in_network || in_network > t->in_network;
    for (const struct timed_step *s = t->steps; s != NULL; s = s->next)
        if (s->running && slows(s) && (changed || (beside != t->beside && s->share > 0)))
            return true;
    return false;
}

void timed_steps_beside(struct timed_steps *t, bool beside, double in_network, ps_t now)
{
    if (!any_slows(t, beside, in_network)) {
        t->beside = beside;
        t->in_network = in_network;
        return;
    }
    note_work(t, now);
    t->beside = beside;
    t->in_network = in_network;
    restart(t, now);
}

void timed_steps_cores(struct timed_steps *t, double speed, ps_t now)
{
    note_work(t, now);
    t->lost = 1 - speed;
    restart(t, now);
}

ps_t timed_step_end_ps(const struct timed_steps *t, uint32_t step)
{
    ps_t least = PS_NEVER;
    for (const struct timed_step *s = t->steps; s != NULL; s = s->next)
        if (s->running && s->id == step && s->since_ps + s->left_ps < least)
            least = s->since_ps + s->left_ps;
    return least < PS_NEVER ? least : 0;
}

void timed_steps_free(struct timed_steps *t)
{
    for (struct timed_step *s = t->steps, *next; s != NULL; s = next) {
        next = s->next;
        sim_timer_end(t->engine, &s->timer);
        free(s);
    }
    t->steps = t->free_steps = NULL;
}
