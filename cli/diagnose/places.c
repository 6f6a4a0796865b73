// SPDX-License-Identifier: MIT
// Chooses the links and ranks at which causes are simulated: those with measured values, and of the
// others a few of each class of similar ones.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/cause_kind.h"
#include "cli/fit/observed_place.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define ALIKE_TRIED 2    // links of a class that were not measured, and ranks of each of several
#define RANKS_TRIED 3    // ranks that were not measured, where all are alike
#define CLASSES_MOST 4   // of ranks; others belong to the last one
#define MEASURED_MOST 32 // links with measured values that are tried
#define USED 0.01        // least utilization of a link that matters
#define ALIKE 0.3        // logarithm of the ratio of the utilizations of alike links, at most

// Whether `end` stands in the name as a whole word.
static bool has_end(const char *name, const char *end, size_t length)
{
    for (const char *at = name; length > 0 && (at = strstr(at, end)) != NULL; at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static void put_place(struct places *p, const char *at, double stands_for, size_t class)
{
    p->list = memory_resize(p->list, p->n + 1, sizeof *p->list);
    p->list[p->n++] = (struct place){memory_text(at), stands_for, false, class};
}

const struct place *place_at(const struct places *places, const char *at)
{
    for (size_t i = 0; i < places->n; i++)
        if (strcmp(places->list[i].at, at) == 0)
            return &places->list[i];
    return NULL;
}

/* ---- links ---- */

struct link {
    const char *at;
    uint32_t rank; // at one of its ends; NO_RANK = between switches
    double used;
    double off; // logarithm of measured by healthy utilization, where it was measured
    bool measured, tried;
};

struct links {
    struct link *list;
    size_t n;
};

#define NO_RANK UINT32_MAX

// Whether a value was measured at this link, or at a place that has the link's rank in its name.
static bool is_measured(struct link *l, const struct observed *m)
{
    char rank[24] = "";
    if (l->rank != NO_RANK)
        snprintf(rank, sizeof rank, "rank%u", l->rank);
    for (size_t i = 0; i < m->n; i++) {
        const struct observed_value *v = &m->list[i];
        if (strcmp(v->place, l->at) == 0) {
            l->off = log((v->value + USED) / (l->used + USED));
            return true;
        }
        if (is_opposite(l->at, v->place) ||
            (strcmp(v->quantity, "utilization") != 0 && has_end(v->place, rank, strlen(rank))))
            return true;
    }
    return false;
}

static struct links links_of(const struct facts *f, const struct observed *measured)
{
    const json_t *list = json_object_get(f->metrics, "links"), *one;
    size_t i;
    struct links links = {memory_zeroed(json_array_size(list) + 1, sizeof *links.list),
                          json_array_size(list)};
    json_array_foreach(list, i, one)
    {
        struct link *l = &links.list[i];
        l->at = json_string_value(json_object_get(one, "at"));
        const char *rank = strstr(l->at, "rank");
        l->rank = rank ? (uint32_t)strtoul(rank + 4, NULL, 10) : NO_RANK;
        l->used = json_number_value(json_object_get(one, "utilization"));
        l->measured = is_measured(l, measured);
    }
    return links;
}

static int by_off(const void *a, const void *b)
{
    const struct link *const *x = a, *const *y = b;
    return ((*x)->off > (*y)->off) - ((*x)->off < (*y)->off);
}

// Mark the links with measured values as tried. If there are many, only those whose utilization has
// risen or fallen most against the healthy network: a slow link is busier, and others are less so.
static void try_measured(struct links *links)
{
    struct link **list = memory_zeroed(links->n + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < links->n; i++)
        if (links->list[i].measured)
            list[count++] = &links->list[i];
    qsort(list, count, sizeof *list, by_off);
    for (size_t i = 0; i < count; i++)
        list[i]->tried = i < MEASURED_MOST / 2 || count - i <= MEASURED_MOST / 2;
    free(list);
}

// Links that carry about as much under names that differ in numbers.
static bool are_alike(const struct link *a, const struct link *b)
{
    return names_alike(a->at, b->at) && fabs(log(a->used / b->used)) < ALIKE;
}

// The first one of the links that were not measured and carry as much; SIZE_MAX = it was measured,
// or carries nothing.
static size_t class_of_link(const struct link *links, size_t i)
{
    size_t k = 0;
    if (links[i].measured || links[i].used <= USED)
        return SIZE_MAX;
    while (links[k].measured || links[k].used <= USED || !are_alike(&links[i], &links[k]))
        k++;
    return k;
}

static void find_links(struct facts *f, struct links *links)
{
    size_t n = links->n, *of = memory_zeroed(n + 1, sizeof *of),
           *all = memory_zeroed(n + 1, sizeof *all), *tried = memory_zeroed(n + 1, sizeof *tried);
    try_measured(links);
    for (size_t i = 0; i < n; i++) {
        of[i] = class_of_link(links->list, i);
        if (of[i] != SIZE_MAX)
            all[of[i]]++;
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = of[i];
        const char *at = links->list[i].at;
        if (c == SIZE_MAX && links->list[i].tried)
            put_place(&f->links, at, 1, SIZE_MAX);
        else if (c != SIZE_MAX && tried[c]++ < ALIKE_TRIED)
            put_place(&f->links, at, fmax(1, (double)all[c] / ALIKE_TRIED), c);
        else if (c != SIZE_MAX)
            put_place(&f->more_links, at, 1, c);
    }
    for (size_t i = 0; i < f->links.n; i++)
        for (size_t k = 0; k < i; k++)
            f->links.list[i].back |= is_opposite(f->links.list[i].at, f->links.list[k].at);
    free(of);
    free(all);
    free(tried);
}

/* ---- ranks ---- */

// Whether each used link of a rank has one that is alike at another rank.
static bool has_alike(const struct links *links, uint32_t a, uint32_t b)
{
    for (size_t i = 0; i < links->n; i++) {
        const struct link *own = &links->list[i];
        bool found = own->rank != a || own->used <= USED;
        for (size_t k = 0; k < links->n && !found; k++)
            found = links->list[k].rank == b && are_alike(own, &links->list[k]);
        if (!found)
            return false;
    }
    return true;
}

// The class of each rank, to be freed: ranks are of one class if their links carry about the same
// load. In NCCL's trees, inner servers send twice as much as outer ones.
static size_t *classes_of_ranks(const struct links *links, uint32_t n, size_t *classes)
{
    size_t *class = memory_zeroed((size_t)n + 1, sizeof *class);
    uint32_t first[CLASSES_MOST];
    *classes = 0;
    for (uint32_t r = 0; r < n; r++) {
        size_t c = 0;
        while (c < *classes && !(has_alike(links, r, first[c]) && has_alike(links, first[c], r)))
            c++;
        if (c == *classes && c < CLASSES_MOST)
            first[(*classes)++] = r;
        class[r] = c < CLASSES_MOST ? c : CLASSES_MOST - 1;
    }
    return class;
}

static bool rank_is_measured(const struct observed *measured, const char *name)
{
    for (size_t i = 0; i < measured->n; i++)
        if (has_end(measured->list[i].place, name, strlen(name)))
            return true;
    return false;
}

// List the ranks with measured values first, then a few of each class without.
static void find_ranks(struct facts *f, const struct links *links, const struct observed *measured)
{
    size_t classes, *class = classes_of_ranks(links, f->n_ranks, &classes), n_measured = 0,
                    others[CLASSES_MOST] = {0}, most = classes > 1 ? ALIKE_TRIED : RANKS_TRIED;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t r = 0; r < f->n_ranks; r++) {
            char *name = text_format("rank%u", r);
            bool seen = rank_is_measured(measured, name);
            if (pass == 0 && seen && n_measured++ < MEASURED_MOST / 2)
                put_place(&f->ranks, name, 1, SIZE_MAX);
            if (pass == 1 && !seen)
                put_place(others[class[r]]++ < most ? &f->ranks : &f->more_ranks, name, 1,
                          class[r]);
            free(name);
        }
    for (size_t i = 0; i < f->ranks.n; i++) {
        struct place *p = &f->ranks.list[i];
        if (p->class != SIZE_MAX && others[p->class] > most)
            p->stands_for = (double)others[p->class] / (double)most;
    }
    free(class);
}

void places_find(struct facts *f, const struct observed *measured)
{
    struct links links = links_of(f, measured);
    find_links(f, &links);
    find_ranks(f, &links, measured);
    free(links.list);
}
