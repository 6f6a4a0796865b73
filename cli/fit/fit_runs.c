// SPDX-License-Identifier: MIT
// Runs of the scenario at points of the ranges: in workers, each once, and kept in the store.
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/fit/fit.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define FLOWS_MOST 10000   // listed messages of a run, for goodput and the like
#define RESIDUAL_MOST 50.0 // of a value that is 0 in only one of run and measurement

struct task {
    struct fit_point *point;
    uint64_t seed;
};

struct batch {
    struct fit *fit;
    struct task *tasks;
    size_t n;
};

/* ---- a run ---- */

static char *key_of(const struct fit *f, const double *places)
{
    struct text text;
    FILE *out = text_open(&text);
    if (f->forms)
        fputs(f->forms[(size_t)places[0]].name, out);
    for (size_t i = 0; i < f->unknowns.n; i++) {
        char value[UNKNOWN_TEXT];
        fprintf(out, "%s%s", i ? " " : "", unknown_text(&f->unknowns.list[i], places[i], value));
    }
    return text_close(out, &text);
}

static char *run_key(const struct task *t)
{
    return text_format("%s seed %llu stage %u", t->point->key, (unsigned long long)t->seed,
                       t->point->stage);
}

// The settings of a run; their texts are not freed, since the worker ends soon.
static struct options settings_of(const struct fit *f, const struct task *t)
{
    struct options sets = {0};
    const json_t *form = f->forms ? f->forms[(size_t)t->point->places[0]].set : NULL, *setting;
    size_t k;
    json_array_foreach(form, k, setting)
    {
        char *path = memory_text(json_string_value(setting)), *sign = strchr(path, '=');
        *sign = '\0';
        options_set(&sets, path, sign + 1);
    }
    for (size_t i = 0; i < f->unknowns.n; i++) {
        char value[UNKNOWN_TEXT];
        unknown_text(&f->unknowns.list[i], t->point->places[i], value);
        options_set(&sets, f->unknowns.list[i].path, memory_text(value));
    }
    options_set(&sets, "seed", text_format("%llu", (unsigned long long)t->seed));
    options_set(&sets, "explain.try", "0");
    options_set(&sets, "report.collectives_max", "0");
    return sets;
}

static bool same_job(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// A test between ranks, which is a job of its own.
static bool is_test(const char *job) { return job && *job == '='; }

// Settings with those of a run of its own that a value has.
static struct options settings_for(const struct fit *f, const struct task *t, const char *job)
{
    struct options sets = settings_of(f, t);
    bool list = json_is_array(json_object_get(f->draft.json, "workload"));
    size_t path = job ? strcspn(job, "=") : 0;
    if (job)
        options_set(&sets, text_format("workload%s%.*s", list ? "[0]" : "", (int)path, job),
                    job + path + 1);
    if (is_test(job)) // which has its own end
        options_set(&sets, "limits.sim_time", "auto");
    bool listed = false;
    for (size_t i = 0; i < f->measured.n; i++) {
        const struct observed_value *v = &f->measured.list[i];
        if (!same_job(v->job, job))
            continue;
        listed |= observed_is_of_messages(v);
        if (v->limit_ns > 0)
            options_set(&sets, "limits.sim_time", text_format("%.0fns", v->limit_ns));
    }
    options_set(&sets, "report.flows_max", text_format("%d", listed ? FLOWS_MOST : 0));
    return sets;
}

// The results of the run of the values that have this job; ends the process where it fails. NULL =
// the network cannot run this test, since no path joins the two ranks.
static json_t *run_job(const struct batch *b, size_t task, const char *job)
{
    const struct fit *f = b->fit;
    struct err err = {0};
    struct options sets = settings_for(f, &b->tasks[task], job);
    char *scenario = json_dumps(f->draft.json, 0);
    struct collwire_scenario *opened = collwire_scenario_parse(
        scenario, f->draft.folder, sets.sets, sets.n_sets, f->options->policies, messages_of(&err));
    if (!opened && is_test(job)) {
        err_free(&err);
        free(scenario);
        return NULL;
    }
    if (!opened) {
        errors_print(&err);
        _exit(EXIT_BAD_USE);
    }
    struct simulated made = simulate_in_memory(opened, f->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    if (!metrics || made.code == EXIT_INTERRUPTED)
        _exit(EXIT_NOT_COMPLETED);
    free(scenario);
    return metrics;
}

static void work(void *ctx, size_t task, int to_parent)
{
    const struct batch *b = ctx;
    const struct fit *f = b->fit;
    const struct observed_value *list = f->measured.list;
    double *values = memory_zeroed(f->measured.n + 1, sizeof *values);
    bool *known = memory_zeroed(f->measured.n + 1, sizeof *known);
    struct text text;
    signals_keep();
    signals_install();
    memory_share(f->options->jobs);
    if (f->forms && !freopen("/dev/null", "w", stderr)) // a form that the network cannot have
        _exit(EXIT_NOT_COMPLETED);                      // is left out, and nothing is said
    for (size_t i = 0; i < f->measured.n; i++) {
        if (known[i])
            continue;
        if (list[i].later > f->stage && list[i].job) {
            values[i] = NAN;
            continue;
        }
        json_t *metrics = run_job(b, task, list[i].job);
        for (size_t k = i; k < f->measured.n; k++)
            if (same_job(list[i].job, list[k].job)) {
                values[k] = metrics ? observed_predict(&list[k], metrics) : (double)NAN;
                known[k] = true;
            }
        json_decref(metrics);
    }
    FILE *out = text_open(&text);
    for (size_t i = 0; i < f->measured.n; i++)
        fprintf(out, "%.17g ", values[i]);
    char *told = text_close(out, &text);
    size_t length = strlen(told);
    _exit(write(to_parent, told, length) == (ssize_t)length ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

/* ---- what has run ---- */

static void keep(struct fit *f, const char *key, json_t *values)
{
    json_object_set_new(f->known, key, values);
    if (!f->store || f->not_kept)
        return;
    FILE *out = fopen(f->store, "a");
    json_t *line =
        json_pack("{s:s, s:s, s:O}", "of", f->scenario_mark, "key", key, "values", values);
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    bool good = out && fprintf(out, "%s\n", text) > 0;
    if (out)
        good = fclose(out) == 0 && good;
    if (!good) {
        pool_line_clear(&f->line);
        fprintf(stderr, "collwire: %s: runs cannot be kept from now on: %s\n", f->store,
                strerror(errno));
        f->not_kept = true;
    }
    free(text);
    json_decref(line);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct batch *b = ctx;
    struct fit *f = b->fit;
    if (end->code != EXIT_DONE) {
        f->interrupted |= (end->code == EXIT_BAD_USE && !f->forms) || // with its errors
                          end->code == EXIT_INTERRUPTED;
        if (end->code == EXIT_INTERRUPTED)
            ends_note();
        return;
    }
    const char *at = end->bytes;
    json_t *values = json_array();
    for (size_t i = 0; i < f->measured.n; i++) {
        char *next;
        double value = strtod(at, &next);
        at = next;
        json_array_append_new(values, isnan(value) ? json_null() : json_real(value));
    }
    char *key = run_key(&b->tasks[end->task]);
    keep(f, key, values);
    free(key);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct batch *b = ctx;
    pool_line_show(&b->fit->line, p);
}

/* ---- points ---- */

static struct fit_point *point_of(struct fit *f, const double *places)
{
    char *key = key_of(f, places);
    for (size_t i = 0; i < f->n_points; i++)
        if (f->points[i]->stage == f->stage && strcmp(f->points[i]->key, key) == 0) {
            free(key);
            return f->points[i];
        }
    struct fit_point *p = memory_zeroed(1, sizeof *p);
    memcpy(p->places, places, sizeof p->places);
    p->key = key;
    p->stage = f->stage;
    if (f->n_points == f->cap_points)
        f->points = memory_grow(f->points, &f->cap_points, sizeof *f->points);
    f->points[f->n_points++] = p;
    return p;
}

// Take the values of all seeds together. Returns false if a run is missing.
static bool point_fill(struct fit *f, struct fit_point *p)
{
    if (p->log_mean || !p->asked)
        return p->log_mean != NULL;
    double *sum = memory_zeroed(f->measured.n, sizeof *sum),
           *squares = memory_zeroed(f->measured.n, sizeof *squares), n = (double)f->seeds;
    bool whole = true;
    for (uint64_t s = 0; s < f->seeds && whole; s++) {
        const struct task t = {p, f->first_seed + s + 1};
        char *key = run_key(&t);
        const json_t *values = json_object_get(f->known, key);
        free(key);
        whole = values != NULL;
        for (size_t i = 0; i < f->measured.n && whole; i++) {
            const json_t *value = json_array_get(values, i);
            double log_value = json_is_number(value) ? log(json_number_value(value)) : (double)NAN;
            sum[i] += log_value;
            squares[i] += log_value * log_value;
        }
    }
    if (!whole) {
        free(sum);
        free(squares);
        return false;
    }
    for (size_t i = 0; i < f->measured.n; i++) {
        sum[i] /= n;
        double var = squares[i] / n - sum[i] * sum[i];
        squares[i] = n > 1 && var > 0 ? sqrt(var / (n - 1)) : 0;
    }
    p->log_mean = sum;
    p->log_error = squares;
    p->seeds = f->seeds;
    return true;
}

void fit_run(struct fit *f, size_t n, double places[][UNKNOWNS_MOST], struct fit_point **list)
{
    struct batch b = {.fit = f, .tasks = memory_zeroed(n * f->seeds, sizeof *b.tasks)};
    for (size_t i = 0; i < n; i++) {
        struct fit_point *p = list[i] = point_of(f, places[i]);
        if (p->asked || f->interrupted || f->runs + f->seeds > f->budget)
            continue;
        p->asked = true;
        f->runs += f->seeds; // also those of an earlier fit, so that it goes on as it would have
        for (uint64_t s = 0; s < f->seeds; s++) {
            const struct task t = {p, f->first_seed + s + 1};
            char *key = run_key(&t);
            if (!json_object_get(f->known, key))
                b.tasks[b.n++] = t;
            free(key);
        }
    }
    struct pool_ops ops = {.ctx = &b,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = progress_wanted(f->options) ? POOL_PROGRESS_S : 0,
                           .stop = &f->interrupted,
                           .death_signal = SIGKILL};
    if (b.n > 0 && !f->interrupted)
        f->interrupted |= ends_pool(&ops, b.n, f->options->jobs) != 0;
    for (size_t i = 0; i < n; i++)
        if (!point_fill(f, list[i]))
            list[i] = NULL;
    free(b.tasks);
}

void fit_deepen(struct fit *f, size_t n, struct fit_point **list, uint64_t seeds)
{
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n + 1, sizeof *places);
    uint64_t before = f->seeds;
    for (size_t i = 0; i < n; i++) {
        struct fit_point *p = list[i];
        memcpy(places[i], p->places, sizeof p->places);
        if (p->seeds >= seeds)
            continue;
        f->runs -= p->seeds; // which count among the more
        free(p->log_mean);
        free(p->log_error);
        p->log_mean = p->log_error = NULL;
        p->asked = false;
    }
    f->seeds = seeds;
    fit_run(f, n, places, list);
    f->seeds = before;
    free(places);
}

double fit_value(const struct fit *f, const struct fit_point *p, uint64_t seed, size_t value)
{
    const struct task t = {(struct fit_point *)(uintptr_t)p, seed};
    char *key = run_key(&t);
    const json_t *found = json_array_get(json_object_get(f->known, key), value);
    free(key);
    return json_is_number(found) ? json_number_value(found) : (double)NAN;
}

void fit_points_free(struct fit *f)
{
    for (size_t i = 0; i < f->n_points; i++) {
        free(f->points[i]->log_mean);
        free(f->points[i]->log_error);
        free(f->points[i]->key);
        free(f->points[i]);
    }
    free(f->points);
}

/* ---- misfit ---- */

double fit_residual(const struct fit *f, const struct fit_point *p, size_t value)
{
    const struct observed_value *v = &f->measured.list[value];
    double mean = p->log_mean[value], error = p->log_error[value];
    if (isnan(mean))
        return RESIDUAL_MOST;
    if (v->value == 0)
        return isinf(mean) ? 0 : fmin(RESIDUAL_MOST, sqrt(exp(mean)));
    if (isinf(mean))
        return -fmin(RESIDUAL_MOST, 1 / v->relative);
    return (mean - log(v->value)) / sqrt(v->relative * v->relative + error * error);
}

double fit_misfit(const struct fit *f, const struct fit_point *p)
{
    double sum = 0;
    for (size_t i = 0; i < f->measured.n; i++) {
        double r = fit_residual(f, p, i);
        sum += f->measured.list[i].held_out ? 0 : r * r;
    }
    return sum;
}
