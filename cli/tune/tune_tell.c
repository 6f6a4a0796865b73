// SPDX-License-Identifier: MIT
// What a tuning says: each goal as it is and at its best, on seeds that were not used; what each
// key does; and the settings, as a table, JSON, a scenario and words.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/output.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/terminal.h"
#include "cli/tune/tune.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/comparison/statistics.h"

#define CASES_SHOWN 12
#define LOST 0.01 // share by which a goal is worse on seeds that were not used

/* ---- gains ---- */

// A goal of a case: the means over the seeds that were not used, and the interval of their ratio.
struct gain {
    double before, now;
    struct interval ratio;
};

static struct gain gain_of(const struct tune *t, const struct tune_case *c,
                           const struct fit_point *before, const struct fit_point *now, size_t goal)
{
    double *x = memory_zeroed(t->check, sizeof *x), *base = memory_zeroed(t->check, sizeof *base);
    for (uint64_t s = 0; s < t->check; s++) {
        uint64_t seed = c->unused_best.first_seed + s + 1;
        base[s] = fit_value(&c->unused_as_is, before, seed, goal);
        x[s] = fit_value(&c->unused_best, now, seed, goal);
    }
    struct resamples draws = resamples_new(t->check);
    struct gain g = {.before = mean_of(base, t->check), .now = mean_of(x, t->check)};
    g.ratio = interval_of_ratio(CENTER_MEAN, &draws, x, base);
    resamples_free(&draws);
    free(base);
    free(x);
    return g;
}

// Run the scenario's own settings and the best ones on the seeds that were not used.
static bool check(struct tune *t, struct tune_case *c, struct fit_point **before,
                  struct fit_point **now)
{
    double none[1][UNKNOWNS_MOST] = {0}, best[1][UNKNOWNS_MOST];
    memcpy(best[0], t->best, sizeof best[0]);
    c->unused_as_is.interrupted = c->unused_best.interrupted = t->interrupted;
    fit_run(&c->unused_as_is, 1, none, before);
    fit_run(&c->unused_best, 1, best, now);
    t->interrupted |= c->unused_best.interrupted || c->unused_as_is.interrupted;
    return *before && *now;
}

/* ---- values in words ---- */

static const char *value_words(const struct observed_value *v, double value, char text[UNIT_TEXT])
{
    if (isnan(value))
        snprintf(text, UNIT_TEXT, "none");
    else if (strcmp(v->quantity, "time") == 0 || strcmp(v->quantity, "fct") == 0)
        human_time((ps_t)(value * PS_PER_NS), text);
    else if (strcmp(v->quantity, "busbw") == 0 || strcmp(v->quantity, "goodput") == 0)
        human_rate(value, text);
    else if (strcmp(v->quantity, "max_queue") == 0)
        human_bytes((uint64_t)value, text);
    else
        snprintf(text, UNIT_TEXT, "%.6g", value);
    return text;
}

static void strip_quotes(char *text)
{
    size_t n = strlen(text);
    if (n > 1 && text[0] == '"' && text[n - 1] == '"') {
        memmove(text, text + 1, n - 2);
        text[n - 2] = '\0';
    }
}

/* ---- the table ---- */

static void print_keys(const struct tune *t, const struct tune_effect *effects)
{
    printf("\n  %-30s %-14s %-12s %-24s %s\n", "key", "scenario", "best", "within 1 % of it",
           "elsewhere at most");
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct unknown *u = &t->keys.list[k];
        const struct tune_effect *e = &effects[k];
        char best[UNKNOWN_TEXT], low[UNKNOWN_TEXT], high[UNKNOWN_TEXT],
            flat[2 * UNKNOWN_TEXT + 8] = "", loss[32];
        char *own = tune_own_value(t, u->path);
        strip_quotes(own);
        unknown_words(u, t->best[k], best);
        strip_quotes(best);
        if (u->kind != UNKNOWN_ONE_OF && !t->interrupted)
            snprintf(flat, sizeof flat, "%s to %s", unknown_words(u, e->low, low),
                     unknown_words(u, e->high, high));
        if (t->interrupted)
            snprintf(loss, sizeof loss, "not tried");
        else if (e->loss > 10)
            snprintf(loss, sizeof loss, "over 10 times");
        else if (e->loss < 0.01)
            snprintf(loss, sizeof loss, "no difference");
        else
            snprintf(loss, sizeof loss, "%.0f %% worse", 100 * e->loss);
        printf("  %-30s %-14s %-12s %-24s %s\n", u->path, own, best, flat, loss);
        free(own);
    }
}

// What is best on the seeds of the search need not be on others.
static void print_doubt(const struct tune *t, const json_t *gains)
{
    const json_t *one;
    size_t i;
    bool lost = false;
    json_array_foreach(gains, i, one)
    {
        bool most = t->goals[i % t->n_goals].most;
        double ratio = json_number_value(json_object_get(one, "best")) /
                       json_number_value(json_object_get(one, "before"));
        lost |= i % t->n_goals == 0 && (most ? ratio < 1 - LOST : ratio > 1 + LOST);
    }
    if (lost)
        terminal_wrap(stdout, "\nsome of it is lost on seeds that were not used: give more --seeds",
                      0, 0, terminal_width(stdout));
}

static void print_gain(const struct tune *t, const char *name, size_t goal, const struct gain *g)
{
    char before[UNIT_TEXT], now[UNIT_TEXT], between[64] = "";
    const struct observed_value *v = &t->values.list[goal];
    if (!isnan(g->ratio.low))
        snprintf(between, sizeof between, " (%+.1f %% to %+.1f %%)", 100 * (g->ratio.low - 1),
                 100 * (g->ratio.high - 1));
    printf("  %-28s %-20s %12s %12s %+7.1f %%%s\n", name, t->goals[goal].text,
           value_words(v, g->before, before), value_words(v, g->now, now),
           100 * (g->now / g->before - 1), between);
}

// Points of which no other one is better in both goals, over all cases.
static json_t *front_of(struct tune *t)
{
    const struct fit *f = &t->cases[0].search;
    json_t *front = json_array();
    for (size_t i = 0; i < f->n_points && t->n_goals > 1; i++) {
        double a[2], b[2];
        bool beaten = false;
        if (!f->points[i]->log_mean)
            continue;
        for (int g = 0; g < 2; g++)
            a[g] = tune_score(t, f->points[i]->places, g);
        for (size_t j = 0; j < f->n_points && !beaten; j++) {
            if (j == i || !f->points[j]->log_mean)
                continue;
            for (int g = 0; g < 2; g++)
                b[g] = tune_score(t, f->points[j]->places, g);
            beaten = b[0] <= a[0] && b[1] <= a[1] && (b[0] < a[0] || b[1] < a[1] || j < i);
        }
        if (!beaten && a[0] < TUNE_BREAKS && a[1] < TUNE_BREAKS)
            json_array_append_new(front, json_pack("{s:s, s:f, s:f}", "settings", f->points[i]->key,
                                                   "first", exp(a[0]), "second", exp(a[1])));
    }
    return front;
}

static void print_front(const struct tune *t, const json_t *front)
{
    size_t i;
    const json_t *one;
    if (json_array_size(front) == 0)
        return;
    printf("\n  %-16s %-16s better in one goal only by losing in the other\n", t->goals[0].text,
           t->goals[1].text);
    json_array_foreach(front, i, one)
        printf("  %-16.3f %-16.3f %s\n", json_number_value(json_object_get(one, "first")),
               json_number_value(json_object_get(one, "second")),
               json_string_value(json_object_get(one, "settings")));
}

/* ---- settings ---- */

// The rates of the links that the first scenario's dimensions give, each once: "100Gbps, 400Gbps".
static void print_rates(const struct tune *t)
{
    const json_t *dims =
        json_object_get(json_object_get(t->cases[0].search.draft.json, "topology"), "dims");
    const json_t *dim, *link;
    const char *key, *seen[8];
    size_t i, n = 0;
    json_array_foreach(dims, i, dim) json_object_foreach((json_t *)(uintptr_t)dim, key, link)
    {
        const char *rate = json_string_value(json_object_get(link, "rate"));
        bool again = rate == NULL || n == sizeof seen / sizeof *seen;
        for (size_t k = 0; k < n && !again; k++)
            again = strcmp(seen[k], rate) == 0;
        if (again)
            continue;
        printf("%s%s", n == 0 ? " with ports of " : ", ", rate);
        seen[n++] = rate;
    }
}

static void print_settings(const struct tune *t)
{
    size_t ecn = 0;
    printf("\n ");
    for (size_t k = 0; k < t->keys.n; k++) {
        char value[UNKNOWN_TEXT];
        printf(" --set '%s=%s'", t->keys.list[k].path,
               unknown_text(&t->keys.list[k], t->best[k], value));
    }
    printf("\n");
    for (size_t k = 0; k < t->keys.n; k++) {
        char value[UNKNOWN_TEXT];
        const char *path = t->keys.list[k].path;
        if (strncmp(path, "switch.ecn.", 11) != 0)
            continue;
        if (ecn++ == 0) {
            printf("  for a switch");
            print_rates(t);
        }
        printf("%s %s %s", ecn == 1 ? ":" : ",", path + 11,
               unknown_words(&t->keys.list[k], t->best[k], value));
    }
    printf("%s", ecn > 0 ? "\n" : "");
}

/* ---- all of it ---- */

int tune_tell(struct tune *t, const struct tune_effect *effects, struct err *err)
{
    bool table = t->options->format != FORMAT_JSON && !t->options->quiet;
    json_t *gains = json_array(), *front = front_of(t);
    bool broken = tune_score(t, t->best, t->n_goals > 1 ? 0.5 : 0) >= TUNE_BREAKS;
    uint64_t runs = 0;
    for (size_t c = 0; c < t->n_cases; c++)
        runs += t->cases[c].search.runs;
    if (table)
        printf("tune: %zu key%s, %zu scenario%s, %llu runs%s\n", t->keys.n,
               t->keys.n > 1 ? "s" : "", t->n_cases, t->n_cases > 1 ? "s" : "",
               (unsigned long long)runs, t->interrupted ? "; interrupted: the best so far" : "");
    if (table && broken)
        printf("\n  no settings of these ranges keep all guards; these come nearest\n");
    if (table)
        print_keys(t, effects);
    if (table && !t->interrupted)
        printf("\n  %-28s %-20s %12s %12s   on %llu seeds that were not used\n", "scenario", "goal",
               "as it is", "best", (unsigned long long)t->check);
    for (size_t c = 0; c < t->n_cases && !t->interrupted; c++) {
        struct tune_case *one = &t->cases[c];
        struct fit_point *before = NULL, *now = NULL;
        if (!check(t, one, &before, &now))
            break;
        for (size_t g = 0; g < t->n_goals; g++) {
            struct gain gain = gain_of(t, one, before, now, g);
            if (table && c < CASES_SHOWN)
                print_gain(t, one->name, g, &gain);
            json_t *interval = isnan(gain.ratio.low)
                                   ? json_null()
                                   : json_pack("[f,f]", gain.ratio.low, gain.ratio.high);
            json_array_append_new(
                gains,
                json_pack("{s:s, s:s, s:o, s:o, s:o}", "scenario", one->name, "goal",
                          t->goals[g].text, "before",
                          isnan(gain.before) ? json_null() : json_real(gain.before), "best",
                          isnan(gain.now) ? json_null() : json_real(gain.now), "ratio", interval));
        }
    }
    if (table) {
        print_doubt(t, gains);
        print_front(t, front);
        print_settings(t);
    }
    json_t *all = json_pack("{s:I, s:b, s:b, s:o, s:o, s:o}", "runs", (json_int_t)runs,
                            "interrupted", t->interrupted, "guards_hold", !broken, "keys",
                            tune_keys_json(t, effects), "gains", gains, "front", front);
    tune_add_summary(t, all, gains);
    int status = 0;
    if (t->options->format == FORMAT_JSON)
        json_write(NULL, all);
    if (t->options->out) {
        char *path = text_format("%s/tune.json", t->options->out);
        status = json_write(path, all) != EXIT_DONE ? -1 : 0; // it has said why
        free(path);
    }
    if (t->options->file)
        status |= tune_write_scenario(t, err);
    json_decref(all);
    return status;
}
