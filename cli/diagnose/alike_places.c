// SPDX-License-Identifier: MIT
// Lists the places at which a cause would give the measured values as well as at its own: those of
// causes of the same kind that fit about as well, and similar places that were not simulated.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/fit/observed_place.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define SHOWN 4 // places, or ranges of ranks, in a sentence

static bool is_listed(const json_t *list, const char *at, bool both_ways)
{
    const json_t *one;
    size_t i;
    json_array_foreach(list, i, one)
    {
        const char *name = json_string_value(one);
        if (strcmp(name, at) == 0 || (both_ways && is_opposite(name, at)))
            return true;
    }
    return false;
}

// Add the places of a class at which no cause of this kind was tried.
static void add_class(const struct diagnosis *d, const struct cause_kind *kind,
                      const struct places *more, const struct place *of, json_t *list)
{
    bool both_ways = kind->places != AT_DIRECTIONS;
    for (size_t i = 0; i < more->n && of && of->class != SIZE_MAX; i++) {
        const char *at = more->list[i].at;
        if (more->list[i].class == of->class && !cause_at(d, kind, at) &&
            !is_listed(list, at, both_ways))
            json_array_append_new(list, json_string(at));
    }
}

json_t *places_alike(const struct diagnosis *d, const struct cause *c)
{
    bool ranks = c->kind->places == AT_RANKS;
    const struct places *tried = ranks ? &d->facts.ranks : &d->facts.links,
                        *more = ranks ? &d->facts.more_ranks : &d->facts.more_links;
    json_t *list = json_pack("[s]", c->at);
    if (*c->at == '\0' || c->parts[0])
        return list;
    for (size_t i = 0; i < d->n_causes; i++)
        if (&d->causes[i] != c && cause_same_kind_near(d, c, &d->causes[i]) &&
            !is_listed(list, d->causes[i].at, c->kind->places != AT_DIRECTIONS))
            json_array_append_new(list, json_string(d->causes[i].at));
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++)
        add_class(d, c->kind, more, place_at(tried, json_string_value(json_array_get(list, i))),
                  list);
    return list;
}

/* ---- as words ---- */

static int by_rank(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// "rank8-23"; false = not all of the places are ranks.
static bool print_ranks(FILE *out, const json_t *list)
{
    size_t n = json_array_size(list), shown = 0, i = 0, end = 0;
    uint32_t *ranks = memory_zeroed(n, sizeof *ranks);
    for (; i < n && end == 0; i++) {
        const char *at = json_string_value(json_array_get(list, i));
        int whole = 0;
        if (sscanf(at, "rank%u%n", &ranks[i], &whole) != 1 || at[whole])
            end = 1;
    }
    bool all = end == 0;
    qsort(ranks, n, sizeof *ranks, by_rank);
    for (i = 0; i < n && all && shown < SHOWN; i = end, shown++) {
        for (end = i + 1; end < n && ranks[end] == ranks[end - 1] + 1;)
            end++;
        fprintf(out, "%srank%u", shown ? ", " : "", ranks[i]);
        if (end > i + 1)
            fprintf(out, "-%u", ranks[end - 1]);
    }
    if (all && i < n)
        fprintf(out, " and %zu more", n - i);
    free(ranks);
    return all;
}

char *places_words(const struct diagnosis *d, const struct cause *c)
{
    struct text text;
    FILE *out = text_open(&text);
    json_t *list = places_alike(d, c);
    size_t n = json_array_size(list);
    if (n > 1) {
        fputs(" (any of ", out);
        if (!print_ranks(out, list)) {
            for (size_t i = 0; i < n && i < SHOWN; i++)
                fprintf(out, "%s%s", i ? ", " : "", json_string_value(json_array_get(list, i)));
            if (n > SHOWN)
                fprintf(out, " and %zu more", n - SHOWN);
        }
        fputs(": the values do not tell which)", out);
    }
    json_decref(list);
    return text_close(out, &text);
}
