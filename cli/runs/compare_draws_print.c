// SPDX-License-Identifier: MIT
// The draws of a scenario as a table below that of its comparison.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/draws/draw_list.h"
#include "cli/runs/compare_draws.h"
#include "cli/runs/compare_draws_internal.h"
#include "cli/runs/runs_internal.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"
#include "report/comparison/draws.h"

enum { MOVED_SHOWN = 4 }; // assumptions in the last line

static double real_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static long long count_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static const json_t *draws_of(const struct group *g, size_t outcome)
{
    return g->outcomes[outcome].rows[0]->draws;
}

static void print_ratio(double ratio)
{
    if (isnan(ratio))
        printf("  %9s", "-");
    else
        printf("  %9.2f", ratio);
}

static void print_row(const struct group *g, size_t o, int names)
{
    const struct outcome *one = &g->outcomes[o];
    const json_t *draws = draws_of(g, o);
    const char *by = json_string_value(json_object_get(draws, "moved_by"));
    printf("%-*s", names, one->name);
    print_ratio(one->columns[g->headline].ratio);
    print_ratio(real_of(draws, "median"));
    print_ratio(real_of(draws, "p10"));
    print_ratio(real_of(draws, "p90"));
    char *order = text_format("%lld of %lld", count_of(draws, "order_holds"), count_of(draws, "n"));
    printf("  %12s  %s\n", order, by ? by : "-");
    free(order);
}

static void print_table(const struct group *g, const char *heading)
{
    int names = (int)strlen(heading);
    for (size_t o = 0; o < g->n; o++)
        if ((int)strlen(g->outcomes[o].name) > names)
            names = (int)strlen(g->outcomes[o].name);
    printf("%-*s  %9s  %9s  %9s  %9s  %12s  %s\n", names, heading, "as stated", "median", "10 %",
           "90 %", "order stands", "moved most by");
    for (size_t o = 0; o < g->n; o++)
        if (&g->outcomes[o] != g->baseline)
            print_row(g, o, names);
}

// The row whose ratio has the widest range; g->n = none.
static size_t widest_row(const struct group *g)
{
    size_t found = g->n;
    double most = 0;
    for (size_t o = 0; o < g->n; o++) {
        const json_t *draws = draws_of(g, o);
        double wide = real_of(draws, "p90") / real_of(draws, "p10");
        if (json_is_object(draws) && wide > most) {
            most = wide;
            found = o;
        }
    }
    return found;
}

// "slower in 15 of 20, about the same in 5"
static char *order_text(const json_t *draws)
{
    static const char *const keys[] = {"slower", "same", "faster"}, *const words[] = {
                                                                        "slower", "about the same",
                                                                        "faster"};
    struct text text;
    FILE *out = text_open(&text);
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (count_of(draws, keys[i]) == 0)
            continue;
        fprintf(out, "%s%s in %lld", n > 0 ? ", " : "", words[i], count_of(draws, keys[i]));
        if (n++ == 0)
            fprintf(out, " of %lld", count_of(draws, "n"));
    }
    return text_close(out, &text);
}

static void print_sentence(const struct group *g, size_t width)
{
    size_t o = widest_row(g);
    if (o == g->n)
        return;
    const json_t *draws = draws_of(g, o);
    const char *by = json_string_value(json_object_get(draws, "moved_by"));
    char *order = order_text(draws);
    char *text =
        text_format("%s over %s: median %.2f, %.2f to %.2f in 10 to 90 %% of %lld draws; %s; %s%s",
                    g->outcomes[o].name, g->baseline->name, real_of(draws, "median"),
                    real_of(draws, "p10"), real_of(draws, "p90"), count_of(draws, "n"), order,
                    by ? "moved most by " : "no single assumption moves it clearly", by ? by : "");
    terminal_wrap(stdout, text, 0, 2, width);
    free(text);
    free(order);
}

// "The ratios move by up to: buffer 86 %, noise 12 %": the largest over all rows.
static void print_moves(const struct group *g, const json_t *summary, size_t width)
{
    struct text text;
    FILE *out = text_open(&text);
    const json_t *item;
    size_t i, n = 0;
    json_array_foreach(json_object_get(summary, "assumptions"), i, item)
    {
        const char *scenario = json_string_value(json_object_get(item, "scenario"));
        double moves = real_of(item, "moves");
        if (strcmp(scenario, g->scenario) != 0 || !(moves > DRAWS_TIE) || n == MOVED_SHOWN)
            continue;
        fprintf(out, "%s%s %.0f %%", n++ > 0 ? ", " : "between lower and higher values differ by: ",
                json_string_value(json_object_get(item, "name")), 100 * moves);
    }
    char *line = text_close(out, &text);
    char *whole = text_format("Ratios %s", line);
    if (n > 0)
        terminal_wrap(stdout, whole, 0, 2, width);
    free(whole);
    free(line);
}

// Draws that did not complete, by the row that has the fewest.
static void print_missing(const struct compare_draws *d, const struct group *g, size_t width)
{
    size_t fewest = d->n_draws, at = g->n;
    for (size_t o = 0; o < g->n; o++) {
        const json_t *draws = draws_of(g, o);
        if (json_is_object(draws) && (size_t)count_of(draws, "n") < fewest) {
            fewest = (size_t)count_of(draws, "n");
            at = o;
        }
    }
    if (at < g->n) {
        char *text = text_format("%zu of %zu draws of %s did not complete", d->n_draws - fewest,
                                 d->n_draws, g->outcomes[at].name);
        terminal_wrap(stdout, text, 0, 2, width);
        free(text);
    }
    if (fewest < DRAWS_FEW)
        printf("%zu draws are few: ranges, and what moves them, are rough\n", fewest);
}

void compare_draws_print(const struct compare_draws *d, const struct group *g, const char *heading,
                         const json_t *summary)
{
    size_t width = terminal_width(stdout);
    for (size_t s = 0; s < d->n_plans; s++) {
        if (strcmp(d->scenarios[s].name, g->scenario) != 0)
            continue;
        char *names = draw_plan_names(&d->plans[s]);
        char *text =
            text_format("Ratios to %s over %zu draws of %s:", g->baseline->name, d->n_draws, names);
        fputc('\n', stdout);
        terminal_wrap(stdout, text, 0, 2, width);
        print_table(g, heading);
        print_sentence(g, width);
        print_moves(g, summary, width);
        print_missing(d, g, width);
        draw_plan_print_rest(stdout, &d->plans[s], width);
        free(text);
        free(names);
    }
}
