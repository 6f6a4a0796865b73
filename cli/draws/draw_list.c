// SPDX-License-Identifier: MIT
#include "cli/draws/draw_list.h"

#include <stdlib.h>
#include <string.h>

#include "cli/terminal/terminal.h"
#include "engine/base/text.h"

enum { NAME_WIDTH = 16 };

static void print_drawn(FILE *out, const struct draw_axis *axis, size_t width)
{
    const struct assumption *a = axis->of;
    char *range = assumption_range(a, axis->values, axis->n_values);
    char *text =
        text_format("%s (%s%s). %s", range, a->path,
                    a->kind == ASSUMPTION_TIME ? ", uniform in the logarithm" : "", a->source);
    fprintf(out, "%-*s", NAME_WIDTH, a->name);
    terminal_wrap(out, text, NAME_WIDTH, NAME_WIDTH, width);
    free(text);
    free(range);
}

// Print a line that begins with `words` and names what is in a state; the keys too, where `paths`.
static void print_names(FILE *out, const struct draw_plan *plan, enum axis_state state,
                        const char *words, bool paths, size_t width)
{
    struct text text;
    FILE *names = text_open(&text);
    size_t n = 0;
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        const struct assumption *a = plan->axes[i].of;
        if (plan->axes[i].state != state)
            continue;
        fprintf(names, "%s%s", n++ > 0 ? ", " : words, a->name);
        if (paths)
            fprintf(names, " (%s)", a->path);
    }
    char *line = text_close(names, &text);
    if (n > 0)
        terminal_wrap(out, line, 0, 2, width);
    free(line);
}

static void print_unfit(FILE *out, const struct draw_plan *plan, size_t width)
{
    for (size_t i = 0; i < ASSUMPTIONS; i++) {
        if (plan->axes[i].state != AXIS_UNFIT)
            continue;
        char *line = text_format("not drawn: %s: %s", plan->axes[i].of->name, plan->axes[i].why);
        terminal_wrap(out, line, 0, 2, width);
        free(line);
    }
}

void draw_plan_print_rest(FILE *out, const struct draw_plan *plan, size_t width)
{
    print_names(out, plan, AXIS_STATED, "stated, so not drawn: ", false, width);
    print_names(out, plan, AXIS_UNFIT, "not drawn (--list says why): ", false, width);
}

void draw_plan_print(FILE *out, const struct draw_plan *plan, size_t width)
{
    for (size_t i = 0; i < ASSUMPTIONS; i++)
        if (plan->axes[i].state == AXIS_DRAWN)
            print_drawn(out, &plan->axes[i], width);
    print_names(out, plan, AXIS_STATED, "stated, so not drawn: ", true, width);
    print_unfit(out, plan, width);
}

char *draw_plan_names(const struct draw_plan *plan)
{
    struct text text;
    FILE *out = text_open(&text);
    size_t n = 0, at = 0;
    for (size_t i = 0; i < ASSUMPTIONS; i++)
        n += plan->axes[i].state == AXIS_DRAWN;
    for (size_t i = 0; i < ASSUMPTIONS; i++)
        if (plan->axes[i].state == AXIS_DRAWN) {
            at++;
            fprintf(out, "%s%s", at == 1 ? "" : at == n ? " and " : ", ", plan->axes[i].of->name);
        }
    return text_close(out, &text);
}

// The values of the range, or the words for them.
static json_t *range_json(const struct draw_axis *axis, bool words)
{
    const struct assumption *a = axis->of;
    bool all = axis->state != AXIS_DRAWN;
    json_t *list = json_array();
    for (size_t v = 0; v < ASSUMPTION_VALUES && a->values[v]; v++) {
        bool kept = all;
        for (size_t i = 0; i < axis->n_values; i++)
            kept |= axis->values[i] == v;
        if (kept)
            json_array_append_new(list, json_string(words ? a->words[v] : a->values[v]));
    }
    return list;
}

json_t *draw_axis_json(const struct draw_axis *axis)
{
    static const char *const kinds[] = {"choice", "log_uniform", "seed"};
    static const char *const states[] = {"drawn", "stated", "not drawn"};
    const struct assumption *a = axis->of;
    return json_pack("{s:s, s:s, s:s, s:o, s:o*, s:s, s:s, s:s?}", "name", a->name, "path", a->path,
                     "kind", kinds[a->kind], "range", range_json(axis, false), "words",
                     a->words[0] ? range_json(axis, true) : NULL, "source", a->source, "state",
                     states[axis->state], "why", axis->why);
}
