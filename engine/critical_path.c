// SPDX-License-Identifier: MIT
// References to critical paths, and their arithmetic.
#include "engine/critical_path.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

const char *path_cause_phrase(enum path_cause cause)
{
#define PHRASE(constant, key, help, words) words,
    static const char *const phrases[PATH_CAUSES] = {PATH_LIST(PHRASE)};
#undef PHRASE
    return phrases[cause];
}

/* ---- references ---- */

uint32_t path_new(struct path_book *b, ps_t begin_ps, uint32_t rank)
{
    uint32_t id = path_object_take(b, PATHS);
    b->paths[id] =
        (struct path){.link = {.refs = 1}, .rank = rank, .begin_ps = begin_ps, .end_ps = begin_ps};
    return id;
}

void path_drop(struct path_book *b, uint32_t id)
{
    while (id != 0 && path_ref_drop(b, &b->paths[id].link)) {
        const struct path *p = &b->paths[id];
        uint32_t parent = p->parent;
        path_list_drop(b, PATH_STEPS, p->steps);
        path_list_drop(b, PATH_SPELLS, p->spells);
        path_list_drop(b, PATH_MARKS, p->marks);
        path_object_give(b, PATHS, id);
        id = parent;
    }
}

uint32_t path_own(struct path_book *b, uint32_t id)
{
    if (id != 0 && path_ref_only(&b->paths[id].link))
        return id;
    uint32_t copy = path_object_take(b, PATHS); // may move `paths`
    struct path *p = &b->paths[copy];
    const size_t own = offsetof(struct path, parent); // others may change the references
    memcpy((char *)p + own, (const char *)&b->paths[id] + own, sizeof *p - own);
    p->link = (struct path_link){.refs = 1};
    if (p->parent != 0)
        path_ref_add(b, &b->paths[p->parent].link);
    if (p->steps != 0)
        path_ref_add(b, &b->steps[p->steps].link);
    if (p->spells != 0)
        path_ref_add(b, &b->spells[p->spells].link);
    if (p->marks != 0)
        path_ref_add(b, &b->marks[p->marks].link);
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
    uint32_t step = path_object_take(b, PATH_STEPS);
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
    for (uint32_t step = p->steps; step != 0; step = b->steps[step].link.before) {
        if (n == cap)
            all = memory_grow(all, &cap, sizeof *all);
        all[n++] = b->steps[step];
    }
    path_list_drop(b, PATH_STEPS, p->steps);
    p->steps = 0;
    if (n > 0)
        qsort(all, n, sizeof *all, compare_steps);
    for (size_t i = 0; i < n;) {
        struct path_step sum = all[i++];
        for (; i < n && compare_steps(&all[i], &sum) == 0; i++) {
            sum.ps += all[i].ps;
            sum.end_ps = all[i].end_ps > sum.end_ps ? all[i].end_ps : sum.end_ps;
        }
        sum.link = (struct path_link){.refs = 1, .before = p->steps};
        sum.fresh = 0;
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
    struct path_step step = {.link = {.refs = 1, .before = p->steps},
                             .label = label,
                             .communicates = communicates,
                             .fresh = p->steps != 0 ? b->steps[p->steps].fresh + 1 : 1,
                             .ps = ps,
                             .end_ps = p->end_ps};
    p->steps = step_new(b, &step); // it takes over the path's reference
}
