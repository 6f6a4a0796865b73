// SPDX-License-Identifier: MIT
// What costs the most time along each axis: where the first cause of a point changes to another
// one.
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/axis_kind.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

enum { SENTENCES = 12 };

struct caused {
    json_t *values; // by path
    char *cause;
};

struct why {
    struct store *store;
    struct caused *list;
    size_t n, cap;
    bool jobs; // some point has several
};

// A run of several jobs has the causes of the job that ends last; the sentences say so.
static const char *whose(const struct why *w)
{
    return w->jobs ? ", in the job that ends last" : "";
}

static void note(void *ctx, const struct store_point *p)
{
    struct why *w = ctx;
    json_t *reasons = p->reasons ? json_loads(p->reasons, 0, NULL) : NULL;
    const char *cause = json_string_value(json_object_get(reasons, "first"));
    if (p->position != STORE_RETIRED && cause) {
        if (w->n == w->cap)
            w->list = memory_grow(w->list, &w->cap, sizeof *w->list);
        w->jobs |= p->jobs != NULL;
        w->list[w->n++] = (struct caused){json_loads(p->values, 0, NULL), memory_text(cause)};
    }
    json_decref(reasons);
}

static const char *value_at(const struct caused *c, const char *path)
{
    const char *text = json_string_value(json_object_get(c->values, path));
    return text ? text : "";
}

/* ---- one line of points ---- */

// A line of points has the first cause at each value of an axis: [value, cause] in the order of the
// grid.

static const char *text_at(const json_t *causes, size_t i, size_t part)
{
    return json_string_value(json_array_get(json_array_get(causes, i), part));
}

// The last of the values from number `i` on that have its cause.
static size_t last_with(const json_t *causes, size_t i)
{
    size_t n = json_array_size(causes), last = i;
    while (last + 1 < n && strcmp(text_at(causes, i, 1), text_at(causes, last + 1, 1)) == 0)
        last++;
    return last;
}

// Write "up to 1MB latency, from 4MB on oversubscription": values in their order.
static void ordered_put(FILE *out, const json_t *causes, enum axis_kind kind)
{
    size_t n = json_array_size(causes), last;
    for (size_t i = 0; i < n; i = last + 1) {
        last = last_with(causes, i);
        const char *cause = text_at(causes, i, 1);
        char *from = axis_value_text(kind, text_at(causes, i, 0)),
             *to = axis_value_text(kind, text_at(causes, last, 0));
        fputs(i > 0 ? ", " : "", out);
        if (i == 0)
            fprintf(out, "up to %s %s", to, cause);
        else if (last + 1 == n)
            fprintf(out, "from %s on %s", from, cause);
        else if (last > i)
            fprintf(out, "from %s to %s %s", from, to, cause);
        else
            fprintf(out, "at %s %s", from, cause);
        free(from);
        free(to);
    }
}

// Write "latency with none, swift; cuts of the rate with dcqcn": words by their cause.
static void words_put(FILE *out, const json_t *causes)
{
    size_t n = json_array_size(causes);
    for (size_t i = 0; i < n; i++) {
        const char *cause = text_at(causes, i, 1);
        bool known = false;
        for (size_t k = 0; k < i; k++)
            known |= strcmp(text_at(causes, k, 1), cause) == 0;
        if (known)
            continue;
        fprintf(out, "%s%s with %s", i > 0 ? "; " : "", cause, text_at(causes, i, 0));
        for (size_t k = i + 1; k < n; k++)
            if (strcmp(text_at(causes, k, 1), cause) == 0)
                fprintf(out, ", %s", text_at(causes, k, 0));
    }
}

// The sentence of a line, to be freed.
static char *sentence_of(const json_t *causes, enum axis_kind kind)
{
    struct text text;
    FILE *out = text_open(&text);
    if (last_with(causes, 0) + 1 == json_array_size(causes))
        fprintf(out, "always %s", text_at(causes, 0, 1));
    else if (kind == AXIS_TEXT)
        words_put(out, causes);
    else
        ordered_put(out, causes, kind);
    return text_close(out, &text);
}

/* ---- all lines of an axis ---- */

// "policy=dcqcn, switch.buffer=1MB": a point's values on the other axes that vary; to be freed.
static char *place_of(const struct caused *c, json_t *varied, const char *axis)
{
    struct text text;
    FILE *out = text_open(&text);
    const char *path, *comma = "";
    json_t *yes;
    json_object_foreach(varied, path, yes)
    {
        if (strcmp(path, axis) == 0)
            continue;
        fprintf(out, "%s%s=%s", comma, path, value_at(c, path));
        comma = ", ";
    }
    return text_close(out, &text);
}

// Add a point to its line, unless another seed gave the cause at its value.
static void line_add(json_t *lines, const struct caused *c, json_t *varied, const char *axis)
{
    char *place = place_of(c, varied, axis);
    json_t *line = json_object_get(lines, place), *known;
    bool there = false;
    size_t i;
    if (!line)
        json_object_set_new(lines, place, line = json_array());
    json_array_foreach(line, i, known)
    {
        there |= strcmp(json_string_value(json_array_get(known, 0)), value_at(c, axis)) == 0;
    }
    if (!there)
        json_array_append_new(line, json_pack("[s, s]", value_at(c, axis), c->cause));
    free(place);
}

// Sentences with the places of which each is true: {sentence: [place]}; equal ones are one.
static json_t *by_sentence(json_t *lines, enum axis_kind kind)
{
    json_t *sentences = json_object(), *line;
    const char *place;
    json_object_foreach(lines, place, line)
    {
        char *text = sentence_of(line, kind);
        json_t *places = json_object_get(sentences, text);
        if (!places)
            json_object_set_new(sentences, text, places = json_array());
        json_array_append_new(places, json_string(place));
        free(text);
    }
    return sentences;
}

// Write " (policy=none; policy=swift; and 2 more)".
static void places_put(FILE *out, const json_t *places)
{
    enum { NAMED = 3 };
    size_t n = json_array_size(places);
    for (size_t i = 0; i < n && i < NAMED; i++)
        fprintf(out, "%s%s", i == 0 ? " (" : "; ", json_string_value(json_array_get(places, i)));
    if (n > NAMED)
        fprintf(out, "; and %zu more", n - NAMED);
    fputc(')', out);
}

static void lines_add(const struct why *w, json_t *out, const char *axis, json_t *lines,
                      enum axis_kind kind)
{
    json_t *sentences = by_sentence(lines, kind), *places;
    const char *sentence;
    size_t n = 0;
    json_object_foreach(sentences, sentence, places)
    {
        struct text text;
        FILE *one = text_open(&text);
        fprintf(one, "along %s%s: %s", axis, whose(w), sentence);
        if (json_object_size(sentences) > 1)
            places_put(one, places);
        char *whole = text_close(one, &text);
        if (n++ < SENTENCES)
            json_array_append_new(out, json_string(whole));
        free(whole);
    }
    if (n > SENTENCES)
        json_array_append_new(out, json_sprintf("along %s: and %zu more", axis, n - SENTENCES));
    json_decref(sentences);
}

// The lines of an axis; *changes is set if the cause changes along one of them.
static json_t *lines_of(const struct why *w, json_t *varied, const char *axis, bool *changes)
{
    json_t *lines = json_object(), *line, *one;
    const char *place;
    size_t i;
    for (i = 0; i < w->n; i++)
        line_add(lines, &w->list[i], varied, axis);
    json_object_foreach(lines, place, line)
    {
        const json_t *first = json_array_get(json_array_get(line, 0), 1);
        json_array_foreach(line, i, one) { *changes |= !json_equal(first, json_array_get(one, 1)); }
    }
    return lines;
}

// Add the sentences of an axis along which the cause changes.
static void axis_add(json_t *out, const struct why *w, json_t *varied, const char *axis)
{
    struct axis_kinds kinds = {0};
    bool changes = false;
    json_t *lines = lines_of(w, varied, axis, &changes);
    for (size_t i = 0; i < w->n; i++)
        axis_kinds_add(&kinds, value_at(&w->list[i], axis));
    if (changes)
        lines_add(w, out, axis, lines, axis_kind_of(&kinds));
    json_decref(lines);
}

// The paths that have several values, without that of seeds.
static json_t *varied_of(const struct why *w)
{
    json_t *varied = json_object();
    for (size_t p = 0; p < store_paths(w->store); p++) {
        const char *path = store_path(w->store, p);
        for (size_t i = 1; i < w->n; i++)
            if (strcmp(path, sweep_seed) != 0 &&
                strcmp(value_at(&w->list[i], path), value_at(&w->list[0], path)) != 0)
                json_object_set_new(varied, path, json_true());
    }
    return varied;
}

json_t *sweep_why(struct store *store, struct err *err)
{
    struct why w = {.store = store};
    json_t *out = json_array();
    if (store_each(store, note, &w, err) == 0) {
        json_t *varied = varied_of(&w), *yes;
        const char *axis;
        json_object_foreach(varied, axis, yes) { axis_add(out, &w, varied, axis); }
        json_decref(varied);
    }
    if (w.n > 0 && json_array_size(out) == 0)
        json_array_append_new(out,
                              json_sprintf("at every point%s: %s", whose(&w), w.list[0].cause));
    for (size_t i = 0; i < w.n; i++) {
        json_decref(w.list[i].values);
        free(w.list[i].cause);
    }
    free(w.list);
    return out;
}

void sweep_print_why(struct store *store, struct err *err)
{
    json_t *sentences = sweep_why(store, err), *one;
    size_t i;
    json_array_foreach(sentences, i, one)
    {
        terminal_wrap(stdout, json_string_value(one), 0, 2, terminal_width(stdout));
    }
    json_decref(sentences);
}
