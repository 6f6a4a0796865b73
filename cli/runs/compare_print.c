// SPDX-License-Identifier: MIT
// The results of a comparison: its files, the tables, and why the policies differ.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs/explain.h"
#include "cli/runs/runs_internal.h"
#include "cli/terminal/terminal.h"
#include "engine/text.h"
#include "report/headline.h"
#include "study/comparison.h"

enum { REASONS_MAX = 3, DIFFERS_PERCENT = 1, BASELINE_PERCENT = 10 };

/* ---- files ---- */

static char *document(const struct compare *c, const struct rows *rows,
                      const struct comparison *comparison)
{
    json_t *names = json_array(), *root = json_object();
    for (size_t i = 0; i < c->n_scenarios; i++)
        json_array_append_new(names, json_string(c->scenarios[i].name));
    json_object_set_new(root, "schema", json_string("collwire.compare/1"));
    json_object_set_new(root, "name", json_string(c->scenarios[0].name));
    json_object_set_new(root, "scenarios", names);
    json_object_set_new(root, "baseline", json_string(c->baseline));
    json_object_set_new(root, "seeds", json_integer((json_int_t)c->options->seeds));
    json_object_set_new(root, "rows", rows_json(rows));
    json_object_set_new(root, "statistics", comparison_json(comparison));
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

static int write_files(const struct compare *c, const char *json, const char *csv)
{
    struct err err = {0};
    int status = result_set_write(c->set, "compare.json", json, &err);
    status |= result_set_write(c->set, "compare.csv", csv, &err);
    if (status == 0)
        status = result_set_commit(c->set, NULL, &err);
    errors_print(&err);
    return status;
}

/* ---- sentences below a table ---- */

// Returns "a, b and c", the policies that pass the test; "" = none. To be freed.
static char *policies_that(const struct group *g, bool (*test)(const struct outcome *o))
{
    struct text text;
    FILE *out = text_open(&text);
    size_t n = 0, at = 0;
    for (size_t o = 0; o < g->n; o++)
        n += test(&g->outcomes[o]);
    for (size_t o = 0; o < g->n; o++)
        if (test(&g->outcomes[o])) {
            at++;
            fprintf(out, "%s%s", at == 1 ? "" : at == n ? " and " : ", ", g->outcomes[o].policy);
        }
    return text_close(out, &text);
}

static bool is_identical(const struct outcome *o) { return o->identical; }

// Seeds that give the same figures count as one.
static void print_identical(const struct group *g, size_t width)
{
    char *policies = policies_that(g, is_identical);
    size_t n = 0;
    for (size_t o = 0; o < g->n; o++)
        n += g->outcomes[o].identical;
    if (n > 0) {
        char *text = text_format(
            "Seeds change nothing here%s%s%s: the %zu gave the same figures, which count once.",
            n == g->n ? "" : " for ", n == g->n ? "" : policies, "", g->outcomes[0].n);
        terminal_wrap(stdout, text, 0, 0, width);
        free(text);
    }
    free(policies);
}

static void print_legend(const struct group *g, size_t width)
{
    bool intervals = false, unclear = false;
    double best = NAN, least = INFINITY;
    for (size_t o = 0; o < g->n; o++) {
        const struct column_summary *s = &g->outcomes[o].columns[g->headline];
        best = g->outcomes[o].best ? s->center : best;
        least = s->center < least ? s->center : least;
        intervals |= !g->outcomes[o].identical && !isnan(s->interval.low);
        unclear |= &g->outcomes[o] != g->baseline && !isnan(s->ratio) &&
                   (s->mixed || !isnan(s->ratio_interval.low)) &&
                   s->ratio_interval.low != s->ratio_interval.high &&
                   !column_differs(&g->outcomes[o], g->headline);
    }
    if (intervals)
        terminal_wrap(stdout,
                      "[low, high]: 95 % interval over the seeds (bootstrap), of ratios over "
                      "pairs of runs with the same seed.",
                      0, 0, width);
    if (g->center == CENTER_MEDIAN && g->outcomes[0].n > 1)
        terminal_wrap(stdout, "medians over the seeds, since noise of hosts acts.", 0, 0, width);
    if (best > least)
        terminal_wrap(stdout, "best: the shortest queue of those within 1 % of the shortest time.",
                      0, 0, width);
    if (unclear)
        terminal_wrap(stdout,
                      "n.s.: not significant, the seeds do not agree on which one is faster.", 0, 0,
                      width);
}

// Why runs did not complete.
static void print_failures(const struct group *g, size_t width)
{
    size_t left_out = 0;
    for (size_t o = 0; o < g->n; o++)
        for (size_t i = 0; i < g->outcomes[o].n; i++) {
            const struct row *row = g->outcomes[o].rows[i];
            bool started = !row->failure || strcmp(row->failure, NOT_STARTED) != 0;
            left_out += !started;
            if (strcmp(row->status, "completed") == 0 || !started)
                continue;
            char *text =
                text_format("%s (seed %llu): %s", row->policy, (unsigned long long)row->seed,
                            row->failure ? row->failure : row->status);
            terminal_wrap(stdout, text, 0, 2, width);
            free(text);
            for (size_t k = 0; k < row->n_why && k < REASONS_MAX; k++) {
                fputs("  ", stdout);
                terminal_wrap(stdout, row_sentence(row, k), 2, 4, width);
            }
        }
    if (left_out > 0)
        printf("interrupted: %zu runs were not started\n", left_out);
}

// Find a run of the policy and one of the baseline with the same seed, both completed: the pair
// whose ratio is nearest to the ratio of the centers. Returns false if there is none.
static bool pair_of(const struct group *g, const struct outcome *o, const struct row **a,
                    const struct row **b)
{
    double nearest = INFINITY, mean = o->columns[g->headline].ratio;
    *a = *b = NULL;
    for (size_t i = 0; i < o->n && i < g->baseline->n; i++) {
        const struct row *base = g->baseline->rows[i], *other = o->rows[i];
        double off = fabs(other->values[g->headline] / base->values[g->headline] - mean);
        if (strcmp(base->status, "completed") != 0 || strcmp(other->status, "completed") != 0 ||
            !(off < nearest))
            continue;
        nearest = off;
        *a = base;
        *b = other;
    }
    return isfinite(nearest);
}

// Print the reason that costs the baseline most time; it applies to the other policies as well.
static void print_baseline(const struct group *g, size_t width)
{
    const struct outcome *base = g->baseline;
    if (!base || base->n_completed == 0)
        return;
    const json_t *costs = base->rows[0]->costs;
    const json_t *first = json_array_get(json_object_get(costs, "reasons"), 0);
    json_int_t saving = json_integer_value(json_object_get(first, "saving_ns"));
    json_int_t total =
        json_integer_value(json_object_get(json_object_get(costs, "slowest"), "total_ns"));
    const char *sentence = json_string_value(json_object_get(first, "sentence"));
    if (!sentence || saving * 100 < total * BASELINE_PERCENT)
        return;
    char *text = text_format("%s itself: %s", base->policy, sentence);
    terminal_wrap(stdout, text, 0, 2, width);
    free(text);
}

// Why policies differ from the baseline, by the critical paths of a pair of runs.
static void print_why(const struct group *g, size_t width)
{
    for (size_t i = 0; i < g->n; i++) {
        const struct outcome *o = &g->outcomes[i];
        const struct row *a, *b;
        double ratio = o->columns[g->headline].ratio;
        if (o == g->baseline || isnan(ratio) || fabs(ratio - 1) * 100 <= DIFFERS_PERCENT ||
            !column_differs(o, g->headline) || !pair_of(g, o, &a, &b))
            continue;
        char *name = o->n > 1 && !o->identical
                         ? text_format("%s (seed %llu)", b->policy, (unsigned long long)b->seed)
                         : text_format("%s", b->policy);
        print_difference(stdout, a->costs, a->policy, b->costs, name, width);
        free(name);
    }
}

static void print_heading(const struct compare *c, const struct group *g, size_t width)
{
    if (g->job) {
        char *text = text_format("Job %s of %s", g->job, g->scenario);
        terminal_wrap(stdout, text, 0, 2, width);
        free(text);
        return;
    }
    for (size_t i = 0; i < c->n_scenarios; i++)
        if (strcmp(c->scenarios[i].name, g->scenario) == 0) {
            char *line = scenario_headline(collwire_scenario_json(c->scenarios[i].base));
            char *text = text_format("%s: %s", g->scenario, line);
            terminal_wrap(stdout, text, 0, 2, width);
            free(line);
            free(text);
        }
}

static void print_group(const struct compare *c, const struct group *g, size_t width)
{
    print_heading(c, g, width);
    struct table_style style = {"policy", width, terminal_colours(stdout), true};
    char *table = comparison_table(g, &style);
    puts(table); // libsmartcols escapes control characters
    free(table);
    print_legend(g, width);
    if (g->job)
        return;
    print_identical(g, width);
    print_failures(g, width);
    print_why(g, width);
    print_baseline(g, width);
}

/* ---- all ---- */

static void print_results(const struct compare *c, const struct comparison *comparison,
                          const char *json, const char *csv)
{
    size_t width = terminal_width(stdout);
    if (c->options->format != FORMAT_TABLE) {
        text_print(stdout, c->options->format == FORMAT_JSON ? json : csv);
        if (c->options->format == FORMAT_JSON)
            fputc('\n', stdout);
        return;
    }
    for (size_t g = 0; g < comparison->n; g++) {
        if (g > 0)
            fputc('\n', stdout);
        print_group(c, &comparison->groups[g], width);
    }
}

int compare_write(const struct compare *c, const struct rows *rows)
{
    struct comparison *comparison = comparison_new(rows, c->baseline);
    char *json = document(c, rows, comparison), *csv = rows_csv(rows);
    int status = write_files(c, json, csv);
    if (options_print_results(c->options))
        print_results(c, comparison, json, csv);
    if (status == 0 && c->options->format == FORMAT_TABLE && !c->options->quiet)
        path_print(stdout, "\nresults: %s/compare.json\n", c->dir);
    free(json);
    free(csv);
    comparison_free(comparison);
    return status;
}
