// SPDX-License-Identifier: MIT
// Times of critical paths by place: shared lists of times, and their sums.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/critical_path.h"

#define PATH_FRESH 3 // times the places of a path from which a list is summed up

// Puts an empty block before the path's list, whose reference it takes over.
static void add_block(struct path_book *b, struct path *p)
{
    uint32_t block = path_object_take(b, PATH_SPELLS);
    struct path_spells *s = &b->spells[block];
    s->link = (struct path_link){.refs = 1, .before = p->spells};
    s->thread = engine_thread_of(b->n_threads);
    s->n = 0;
    s->n_before = (uint16_t)p->n_spells;
    p->spells = block;
    p->n_spells = 0;
}

static void push(struct path_book *b, struct path *p, const struct path_place *add)
{
    struct path_spells *newest = &b->spells[p->spells];
    uint32_t thread = engine_thread_of(b->n_threads);
    if (p->spells != 0 && path_ref_only(&newest->link))
        newest->thread = thread;
    if (newest->thread != thread || newest->n > p->n_spells ||
        newest->n == PATH_BLOCK) // another path may fill it or has done so, or it is full
        add_block(b, p);
    struct path_spells *s = &b->spells[p->spells];
    s->at[s->n++] = *add;
    p->n_spells++;
}

/* ---- sums by place ---- */

static bool same_place(const struct path_place *x, const struct path_place *y)
{
    return x->index == y->index && x->kind == y->kind && x->cause == y->cause;
}

static uint32_t hash_of(const struct path_place *s)
{
    uint32_t key = s->index * 64 + s->cause * 4U + s->kind;
    return (key * 2654435769U) >> 7;
}

struct sums {
    struct path_place *list; // in the order of the newest times
    size_t n;
    uint32_t *table; // [n_slots] 1 + index in the list
    size_t n_slots;
};

static void sums_add(struct sums *sums, const struct path_place *add)
{
    size_t slot = hash_of(add) & (sums->n_slots - 1);
    while (sums->table[slot] != 0 && !same_place(&sums->list[sums->table[slot] - 1], add))
        slot = (slot + 1) & (sums->n_slots - 1);
    if (sums->table[slot] != 0) {
        sums->list[sums->table[slot] - 1].ps += add->ps;
        return;
    }
    sums->list[sums->n] = *add;
    sums->table[slot] = (uint32_t)++sums->n;
}

// Returns the path's sums by place, to be freed; sets *n to their number.
static struct path_place *sums_of(const struct path_book *b, const struct path *p, size_t *n)
{
    size_t length = 0;
    struct sums sums = {.n_slots = 4};
    for (uint32_t at = p->spells, of = p->n_spells; at != 0;
         of = b->spells[at].n_before, at = b->spells[at].link.before)
        length += of;
    *n = 0;
    if (length == 0)
        return NULL;
    while (sums.n_slots < 2 * length)
        sums.n_slots *= 2;
    sums.table = memory_zeroed(sums.n_slots, sizeof *sums.table);
    sums.list = memory_zeroed(length, sizeof *sums.list);
    for (uint32_t at = p->spells, of = p->n_spells; at != 0;
         of = b->spells[at].n_before, at = b->spells[at].link.before)
        while (of > 0)
            sums_add(&sums, &b->spells[at].at[--of]);
    free(sums.table);
    *n = sums.n;
    return sums.list;
}

static unsigned magnitude(ps_t ps)
{
    unsigned bits = 0;
    for (uint64_t rest = (uint64_t)ps; rest != 0; rest >>= 1)
        bits++;
    return bits;
}

// Moves the `keep` largest of the sums, to a factor of two, to the front, in their order. Returns
// the time of the others.
static ps_t keep_largest(struct path_place *sums, size_t n, size_t keep)
{
    size_t counts[65] = {0}, kept = 0, above = 0;
    unsigned least = 64;
    ps_t dropped_ps = 0;
    for (size_t i = 0; i < n; i++)
        counts[magnitude(sums[i].ps)]++;
    while (above + counts[least] <= keep)
        above += counts[least--];
    size_t room = keep - above; // for those of this magnitude
    for (size_t i = 0; i < n; i++) {
        unsigned bits = magnitude(sums[i].ps);
        bool stays = bits > least || (bits == least && room > 0);
        room -= stays && bits == least;
        if (stays)
            sums[kept++] = sums[i];
        else
            dropped_ps += sums[i].ps;
    }
    return dropped_ps;
}

// Replaces the path's list by one with a spell for each place.
static void sum_up(struct path_book *b, struct path *p)
{
    size_t n;
    struct path_place *sums = sums_of(b, p, &n);
    if (n > b->places_max) {
        p->dropped_ps += keep_largest(sums, n, b->places_max);
        n = b->places_max;
    }
    path_list_drop(b, PATH_SPELLS, p->spells);
    p->spells = p->n_spells = p->fresh = 0;
    while (n > 0)
        push(b, p, &sums[--n]);
    free(sums);
}

// The decision to sum up the list must not depend on which other paths share it at this time, so
// that results are the same on any number of threads.
void path_spell_add(struct path_book *b, struct path *p, const struct path_place *add)
{
    if (p->fresh >= PATH_FRESH * b->places_max)
        sum_up(b, p);
    p->fresh++;
    struct path_spells *newest = &b->spells[p->spells];
    if (path_ref_only(&newest->link) && newest->n == p->n_spells &&
        same_place(&newest->at[newest->n - 1], add))
        newest->at[newest->n - 1].ps += add->ps;
    else
        push(b, p, add);
}

void path_spells_join(struct path_book *b, struct path *p, const struct path *from)
{
    for (uint32_t at = from->spells, of = from->n_spells; at != 0;
         of = b->spells[at].n_before, at = b->spells[at].link.before)
        while (of > 0) {
            struct path_place add = b->spells[at].at[--of]; // a copy: the blocks may move
            path_spell_add(b, p, &add);
        }
}

struct ranked {
    struct path_place place;
    size_t rank; // in the order of the path's newest times
};

// Indices of flows depend on threads, the order of a path's times does not: it decides among places
// of the same time.
static int by_time(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->place.ps != y->place.ps)
        return x->place.ps < y->place.ps ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void sort_by_time(struct path_place *places, size_t n)
{
    struct ranked *ranked = memory_zeroed(n, sizeof *ranked);
    for (size_t i = 0; i < n; i++)
        ranked[i] = (struct ranked){places[i], i};
    qsort(ranked, n, sizeof *ranked, by_time);
    for (size_t i = 0; i < n; i++)
        places[i] = ranked[i].place;
    free(ranked);
}

struct path_place *path_places(const struct path_book *b, const struct path *p, size_t most,
                               size_t *n, ps_t *elsewhere_ps)
{
    struct path_place *sums = sums_of(b, p, n);
    if (*n > 1)
        sort_by_time(sums, *n);
    *elsewhere_ps = p->dropped_ps;
    while (*n > most)
        *elsewhere_ps += sums[--*n].ps;
    return sums;
}

/* ---- other handles of flows ---- */

void path_places_renumber(struct path_place *places, size_t n, const struct flow_numbers *numbers)
{
    for (size_t i = 0; i < n; i++)
        if (places[i].kind == PLACE_FLOW)
            places[i].index = numbers->of(numbers->ctx, places[i].index);
}

void path_book_renumber(struct path_book *b, const struct flow_numbers *numbers)
{
    for (uint32_t i = 1; i < b->n[PATHS]; i++)
        b->paths[i].flow = numbers->of(numbers->ctx, b->paths[i].flow);
    for (uint32_t i = 1; i < b->n[PATH_SPELLS]; i++)
        path_places_renumber(b->spells[i].at, b->spells[i].n, numbers);
}
