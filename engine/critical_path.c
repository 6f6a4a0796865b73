// SPDX-License-Identifier: MIT
// References to critical paths, and their arithmetic.
#include "engine/critical_path.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

const char *path_cause_phrase(enum path_cause cause)
{
#define PHRASE(constant, key, help, words) words,
    static const char *const phrases[PATH_CAUSES] = {PATH_LIST(PHRASE)};
#undef PHRASE
    return phrases[cause];
}

/* ---- references ---- */

static uint32_t path_alloc(struct path_book *b)
{
    struct path_thread *here = path_thread(b);
    uint32_t id = here->free[PATHS];
    if (id == 0)
        return path_object_take(b, PATHS);
    here->free[PATHS] = b->paths[id].next_free;
    return id;
}

static void step_drop(struct path_book *b, uint32_t step)
{
    struct path_thread *here = path_thread(b);
    while (step != 0 && path_ref_drop(b, &b->steps[step].refs)) {
        uint32_t before = b->steps[step].before;
        b->steps[step].before = here->free[PATH_STEPS];
        here->free[PATH_STEPS] = step;
        step = before;
    }
}

uint32_t path_new(struct path_book *b, ps_t begin_ps, uint32_t rank)
{
    uint32_t id = path_alloc(b);
    b->paths[id] = (struct path){.refs = 1, .rank = rank, .begin_ps = begin_ps, .end_ps = begin_ps};
    return id;
}

void path_drop(struct path_book *b, uint32_t id)
{
    struct path_thread *here = path_thread(b);
    while (id != 0 && path_ref_drop(b, &b->paths[id].refs)) {
        struct path *p = &b->paths[id];
        uint32_t parent = p->parent;
        step_drop(b, p->steps);
        path_spells_drop(b, p->spells);
        path_marks_drop(b, p->marks);
        p->next_free = here->free[PATHS];
        here->free[PATHS] = id;
        id = parent;
    }
}

uint32_t path_own(struct path_book *b, uint32_t id)
{
    if (id != 0 && path_ref_only(&b->paths[id].refs))
        return id;
    uint32_t copy = path_alloc(b); // may move `paths`
    struct path *p = &b->paths[copy];
    const size_t own = offsetof(struct path, parent); // others may change the references
    memcpy((char *)p + own, (const char *)&b->paths[id] + own, sizeof *p - own);
    p->refs = 1;
    if (p->parent != 0)
        path_ref_add(b, &b->paths[p->parent].refs);
    if (p->steps != 0)
        path_ref_add(b, &b->steps[p->steps].refs);
    if (p->spells != 0)
        path_ref_add(b, &b->spells[p->spells].refs);
    if (p->marks != 0)
        path_ref_add(b, &b->marks[p->marks].refs);
    path_drop(b, id);
    return copy;
}

/* ---- time ---- */

void path_add(struct path_book *b, struct path *p, enum path_cause cause, ps_t ps,
              enum path_place_kind kind, uint32_t index)
{
    if (ps == 0)
        return;
    p->parts[cause] += ps;
    if (kind != PLACE_NONE)
        path_spell_add(b, p, &(struct path_place){ps, index, (uint8_t)kind, (uint8_t)cause});
}

void path_extend_at(struct path_book *b, uint32_t id, enum path_cause cause, ps_t until,
                    enum path_place_kind kind, uint32_t index)
{
    struct path *p = &b->paths[id];
    path_add(b, p, cause, until - p->end_ps, kind, index);
    p->end_ps = until;
}

void path_extend(struct path_book *b, uint32_t id, enum path_cause cause, ps_t until)
{
    path_extend_at(b, id, cause, until, PLACE_NONE, 0);
}

/* ---- the current path ---- */

uint32_t path_enter(struct path_book *b, uint32_t id)
{
    struct path_thread *here = path_thread(b);
    uint32_t before = here->current;
    here->current = id;
    here->late = PATH_OTHERS;
    return before;
}

void path_leave(struct path_book *b, uint32_t before)
{
    struct path_thread *here = path_thread(b);
    path_drop(b, here->current);
    here->current = before;
    here->late = PATH_OTHERS;
}

uint32_t path_take(struct path_book *b, ps_t now)
{
    struct path_thread *here = path_thread(b);
    if (here->current == 0)
        here->current = path_new(b, 0, 0);
    if (b->paths[here->current].end_ps != now) {
        here->current = path_own(b, here->current);
        path_extend(b, here->current, here->late, now);
    }
    return path_hold(b, here->current);
}

/* ---- collectives ---- */

uint32_t path_fork(struct path_book *b, uint32_t parent, uint32_t rank, uint32_t owner,
                   uint32_t label, ps_t now)
{
    uint32_t id = path_new(b, now, rank);
    struct path *p = &b->paths[id];
    p->parent = parent;
    p->owner = owner;
    p->label = label;
    return id;
}

uint32_t path_join(struct path_book *b, uint32_t id)
{
    if (b->paths[id].parent == 0)
        return id;
    uint32_t whole = path_own(b, path_hold(b, b->paths[id].parent));
    const struct path *part = &b->paths[id];
    struct path *p = &b->paths[whole];
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        p->parts[cause] += part->parts[cause];
    p->dropped_ps += part->dropped_ps;
    path_spells_join(b, p, part);
    p->end_ps = part->end_ps;
    path_label(b, whole, part->label, true, part->end_ps - part->begin_ps);
    path_drop(b, id);
    return whole;
}

static uint32_t step_new(struct path_book *b, const struct path_step *made)
{
    struct path_thread *here = path_thread(b);
    uint32_t step = here->free[PATH_STEPS];
    if (step != 0)
        here->free[PATH_STEPS] = b->steps[step].before;
    else
        step = path_object_take(b, PATH_STEPS);
    b->steps[step] = *made;
    return step;
}

static int compare_steps(const void *a, const void *b)
{
    const struct path_step *x = a, *y = b;
    if (x->label != y->label)
        return x->label > y->label ? 1 : -1;
    return (int)x->communicates - (int)y->communicates;
}

// Replace the path's list by one with a step for each label.
static void steps_fold(struct path_book *b, struct path *p)
{
    size_t n = 0, cap = 0;
    struct path_step *all = NULL;
    for (uint32_t step = p->steps; step != 0; step = b->steps[step].before) {
        if (n == cap)
            all = memory_grow(all, &cap, sizeof *all);
        all[n++] = b->steps[step];
    }
    step_drop(b, p->steps);
    p->steps = 0;
    if (n > 0)
        qsort(all, n, sizeof *all, compare_steps);
    for (size_t i = 0; i < n;) {
        struct path_step sum = all[i++];
        for (; i < n && compare_steps(&all[i], &sum) == 0; i++) {
            sum.ps += all[i].ps;
            sum.end_ps = all[i].end_ps > sum.end_ps ? all[i].end_ps : sum.end_ps;
        }
        sum.refs = 1;
        sum.fresh = 0;
        sum.before = p->steps;
        p->steps = step_new(b, &sum);
    }
    free(all);
}

void path_label(struct path_book *b, uint32_t id, uint32_t label, bool communicates, ps_t ps)
{
    struct path *p = &b->paths[id];
    if (label == 0 || ps == 0)
        return;
    if (!b->keep_steps && p->steps != 0 && b->steps[p->steps].fresh >= PATH_FRESH_MAX)
        steps_fold(b, p);
    struct path_step step = {.refs = 1,
                             .before = p->steps,
                             .label = label,
                             .communicates = communicates,
                             .fresh = p->steps != 0 ? b->steps[p->steps].fresh + 1 : 1,
                             .ps = ps,
                             .end_ps = p->end_ps};
    p->steps = step_new(b, &step); // it takes over the path's reference
}
