// SPDX-License-Identifier: MIT
#include "cli/fit/unknowns.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

struct finding {
    struct unknowns *u;
    size_t cap;
    struct err *err;
    int status;
};

/* ---- ends of a range ---- */

static bool as_quantity(const char *text, enum unknown_kind *kind, double *value)
{
    ps_t ps;
    uint64_t whole;
    if (parse_time(text, &ps) == 0) {
        *kind = UNKNOWN_TIME;
        *value = (double)ps;
    } else if (parse_bytes(text, &whole) == 0) {
        *kind = UNKNOWN_BYTES;
        *value = (double)whole;
    } else if (parse_rate(text, &whole) == 0) {
        *kind = UNKNOWN_RATE;
        *value = (double)whole;
    } else {
        return false;
    }
    return true;
}

static bool end_of(const json_t *json, enum unknown_kind *kind, double *value)
{
    if (json_is_string(json))
        return as_quantity(json_string_value(json), kind, value);
    *kind = json_is_integer(json) ? UNKNOWN_WHOLE : UNKNOWN_REAL;
    *value = json_number_value(json);
    return json_is_number(json);
}

// Returns 1 if the object is a range, 0 if it is something else, and -1 with an error.
static int range_of(struct finding *f, const json_t *o, const char *path, struct unknown *u)
{
    enum unknown_kind to_kind;
    if (json_object_size(o) != 2 || !json_object_get(o, "from") || !json_object_get(o, "to") ||
        !end_of(json_object_get(o, "from"), &u->kind, &u->from) ||
        !end_of(json_object_get(o, "to"), &to_kind, &u->to))
        return 0;
    if (u->kind == UNKNOWN_WHOLE && to_kind == UNKNOWN_REAL)
        u->kind = UNKNOWN_REAL;
    if (to_kind == UNKNOWN_WHOLE && u->kind == UNKNOWN_REAL)
        to_kind = UNKNOWN_REAL;
    if (u->kind != to_kind)
        return err_add(f->err, path, "the ends of the range have different units");
    if (u->from >= u->to)
        return err_add(f->err, path, "the range is empty: `from` must be below `to`");
    u->by_ratio = u->from > 0;
    u->path = text_format("%s", path);
    return 1;
}

/* ---- the scenario ---- */

static json_t *middle_of(const struct unknown *u)
{
    char text[UNKNOWN_TEXT];
    return json_loads(unknown_text(u, 0.5, text), JSON_DECODE_ANY, NULL);
}

static void find(struct finding *f, json_t *json, const char *path);

// Takes `path`.
static void find_at(struct finding *f, json_t **child, char *path)
{
    struct unknown u = {0};
    int is_range = json_is_object(*child) ? range_of(f, *child, path, &u) : 0;
    if (is_range == 0)
        find(f, *child, path);
    else if (is_range < 0)
        f->status = -1;
    else if (f->u->n == UNKNOWNS_MOST)
        f->status = err_add(f->err, path, "more than %d unknowns", UNKNOWNS_MOST);
    if (is_range > 0 && f->u->n < UNKNOWNS_MOST) {
        if (f->u->n == f->cap)
            f->u->list = memory_grow(f->u->list, &f->cap, sizeof *f->u->list);
        f->u->list[f->u->n++] = u;
        *child = middle_of(&u);
    } else {
        free(u.path);
    }
    free(path);
}

static void find(struct finding *f, json_t *json, const char *path)
{
    const char *key;
    json_t *child, *now;
    void *next;
    size_t i;
    json_object_foreach_safe(json, next, key, child)
    {
        now = child;
        find_at(f, &now, text_format("%s%s%s", path, *path ? "." : "", key));
        if (now != child)
            json_object_set_new(json, key, now);
    }
    json_array_foreach(json, i, child)
    {
        now = child;
        find_at(f, &now, text_format("%s[%zu]", path, i));
        if (now != child)
            json_array_set_new(json, i, now);
    }
}

int unknowns_take(struct unknowns *u, json_t *scenario, struct err *err)
{
    struct finding f = {.u = u, .err = err};
    *u = (struct unknowns){0};
    find(&f, scenario, "");
    if (f.status == 0 && u->n == 0)
        f.status =
            err_add(err, "scenario",
                    "has nothing to fit: give a key as {\"from\": \"1us\", \"to\": \"60us\"}");
    return f.status;
}

void unknowns_free(struct unknowns *u)
{
    for (size_t i = 0; i < u->n; i++) {
        for (size_t c = 0; c < u->list[i].n_choices; c++)
            free(u->list[i].choices[c]);
        free(u->list[i].choices);
        free(u->list[i].path);
    }
    free(u->list);
    *u = (struct unknowns){0};
}

/* ---- from words ---- */

static json_t *json_of(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    return json ? json : json_string(text);
}

static int parse_range(struct unknown *u, const char *path, char *from, const char *to,
                       struct err *err)
{
    struct finding f = {.err = err};
    json_t *range = json_pack("{s:o, s:o}", "from", json_of(from), "to", json_of(to));
    int status = range_of(&f, range, path, u);
    json_decref(range);
    if (status == 0)
        err_add(err, path, "\"%s..%s\" is no range of quantities, such as 1us..60us", from, to);
    return status == 1 ? 0 : -1;
}

int unknown_parse(struct unknown *u, const char *path, const char *text, struct err *err)
{
    char *copy = memory_text(text), *dots = strstr(copy, "..");
    *u = (struct unknown){.kind = UNKNOWN_ONE_OF};
    if (dots) {
        *dots = '\0';
        int status = parse_range(u, path, copy, dots + 2, err);
        free(copy);
        return status;
    }
    size_t cap = 0;
    for (char *rest = copy, *one; (one = strsep(&rest, ",")) != NULL;) {
        json_t *value = json_of(one);
        if (u->n_choices == cap)
            u->choices = memory_grow(u->choices, &cap, sizeof *u->choices);
        u->choices[u->n_choices++] = json_dumps(value, JSON_ENCODE_ANY);
        json_decref(value);
    }
    free(copy);
    u->path = text_format("%s", path);
    return u->n_choices > 1 ? 0 : err_add(err, path, "a list of one value has nothing to choose");
}

/* ---- values ---- */

static size_t choice_at(const struct unknown *u, double place)
{
    size_t at = (size_t)(place * (double)u->n_choices);
    return at < u->n_choices ? at : u->n_choices - 1;
}

double unknown_value(const struct unknown *u, double place)
{
    double at = place < 0 ? 0 : place > 1 ? 1 : place;
    if (u->kind == UNKNOWN_ONE_OF)
        return (double)choice_at(u, at);
    double value =
        u->by_ratio ? u->from * pow(u->to / u->from, at) : u->from + at * (u->to - u->from);
    // Four digits: nearer values are the same run.
    double step = value > 0 ? pow(10, floor(log10(value)) - 3) : 1;
    if (u->kind != UNKNOWN_REAL && step < 1)
        step = 1;
    value = round(value / step) * step;
    return value < u->from ? u->from : value > u->to ? u->to : value;
}

const char *unknown_text(const struct unknown *u, double place, char text[UNKNOWN_TEXT])
{
    char own[UNIT_TEXT];
    double value = unknown_value(u, place);
    switch (u->kind) {
    case UNKNOWN_TIME:
        snprintf(text, UNKNOWN_TEXT, "\"%s\"", format_time((ps_t)value, own));
        break;
    case UNKNOWN_BYTES:
        snprintf(text, UNKNOWN_TEXT, "\"%s\"", format_bytes((uint64_t)value, own));
        break;
    case UNKNOWN_RATE:
        snprintf(text, UNKNOWN_TEXT, "\"%s\"", format_rate((uint64_t)value, own));
        break;
    case UNKNOWN_WHOLE:
        snprintf(text, UNKNOWN_TEXT, "%.0f", value);
        break;
    case UNKNOWN_REAL:
        snprintf(text, UNKNOWN_TEXT, "%.10g", value);
        break;
    case UNKNOWN_ONE_OF:
        snprintf(text, UNKNOWN_TEXT, "%s", u->choices[(size_t)value]);
        break;
    }
    return text;
}

const char *unknown_words(const struct unknown *u, double place, char text[UNKNOWN_TEXT])
{
    double value = unknown_value(u, place);
    switch (u->kind) {
    case UNKNOWN_TIME:
        return human_time((ps_t)value, text);
    case UNKNOWN_BYTES:
        return human_bytes((uint64_t)value, text);
    case UNKNOWN_RATE:
        return human_rate(value, text);
    case UNKNOWN_ONE_OF:
        snprintf(text, UNKNOWN_TEXT, "%s", u->choices[(size_t)value]);
        return text;
    case UNKNOWN_WHOLE:
    case UNKNOWN_REAL:
        break;
    }
    snprintf(text, UNKNOWN_TEXT, "%.4g", value);
    return text;
}
