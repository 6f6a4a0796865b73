// SPDX-License-Identifier: MIT
#include "cli/runs/verify.h"

#include <jansson.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/replaced.h"
#include "cli/results/result_set.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "collwire/collwire.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/study/worker_pool.h"

/* ---- remedy ---- */

struct remedy {
    struct collwire_setting *sets; // owned, and so are the texts
    size_t n;
};

static void remedy_add(struct remedy *remedy, const char *path, const char *value)
{
    remedy->sets = memory_resize(remedy->sets, remedy->n + 1, sizeof *remedy->sets);
    remedy->sets[remedy->n++] = (struct collwire_setting){memory_text(path), memory_text(value)};
}

static void remedy_free(struct remedy *remedy)
{
    for (size_t i = 0; i < remedy->n; i++) {
        free((char *)(uintptr_t)remedy->sets[i].path);
        free((char *)(uintptr_t)remedy->sets[i].value);
    }
    free(remedy->sets);
}

// Add a setting of an object below `owner`, whose path is `prefix`; of each item if it is a list.
static void add_each(struct remedy *remedy, const json_t *owner, const char *prefix,
                     const char *key, const char *rest, const char *value)
{
    size_t n = json_array_size(json_object_get(owner, key));
    for (size_t i = 0; i < n || (i == 0 && n == 0); i++) {
        char *path = n > 0 ? text_format("%s%s[%zu]%s", prefix, key, i, rest)
                           : text_format("%s%s%s", prefix, key, rest);
        remedy_add(remedy, path, value);
        free(path);
    }
}

static bool is_inherited(const char *key)
{
    static const char *const keys[] = {"switch", "nic", "transport", "cc"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void add_setting(struct remedy *remedy, const json_t *scenario, const char *path,
                        const char *value)
{
    const json_t *dims = json_object_get(json_object_get(scenario, "topology"), "dims"), *dim;
    size_t length = strcspn(path, ".["), i;
    char *key = text_format("%.*s", (int)length, path);
    if (!is_inherited(key)) {
        remedy_add(remedy, path, value);
        free(key);
        return;
    }
    add_each(remedy, scenario, "", key, path + length, value);
    json_array_foreach(dims, i, dim)
    {
        char *prefix = text_format("topology.dims[%zu].", i);
        if (json_object_get(dim, key))
            add_each(remedy, dim, prefix, key, path + length, value);
        free(prefix);
    }
    free(key);
}

// The settings of a reason (texts PATH=VALUE, `reasons[].remedy`) for a resolved scenario. A
// setting of `switch`, `nic`, `transport` or `cc` also changes the dimensions that have their own,
// and every item where these are lists.
static struct remedy remedy_of(const json_t *scenario, const json_t *settings)
{
    struct remedy remedy = {0};
    for (size_t i = 0; i < json_array_size(settings); i++) {
        char *path = memory_text(json_string_value(json_array_get(settings, i)));
        char *value = strchr(path, '=');
        if (value != NULL) {
            *value++ = '\0';
            add_setting(&remedy, scenario, path, value);
        }
        free(path);
    }
    return remedy;
}

/* ---- verify ---- */

// A run without a cause.
struct trial {
    const json_t *reason;
    struct remedy remedy;
    json_int_t before_ns, time_ns; // of what ended last in the job; -1 = it did not end
    char *failure;                 // why there is no time; NULL = unknown
};

struct verification {
    const struct options *options;
    const char *dir, *folder; // folder: of the files that the scenario names
    const json_t *metrics;
    char *scenario; // of the run, as text
    struct trial *list;
    size_t n;
    struct pool_line line;
};

/* ---- what is run ---- */

// The job whose time a reason is about.
static size_t job_of(const json_t *reason)
{
    return (size_t)json_integer_value(json_object_get(reason, "job"));
}

// The number of a job without the job that the settings remove.
static size_t job_without(size_t job, const json_t *remedy)
{
    unsigned removed;
    int end = 0;
    const char *first = json_string_value(json_array_get(remedy, 0));
    if (first && sscanf(first, "workload[%u]=null%n", &removed, &end) == 1 && end > 0 &&
        removed < job)
        return job - 1;
    return job;
}

// The time of what ended last in the job: of its last collective, iteration, flow or program.
static json_int_t time_of(const json_t *metrics, size_t job)
{
    const json_t *slowest = json_object_get(metrics, "slowest");
    const json_t *one = json_array_get(json_object_get(metrics, "jobs"), job);
    const char *status = json_string_value(json_object_get(one, "status"));
    if (!status || strcmp(status, "completed") != 0)
        return -1;
    if (json_integer_value(json_object_get(slowest, "job")) == (json_int_t)job)
        return json_integer_value(json_object_get(slowest, "total_ns"));
    return json_integer_value(json_object_get(one, "time_ns"));
}

static void add_trial(struct verification *v, const json_t *reason)
{
    const json_t *remedy = json_object_get(reason, "remedy");
    if (json_array_size(remedy) == 0)
        return;
    const json_t *scenario = json_object_get(v->metrics, "scenario");
    struct trial one = {.reason = reason,
                        .remedy = remedy_of(scenario, remedy),
                        .before_ns = time_of(v->metrics, job_of(reason)),
                        .time_ns = -1};
    remedy_add(&one.remedy, "capture", "[]");
    remedy_add(&one.remedy, "engine", "null");        // which scenarios had up to version 0.3.0
    remedy_add(&one.remedy, "memory.fit", "\"off\""); // a cause's cost in time, whatever it needs
    v->list = memory_resize(v->list, v->n + 1, sizeof *v->list);
    v->list[v->n++] = one;
}

/* ---- running ---- */

// In the worker: write the time as text to the pipe.
static void work(void *ctx, size_t task, int to_parent)
{
    const struct verification *v = ctx;
    const struct trial *one = &v->list[task];
    struct err err = {0};
    signals_keep();
    signals_install();
    memory_share(v->options->jobs);
    struct collwire_scenario *scenario =
        collwire_scenario_parse(v->scenario, v->folder, one->remedy.sets, one->remedy.n,
                                v->options->policies, messages_of(&err));
    err_drop_warnings(&err);
    errors_print(&err);
    if (!scenario)
        _exit(EXIT_BAD_USE);
    struct simulated made = simulate_in_memory(scenario, v->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    size_t job = job_without(job_of(one->reason), json_object_get(one->reason, "remedy"));
    char *text = text_format("%lld", (long long)time_of(metrics, job));
    bool told = write(to_parent, text, strlen(text)) == (ssize_t)strlen(text);
    _exit(told ? made.code : EXIT_NOT_COMPLETED);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct verification *v = ctx;
    struct trial *one = &v->list[end->task];
    one->failure = pool_failure(end);
    if (end->n_bytes > 0 && end->code == EXIT_DONE)
        one->time_ns = strtoll(end->bytes, NULL, 10);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct verification *v = ctx;
    pool_line_show(&v->line, p);
}

static void run_all(struct verification *v)
{
    bool shows = progress_wanted(v->options);
    struct pool_ops ops = {.ctx = v,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = shows ? POOL_PROGRESS_S : 0,
                           .death_signal = SIGKILL};
    v->line.noun = "runs";
    signals_phase("verifying");
    ends_say("causes whose run has not ended have no result");
    ends_pool(&ops, v->n, v->options->jobs);
    pool_line_clear(&v->line);
}

/* ---- results ---- */

static json_int_t stated_ns(const struct trial *one)
{
    const json_t *stated = json_object_get(one->reason, "saving_ns");
    return json_is_integer(stated) ? json_integer_value(stated) : -1;
}

static json_t *document(const struct verification *v)
{
    json_t *list = json_array();
    for (size_t i = 0; i < v->n; i++) {
        const struct trial *one = &v->list[i];
        json_t *entry =
            json_pack("{s:O, s:O, s:O, s:O}", "kind", json_object_get(one->reason, "kind"),
                      "sentence", json_object_get(one->reason, "sentence"), "remedy",
                      json_object_get(one->reason, "remedy"), "stated_ns",
                      json_object_get(one->reason, "saving_ns"));
        bool known = one->time_ns >= 0;
        json_object_set_new(entry, "job", json_integer((json_int_t)job_of(one->reason)));
        json_object_set_new(entry, "before_ns", json_integer(one->before_ns));
        json_object_set_new(entry, "time_ns", known ? json_integer(one->time_ns) : json_null());
        json_object_set_new(entry, "saved_ns",
                            known ? json_integer(one->before_ns - one->time_ns) : json_null());
        json_array_append_new(list, entry);
    }
    return json_pack("{s:s, s:o}", "schema", "collwire.verified/1", "causes", list);
}

static const char *saving_text(json_int_t ns, char *text)
{
    char time[UNIT_TEXT];
    if (ns < 0)
        snprintf(text, 2 * UNIT_TEXT, "%s more", human_time(-ns * PS_PER_NS, time));
    else
        snprintf(text, 2 * UNIT_TEXT, "%s", human_time(ns * PS_PER_NS, time));
    return text;
}

static void print_settings(const json_t *remedy, size_t width)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs("without it:", out);
    for (size_t i = 0; i < json_array_size(remedy); i++)
        fprintf(out, " --set '%s'", json_string_value(json_array_get(remedy, i)));
    char *line = text_close(out, &text);
    fputs("  ", stdout);
    terminal_wrap(stdout, line, 2, 4, width);
    free(line);
}

static void print_trials(const struct verification *v, size_t width)
{
    char stated[2 * UNIT_TEXT], saved[2 * UNIT_TEXT], time[UNIT_TEXT];
    char before[UNIT_TEXT];
    printf("%-18s %12s %12s %12s %12s\n", "cause", "stated", "saved", "time", "before");
    for (size_t i = 0; i < v->n; i++) {
        const struct trial *one = &v->list[i];
        json_int_t figure = stated_ns(one);
        bool known = one->time_ns >= 0;
        printf("%-18s %12s %12s %12s %12s\n",
               json_string_value(json_object_get(one->reason, "kind")),
               figure < 0 ? "-" : saving_text(figure, stated),
               known ? saving_text(one->before_ns - one->time_ns, saved) : "-",
               known ? human_time(one->time_ns * PS_PER_NS, time) : "no result",
               human_time(one->before_ns * PS_PER_NS, before));
        print_settings(json_object_get(one->reason, "remedy"), width);
        if (one->failure)
            fprintf(stderr, "collwire: %s\n", one->failure);
    }
}

static int finish(const struct verification *v, size_t width)
{
    struct err err = {0};
    json_t *verified = document(v);
    print_trials(v, width);
    int status = result_set_add_json(v->dir, "verified.json", verified, &err);
    int code = status == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED;
    errors_print(&err);
    for (size_t i = 0; i < v->n; i++)
        if (v->list[i].time_ns < 0)
            code = EXIT_NOT_COMPLETED;
    json_decref(verified);
    return code;
}

static void verification_free(struct verification *v)
{
    for (size_t i = 0; i < v->n; i++) {
        remedy_free(&v->list[i].remedy);
        free(v->list[i].failure);
    }
    free(v->list);
    free(v->scenario);
}

int verify_run(const struct options *given, const char *dir, const json_t *metrics)
{
    struct options o = *given;
    json_t *run = result_set_json(dir, "run.json");
    const char *folder = json_string_value(json_object_get(run, "folder"));
    const json_t *reasons = json_object_get(metrics, "reasons");
    struct verification v = {
        .options = &o, .dir = dir, .folder = folder ? folder : ".", .metrics = metrics};
    options_jobs(&o);
    v.scenario = json_dumps(json_object_get(metrics, "scenario"), 0);
    for (size_t i = 0; i < json_array_size(reasons) && v.n < o.verify; i++)
        add_trial(&v, json_array_get(reasons, i));
    const char *status = json_string_value(json_object_get(metrics, "status"));
    int code = EXIT_DONE;
    if (!status || strcmp(status, "completed") != 0) {
        path_print(stderr, "collwire: %s: the run did not complete: there is no time to compare\n",
                   dir);
        code = EXIT_BAD_USE;
    } else if (v.n == 0) {
        puts("No cause of this run is removed by a setting.");
    } else {
        run_all(&v);
        code = finish(&v, terminal_width(stdout));
    }
    verification_free(&v);
    json_decref(run);
    return code;
}
