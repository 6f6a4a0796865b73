// SPDX-License-Identifier: MIT
// The results of a comparison: its files, the tables, and the change that would save most time.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs/compare_draws.h"
#include "cli/runs/runs_internal.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/comparison/comparison.h"
#include "report/headline.h"
#include "report/study/comparison_table.h"

enum { SAVING_PERCENT = 1 }; // of the time: a smaller saving is not worth a line

/* ---- files ---- */

static json_t *varied_paths(const struct grid *grid)
{
    json_t *paths = json_array();
    for (size_t p = 0; p < grid_paths(grid); p++)
        json_array_append_new(paths, json_string(grid_path(grid, p)));
    return paths;
}

static char *document(const struct compare *c, const struct rows *rows,
                      const struct comparison *comparison, json_t *draws)
{
    struct comparison_about about = {.n_scenarios = c->n_scenarios,
                                     .baseline = c->baseline,
                                     .seeds = c->options->seeds,
                                     .draws = draws};
    const char **names = memory_zeroed(c->n_scenarios, sizeof *names);
    for (size_t i = 0; i < c->n_scenarios; i++)
        names[i] = c->scenarios[i].name;
    about.scenarios = names;
    about.varied = grid_paths(&c->grid) > 0 ? varied_paths(&c->grid) : NULL;
    char *text = comparison_document(&about, rows, comparison);
    json_decref(about.varied);
    free(names);
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

/* ---- lines below a table ---- */

// Returns "a, b and c", the policies whose seeds gave the same figures; "" = none. To be freed.
static char *identical_policies(const struct group *g)
{
    struct text text;
    FILE *out = text_open(&text);
    size_t n = 0, at = 0;
    for (size_t o = 0; o < g->n; o++)
        n += g->outcomes[o].identical;
    for (size_t o = 0; o < g->n; o++)
        if (g->outcomes[o].identical) {
            at++;
            fprintf(out, "%s%s", at == 1 ? "" : at == n ? " and " : ", ", g->outcomes[o].name);
        }
    return text_close(out, &text);
}

// Seeds that give the same figures count as one. The policies are named where a line has room.
static void print_identical(const struct group *g, size_t width)
{
    size_t n = 0;
    for (size_t o = 0; o < g->n; o++)
        n += g->outcomes[o].identical;
    if (n == 0)
        return;
    char *names = identical_policies(g);
    char *text = text_format("The %zu seeds gave the same figures %s%s.", g->outcomes[0].n,
                             n == g->n ? "in all rows" : "with ", n == g->n ? "" : names);
    if (strlen(text) > width) {
        free(text);
        text = text_format("The %zu seeds gave the same figures in %zu of the %zu rows.",
                           g->outcomes[0].n, n, g->n);
    }
    terminal_wrap(stdout, text, 0, 0, width);
    free(text);
    free(names);
}

static bool has_shares(const struct group *g)
{
    for (size_t o = 0; o < g->n; o++)
        if (!isnan(g->outcomes[o].shares[0]))
            return true;
    return false;
}

static void print_legend(const struct group *g, size_t width)
{
    bool intervals = false, unclear = false, best = false;
    for (size_t o = 0; o < g->n; o++) {
        const struct column_summary *s = &g->outcomes[o].columns[g->headline];
        best |= g->outcomes[o].best;
        intervals |= !g->outcomes[o].identical && !isnan(s->interval.low);
        unclear |= &g->outcomes[o] != g->baseline && !isnan(s->ratio) &&
                   (s->mixed || !isnan(s->ratio_interval.low)) &&
                   s->ratio_interval.low != s->ratio_interval.high &&
                   !column_differs(&g->outcomes[o], g->headline);
    }
    const char *shares = has_shares(g) ? "%: of the critical path" : "",
               *mark = best && g->n > 1 ? "*: best (least time; within 1 %, shortest queue)" : "";
    if (*shares || *mark) {
        char *text = text_format("%s%s%s", shares, *shares && *mark ? "; " : "", mark);
        terminal_wrap(stdout, text, 0, 0, width);
        free(text);
    }
    if (intervals)
        terminal_wrap(stdout,
                      "[low, high]: 95 % interval over seeds, of ratios over pairs of equal seeds",
                      0, 0, width);
    if (g->center == CENTER_MEDIAN && g->outcomes[0].n > 1)
        terminal_wrap(stdout, "medians over the seeds, since noise of hosts acts", 0, 0, width);
    if (unclear)
        terminal_wrap(stdout,
                      "n.s.: not significant, the seeds do not agree on which one is faster", 0, 0,
                      width);
}

// Say that the figures are those of a shrunk scenario, and where those of the whole come from.
static void print_shrunk(const struct group *g, size_t width)
{
    const char *shrunk = g->outcomes[0].rows[0]->shrunk;
    if (!shrunk || g->job)
        return;
    char *text = text_format("shrunk: %s; " WHOLE_OF_SHRUNK, shrunk);
    terminal_wrap(stdout, text, 0, 2, width);
    free(text);
}

static bool was_started(const struct row *row)
{
    return !row->failure || strcmp(row->failure, NOT_STARTED) != 0;
}

// Why runs did not complete: the first sentence of the first of a policy's runs.
static void print_failure(const struct outcome *o, size_t width)
{
    const struct row *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < o->n; i++) {
        if (strcmp(o->rows[i]->status, "completed") == 0 || !was_started(o->rows[i]))
            continue;
        first = first ? first : o->rows[i];
        n++;
    }
    if (!first)
        return;
    char *others = n > 1 ? text_format(" and %zu more", n - 1) : memory_text("");
    char *text =
        text_format("%s (seed %llu%s): %s%s%s", first->name, (unsigned long long)first->seed,
                    others, first->failure ? first->failure : first->status,
                    first->n_why > 0 ? ": " : "", first->n_why > 0 ? row_sentence(first, 0) : "");
    terminal_wrap(stdout, text, 0, 2, width);
    free(others);
    free(text);
}

static void print_failures(const struct group *g, size_t width)
{
    size_t left_out = 0;
    for (size_t o = 0; o < g->n; o++) {
        print_failure(&g->outcomes[o], width);
        for (size_t i = 0; i < g->outcomes[o].n; i++)
            left_out += !was_started(g->outcomes[o].rows[i]);
    }
    if (left_out > 0)
        printf("interrupted: %zu runs were not started\n", left_out);
}

/* ---- the best change ---- */

// What was tried first of the causes of a policy's typical run.
struct change {
    const struct row *row;
    const char *sentence;
    json_int_t saved_ns; // 0 = not enough for a line
};

const struct row *typical_run(const struct group *g, const struct outcome *o)
{
    const struct row *nearest = NULL;
    double least = INFINITY, center = o->columns[g->headline].center;
    for (size_t i = 0; i < o->n; i++) {
        double off = fabs(o->rows[i]->values[g->headline] - center);
        if (strcmp(o->rows[i]->status, "completed") != 0 || !(off < least))
            continue;
        least = off;
        nearest = o->rows[i];
    }
    return nearest;
}

static struct change change_of(const struct group *g, const struct outcome *o)
{
    struct change change = {.row = typical_run(g, o)};
    if (!change.row)
        return change;
    const json_t *costs = change.row->costs,
                 *reason = json_array_get(json_object_get(costs, "reasons"), 0),
                 *slowest = json_object_get(costs, "slowest");
    json_int_t saved = json_integer_value(json_object_get(reason, "saved_ns")),
               total = json_integer_value(json_object_get(slowest, "total_ns"));
    if (json_is_true(json_object_get(reason, "tried")))
        change.sentence = json_string_value(json_object_get(reason, "sentence"));
    change.saved_ns = change.sentence && saved * 100 >= total * SAVING_PERCENT ? saved : 0;
    return change;
}

// The sentence of an explanation states the saving of the whole run. Where the table has the time
// of an iteration, the saving is replaced by that of an iteration: "1.31 ms less" by "655 us less
// an iteration". To be freed.
static char *of_an_iteration(const char *sentence, const struct change *change)
{
    size_t n = json_array_size(
        json_object_get(json_object_get(change->row->costs, "training"), "iterations"));
    char whole[UNIT_TEXT], one[UNIT_TEXT];
    human_time((ps_t)change->saved_ns * PS_PER_NS, whole);
    const char *at = n > 1 ? strstr(sentence, whole) : NULL, *word = at ? at + strlen(whole) : NULL;
    size_t length = word && *word == ' ' ? 1 + strcspn(word + 1, " ,;:") : 0; // " less"
    if (length == 0)
        return memory_text(sentence);
    return text_format("%.*s%s%.*s an iteration%s", (int)(at - sentence), sentence,
                       human_time((ps_t)change->saved_ns * PS_PER_NS / (ps_t)n, one), (int)length,
                       word, word + length);
}

// The first and the last clause of a sentence: what was seen, and what was tried; `collwire
// explain` has the others. To be freed.
static char *seen_and_tried(const char *sentence)
{
    char **clauses;
    size_t n = text_split(sentence, ';', &clauses);
    char *text = n < 2 ? memory_text(sentence) : text_format("%s;%s", clauses[0], clauses[n - 1]);
    texts_free(clauses, n);
    return text;
}

// Print what a change of a row's typical run saved, after its words.
static void print_tried(const struct group *g, const char *words, const struct outcome *of,
                        const struct change *change, size_t width)
{
    char *seed = of->n > 1 && !of->identical
                     ? text_format(", seed %llu", (unsigned long long)change->row->seed)
                     : memory_text("");
    bool divided = strcmp(row_columns[g->headline].key, "iteration_ns") == 0;
    char *clauses = seen_and_tried(change->sentence);
    char *sentence = divided ? of_an_iteration(clauses, change) : memory_text(clauses);
    free(clauses);
    char *text = text_format("%s (%s%s): %s", words, of->name, seed, sentence);
    terminal_wrap(stdout, text, 0, 2, width);
    free(text);
    free(sentence);
    free(seed);
}

// Print the change that saved most time of the best rows, and what cost the worst row its time.
static void print_changes(const struct group *g, size_t width)
{
    struct change best = {0}, other;
    const struct outcome *of = NULL, *worst = worst_outcome(g);
    for (size_t i = 0; i < g->n; i++)
        if ((g->outcomes[i].best || g->n == 1) &&
            (other = change_of(g, &g->outcomes[i])).saved_ns > best.saved_ns) {
            best = other;
            of = &g->outcomes[i];
        }
    if (of)
        print_tried(g, "Best change", of, &best, width);
    if (!worst || worst->best || g->n < 2)
        return;
    other = change_of(g, worst);
    if (other.saved_ns > 0)
        print_tried(g, "Longest row", worst, &other, width);
}

static void print_heading(const struct compare *c, const struct group *g, size_t width)
{
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
    struct table_style style = {c->heading, width, terminal_colours(stdout), true};
    char *table = comparison_table(g, &style);
    puts(table); // libsmartcols escapes control characters
    free(table);
    print_legend(g, width);
    print_shrunk(g, width);
    print_identical(g, width);
    print_failures(g, width);
}

// The jobs of the group before, where there are several.
static void print_jobs(const struct compare *c, const struct group *jobs, size_t n, size_t width)
{
    struct table_style style = {c->heading, width, false, true};
    const char *unit;
    size_t shown;
    if (n == 0)
        return;
    char *table = comparison_jobs_table(jobs, n, &style, &shown, &unit);
    printf("Time of each job in %s (ratio to %s)\n", unit, jobs->baseline->name);
    puts(table);
    free(table);
    if (shown < n)
        printf("%zu more jobs: compare.csv\n", n - shown);
}

enum { CHANGE_BESIDE_JOBS = 6 }; // policies

/* ---- all ---- */

static void print_results(const struct compare *c, const struct comparison *comparison,
                          const json_t *draws, const char *json, const char *csv)
{
    size_t width = terminal_width(stdout);
    if (c->options->format != FORMAT_TABLE) {
        text_print(stdout, c->options->format == FORMAT_JSON ? json : csv);
        if (c->options->format == FORMAT_JSON)
            fputc('\n', stdout);
        return;
    }
    for (size_t g = 0; g < comparison->n;) {
        size_t jobs = 0;
        if (g > 0)
            fputc('\n', stdout);
        const struct group *whole = &comparison->groups[g++];
        print_group(c, whole, width);
        while (g + jobs < comparison->n && comparison->groups[g + jobs].job)
            jobs++;
        if (jobs == 0 || whole->n <= CHANGE_BESIDE_JOBS) // two tables fill a screen
            print_changes(whole, width);
        print_jobs(c, &comparison->groups[g], jobs, width);
        if (draws)
            compare_draws_print(c->draws, whole, c->heading, draws);
        g += jobs;
    }
}

int compare_write(const struct compare *c, struct rows *rows)
{
    struct comparison *comparison = comparison_new(rows, c->baseline);
    json_t *draws = c->draws ? compare_draws_summary(c->draws, rows, comparison) : NULL;
    char *json = document(c, rows, comparison, draws), *csv = rows_csv(rows);
    int status = write_files(c, json, csv);
    if (options_print_results(c->options))
        print_results(c, comparison, draws, json, csv);
    if (status == 0 && c->options->format == FORMAT_TABLE && !c->options->quiet)
        path_print(stdout, "results: %s/compare.json\n", c->dir);
    free(json);
    free(csv);
    json_decref(draws);
    comparison_free(comparison);
    return status;
}
