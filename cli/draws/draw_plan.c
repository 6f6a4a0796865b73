// SPDX-License-Identifier: MIT
// Plans of draws. See the header.
#include "cli/draws/draw_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

/* ---- settings ---- */

static void sets_add(struct draw_sets *sets, const char *path, const char *value)
{
    sets->list = memory_resize(sets->list, sets->n + 1, sizeof *sets->list);
    sets->list[sets->n++] = (struct collwire_setting){memory_text(path), memory_text(value)};
}

void draw_sets_free(struct draw_sets *sets)
{
    for (size_t i = 0; i < sets->n; i++) {
        free((char *)(uintptr_t)sets->list[i].path);
        free((char *)(uintptr_t)sets->list[i].value);
    }
    free(sets->list);
    *sets = (struct draw_sets){0};
}

// Set an assumption in the places that a row leaves open.
static void sets_add_value(struct draw_sets *sets, const struct assumption *a, const json_t *given,
                           const char *value)
{
    char *paths[ASSUMPTION_PATHS];
    size_t n = assumption_paths(a, given, paths);
    for (size_t i = 0; i < n; i++) {
        sets_add(sets, paths[i], value);
        free(paths[i]);
    }
    if (n == 0 || !a->also[0] || strcmp(value, a->values[0]) == 0)
        return;
    struct assumption beside = {.path = a->also[0]};
    if (assumption_paths(&beside, given, paths) == 1) {
        sets_add(sets, paths[0], a->also[1]);
        free(paths[0]);
    }
}

/* ---- what is open ---- */

static bool is_stated(const struct assumption *a, const struct draw_row *rows, size_t n_rows)
{
    for (size_t r = 0; r < n_rows; r++) {
        char *paths[ASSUMPTION_PATHS];
        size_t n = assumption_paths(a, rows[r].given, paths);
        for (size_t i = 0; i < n; i++)
            free(paths[i]);
        if (n == 0)
            return true;
    }
    return false;
}

// True if all rows load with a value.
static bool value_loads(const struct assumption *a, const char *value, const struct draw_row *rows,
                        size_t n_rows, draw_loads *loads, void *ctx, char **why)
{
    for (size_t r = 0; r < n_rows; r++) {
        struct draw_sets sets = {0};
        sets_add_value(&sets, a, rows[r].given, value);
        bool good = loads(ctx, r, &sets, why);
        draw_sets_free(&sets);
        if (!good)
            return false;
    }
    return true;
}

static void axis_unfit(struct draw_axis *axis, char *why)
{
    axis->state = AXIS_UNFIT;
    axis->why = why;
}

// Keep the values with which all rows load. A range of times needs both of its ends.
static void axis_try(struct draw_axis *axis, const struct draw_row *rows, size_t n_rows,
                     draw_loads *loads, void *ctx)
{
    const struct assumption *a = axis->of;
    char *first = NULL;
    for (size_t v = 0; v < ASSUMPTION_VALUES && a->values[v]; v++) {
        char *why = NULL;
        if (value_loads(a, a->values[v], rows, n_rows, loads, ctx, &why))
            axis->values[axis->n_values++] = v;
        else if (!first)
            first = text_format("%s: %s", a->values[v], why ? why : "does not load");
        free(why);
    }
    if (axis->n_values >= 2 || a->kind == ASSUMPTION_SEED)
        free(first);
    else
        axis_unfit(axis, first);
}

void draw_plan_make(struct draw_plan *plan, uint64_t seed, const struct draw_row *rows,
                    size_t n_rows, draw_loads *loads, void *ctx)
{
    plan->seed = seed;
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        struct draw_axis *axis = &plan->axes[i];
        const char *why = NULL;
        *axis = (struct draw_axis){.of = &assumptions[i]};
        for (size_t r = 0; r < n_rows && !why; r++)
            why = axis->of->unfit(rows[r].scenario, rows[r].given);
        if (why)
            axis_unfit(axis, memory_text(why));
        else if (is_stated(axis->of, rows, n_rows))
            axis->state = AXIS_STATED;
        else
            axis_try(axis, rows, n_rows, loads, ctx);
    }
}

void draw_plan_free(struct draw_plan *plan)
{
    for (size_t i = 0; i < ASSUMPTIONS; i++)
        free(plan->axes[i].why);
}

bool draw_plan_is_empty(const struct draw_plan *plan)
{
    for (size_t i = 0; i < ASSUMPTIONS; i++)
        if (plan->axes[i].state == AXIS_DRAWN)
            return false;
    return true;
}

/* ---- a draw ---- */

// Uniform in [0, 1) by the seed, the assumption's name and the draw. The name counts by its letters
// (FNV-1a), so that another order of the table changes nothing.
static double uniform(const struct draw_plan *plan, const char *name, size_t k)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (const char *c = name; *c != '\0'; c++)
        hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    struct rng rng = rng_init(plan->seed ^ hash_mix(hash), RNG_DRAWS, (uint32_t)k);
    return rng_unit(&rng);
}

// A time between two, uniform in the logarithm, in whole nanoseconds.
static char *time_between(const struct assumption *a, double place)
{
    ps_t low = 0, high = 0;
    parse_time(a->values[0], &low);
    parse_time(a->values[1], &high);
    double at = (double)low * pow((double)high / (double)low, place);
    return text_format("%lldns", (long long)(at / (double)PS_PER_NS + 0.5));
}

char *draw_value(const struct draw_plan *plan, size_t axis, size_t k, double *place)
{
    const struct draw_axis *one = &plan->axes[axis];
    const struct assumption *a = one->of;
    *place = (double)NAN;
    if (a->kind == ASSUMPTION_SEED)
        return text_format("%" PRIu64, plan->seed + k);
    *place = uniform(plan, a->name, k);
    if (a->kind == ASSUMPTION_TIME)
        return time_between(a, *place);
    size_t number = (size_t)(*place * (double)one->n_values);
    *place = ((double)number + 0.5) / (double)one->n_values;
    return memory_text(a->values[one->values[number]]);
}

struct draw_sets draw_settings(const struct draw_plan *plan, const json_t *given, size_t k)
{
    struct draw_sets sets = {0};
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        if (plan->axes[i].state != AXIS_DRAWN)
            continue;
        double place;
        char *value = draw_value(plan, i, k, &place);
        sets_add_value(&sets, plan->axes[i].of, given, value);
        free(value);
    }
    return sets;
}

size_t draw_repeats(const struct draw_plan *plan, size_t k)
{
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        if (strcmp(plan->axes[i].of->path, "workload[].repeat") != 0 ||
            plan->axes[i].state != AXIS_DRAWN)
            continue;
        double place;
        char *value = draw_value(plan, i, k, &place);
        size_t n = strtoul(value, NULL, 10);
        free(value);
        return n;
    }
    return 1;
}
