// SPDX-License-Identifier: MIT
// What is known of the healthy network, and at which of its places causes are tried: where values
// were measured, and at a few of those that are alike and were not.
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/cause_kind.h"
#include "cli/fit/observed_place.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define ALIKE_TRIED 2    // links of a class that were not measured
#define RANKS_TRIED 3    // ranks that were not measured
#define MEASURED_MOST 32 // links with measured values that are tried
#define USED 0.01        // least utilization of a link that matters

const json_t *fact(const struct facts *f, const char *path)
{
    return json_at_path(f->scenario, path);
}

const char *fact_text(const struct facts *f, const char *path)
{
    const char *text = json_string_value(fact(f, path));
    return text ? text : "";
}

const json_t *fact_job(const struct facts *f)
{
    return json_array_get(json_object_get(f->draft, "workload"), 0);
}

bool fact_transport_is(const struct facts *f, const char *kind)
{
    return strcmp(fact_text(f, "transport.kind"), kind) == 0;
}

bool link_is_trunk(const char *name) { return strstr(name, "rank") == NULL; }

/* ---- names ---- */

bool names_alike(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

char *name_pattern(const char *name)
{
    char *made = memory_zeroed(2 * strlen(name) + 1, 1), *out = made;
    while (*name) {
        size_t digits = strspn(name, "0123456789");
        if (digits > 0)
            *out++ = '*';
        name += digits;
        if (*name)
            *out++ = *name++;
    }
    return made;
}

// Whether `end` stands in the name as a whole word.
static bool has_end(const char *name, const char *end, size_t length)
{
    for (const char *at = name; length > 0 && (at = strstr(at, end)) != NULL; at++)
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

/* ---- links ---- */

struct link {
    const char *at;
    double used;
    double off; // logarithm of measured by healthy utilization, where it was measured
    bool measured, tried;
};

// Whether a measured value is of this link, or of a place that names its rank.
static bool is_measured(struct link *l, const struct observed *m)
{
    char rank[24] = "";
    const char *at = strstr(l->at, "rank");
    if (at)
        snprintf(rank, sizeof rank, "rank%lu", strtoul(at + 4, NULL, 10));
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

static int by_off(const void *a, const void *b)
{
    const struct link *const *x = a, *const *y = b;
    return ((*x)->off > (*y)->off) - ((*x)->off < (*y)->off);
}

// Try the links that were measured; of many those that are farthest from the healthy network at
// either end: a slow link is busier than others.
static void try_measured(struct link *links, size_t n)
{
    struct link **list = memory_zeroed(n + 1, sizeof *list);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (links[i].measured)
            list[count++] = &links[i];
    qsort(list, count, sizeof *list, by_off);
    for (size_t i = 0; i < count; i++)
        list[i]->tried = i < MEASURED_MOST / 2 || count - i <= MEASURED_MOST / 2;
    free(list);
}

// Links that carry about as much under names that differ in numbers.
static bool are_of_one_class(const struct link *a, const struct link *b)
{
    return names_alike(a->at, b->at) && fabs(log(a->used / b->used)) < 0.3;
}

// The first one of the links that were not measured and carry as much; SIZE_MAX = it was measured,
// or carries nothing.
static size_t class_of(const struct link *links, size_t i)
{
    size_t k = 0;
    if (links[i].measured || links[i].used <= USED)
        return SIZE_MAX;
    while (links[k].measured || links[k].used <= USED || !are_of_one_class(&links[i], &links[k]))
        k++;
    return k;
}

static void put_place(struct place **list, size_t *n, const char *at, double stands_for,
                      size_t class)
{
    *list = memory_resize(*list, *n + 1, sizeof **list);
    (*list)[(*n)++] = (struct place){memory_text(at), stands_for, false, class};
}

static void try_alike(struct link *links, size_t n, struct facts *f)
{
    size_t *of = memory_zeroed(n + 1, sizeof *of), *all = memory_zeroed(n + 1, sizeof *all),
           *tried = memory_zeroed(n + 1, sizeof *tried);
    for (size_t i = 0; i < n; i++) {
        of[i] = class_of(links, i);
        if (of[i] != SIZE_MAX)
            all[of[i]]++;
    }
    for (size_t i = 0; i < n; i++) {
        size_t c = of[i];
        if (c == SIZE_MAX && links[i].tried)
            put_place(&f->links, &f->n_links, links[i].at, 1, SIZE_MAX);
        else if (c != SIZE_MAX && tried[c]++ < ALIKE_TRIED)
            put_place(&f->links, &f->n_links, links[i].at, fmax(1, (double)all[c] / ALIKE_TRIED),
                      c);
        else if (c != SIZE_MAX)
            put_place(&f->more_links, &f->n_more_links, links[i].at, 1, c);
    }
    free(of);
    free(all);
    free(tried);
}

static void find_links(struct facts *f, const struct observed *measured)
{
    const json_t *list = json_object_get(f->metrics, "links"), *one;
    size_t i, n = json_array_size(list);
    struct link *links = memory_zeroed(n + 1, sizeof *links);
    json_array_foreach(list, i, one)
    {
        links[i].at = json_string_value(json_object_get(one, "at"));
        links[i].used = json_number_value(json_object_get(one, "utilization"));
        links[i].measured = is_measured(&links[i], measured);
    }
    try_measured(links, n);
    try_alike(links, n, f);
    for (i = 0; i < f->n_links; i++)
        for (size_t k = 0; k < i; k++)
            f->links[i].back |= is_opposite(f->links[i].at, f->links[k].at);
    free(links);
}

/* ---- ranks ---- */

static void find_ranks(struct facts *f, const struct observed *measured)
{
    uint32_t others = 0, n_measured = 0;
    for (int pass = 0; pass < 2; pass++) // first the links that were measured, then others
        for (uint32_t r = 0; r < f->n_ranks; r++) {
            char *name = text_format("rank%u", r);
            bool seen = false;
            for (size_t i = 0; i < measured->n && !seen; i++)
                seen = has_end(measured->list[i].place, name, strlen(name));
            if (pass == 0 && seen && n_measured++ < MEASURED_MOST / 2)
                put_place(&f->ranks, &f->n_ranks_tried, name, 1, SIZE_MAX);
            if (pass == 1 && !seen && others++ < RANKS_TRIED)
                put_place(&f->ranks, &f->n_ranks_tried, name, 1, 0);
            else if (pass == 1 && !seen)
                put_place(&f->more_ranks, &f->n_more_ranks, name, 1, 0);
            free(name);
        }
    for (size_t i = 0; i < f->n_ranks_tried; i++)
        if (f->ranks[i].class == 0)
            f->ranks[i].stands_for = (double)others / (others < RANKS_TRIED ? others : RANKS_TRIED);
}

static void note_ends(struct facts *f)
{
    const json_t *links = json_object_get(f->metrics, "links"), *one;
    size_t i;
    json_array_foreach(links, i, one)
    {
        const char *at = json_string_value(json_object_get(one, "at"));
        if (!at || strncmp(at, "rank", 4) != 0)
            continue;
        uint32_t rank = (uint32_t)strtoul(at + 4, NULL, 10);
        f->n_ranks = rank + 1 > f->n_ranks ? rank + 1 : f->n_ranks;
        double busy_ns = json_number_value(json_object_get(one, "utilization")) * f->time_ns,
               bytes = json_number_value(json_object_get(one, "bytes"));
        double rate = busy_ns > 0 ? round(8 * bytes / busy_ns) * 1e9 : 0; // both are rounded
        if (rate > 0 && (f->line_bps <= 0 || rate < f->line_bps)) // NICs, not links in a server
            f->line_bps = rate;
    }
}

void facts_make(struct facts *f, json_t *metrics, const json_t *draft,
                const struct observed *measured)
{
    *f = (struct facts){.metrics = metrics,
                        .scenario = json_object_get(metrics, "scenario"),
                        .draft = draft,
                        .time_ns = json_number_value(json_object_get(metrics, "sim_time_ns"))};
    note_ends(f);
    find_links(f, measured);
    find_ranks(f, measured);
}

static void places_free(struct place *list, size_t n)
{
    for (size_t i = 0; i < n; i++)
        free(list[i].at);
    free(list);
}

void facts_free(struct facts *f)
{
    places_free(f->links, f->n_links);
    places_free(f->ranks, f->n_ranks_tried);
    places_free(f->more_links, f->n_more_links);
    places_free(f->more_ranks, f->n_more_ranks);
    json_decref(f->metrics);
}
