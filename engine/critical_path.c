// SPDX-License-Identifier: MIT
// The pool of critical paths, and their arithmetic.
#include "engine/critical_path.h"

#include <stdlib.h>

#include "engine/memory.h"

const char *path_cause_phrase(enum path_cause cause)
{
#define PHRASE(constant, key, help, words) words,
    static const char *const phrases[PATH_CAUSES] = {PATH_LIST(PHRASE)};
#undef PHRASE
    return phrases[cause];
}

void path_book_init(struct path_book *b, uint32_t n_ranks)
{
    *b = (struct path_book){.n = 1, .n_steps = 1, .n_spells = 1, .n_marks = 1, .late = PATH_OTHERS};
    b->paths = memory_grow(NULL, &b->cap, sizeof *b->paths);
    b->steps = memory_grow(NULL, &b->cap_steps, sizeof *b->steps);
    b->spells = memory_grow(NULL, &b->cap_spells, sizeof *b->spells);
    b->marks = memory_grow(NULL, &b->cap_marks, sizeof *b->marks);
    b->paths[0] = (struct path){0};
    b->steps[0] = (struct path_step){0};
    b->spells[0] = (struct path_spells){.n = PATH_BLOCK}; // no path adds to it
    b->marks[0] = (struct path_mark){0};
    uint32_t share = PATH_PLACES_ALL / (n_ranks > 0 ? n_ranks : 1);
    b->places_max = share > PATH_PLACES_MAX   ? PATH_PLACES_MAX
                    : share < PATH_PLACES_MIN ? PATH_PLACES_MIN
                                              : share;
}

void path_book_free(struct path_book *b)
{
    free(b->paths);
    free(b->steps);
    free(b->spells);
    free(b->marks);
    *b = (struct path_book){0};
}

/* ---- references ---- */

static uint32_t path_alloc(struct path_book *b)
{
    uint32_t id = b->free_head;
    if (id != 0) {
        b->free_head = b->paths[id].next_free;
        return id;
    }
    if (b->n == b->cap)
        b->paths = memory_grow(b->paths, &b->cap, sizeof *b->paths);
    return b->n++;
}

static void step_drop(struct path_book *b, uint32_t step)
{
    while (step != 0 && --b->steps[step].refs == 0) {
        uint32_t before = b->steps[step].before;
        b->steps[step].before = b->free_step;
        b->free_step = step;
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
    while (id != 0 && --b->paths[id].refs == 0) {
        struct path *p = &b->paths[id];
        uint32_t parent = p->parent;
        step_drop(b, p->steps);
        path_spells_drop(b, p->spells);
        path_marks_drop(b, p->marks);
        p->next_free = b->free_head;
        b->free_head = id;
        id = parent;
    }
}

uint32_t path_own(struct path_book *b, uint32_t id)
{
    if (id != 0 && b->paths[id].refs == 1)
        return id;
    uint32_t copy = path_alloc(b); // may move `paths`
    b->paths[copy] = b->paths[id];
    b->paths[copy].refs = 1;
    const struct path *p = &b->paths[copy];
    b->paths[p->parent].refs += p->parent != 0;
    b->steps[p->steps].refs += p->steps != 0;
    b->spells[p->spells].refs += p->spells != 0;
    b->marks[p->marks].refs += p->marks != 0;
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
    uint32_t before = b->current;
    b->current = id;
    b->late = PATH_OTHERS;
    return before;
}

void path_leave(struct path_book *b, uint32_t before)
{
    path_drop(b, b->current);
    b->current = before;
    b->late = PATH_OTHERS;
}

uint32_t path_take(struct path_book *b, ps_t now)
{
    if (b->current == 0)
        b->current = path_new(b, 0, 0);
    if (b->paths[b->current].end_ps != now) {
        b->current = path_own(b, b->current);
        path_extend(b, b->current, b->late, now);
    }
    return path_hold(b, b->current);
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
    uint32_t step = b->free_step;
    if (step != 0) {
        b->free_step = b->steps[step].before;
    } else {
        if (b->n_steps == b->cap_steps)
            b->steps = memory_grow(b->steps, &b->cap_steps, sizeof *b->steps);
        step = b->n_steps++;
    }
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
