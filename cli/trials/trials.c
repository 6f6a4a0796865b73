// SPDX-License-Identifier: MIT
#include "cli/trials/trials.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/option_take.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "report/study/worker_pool.h"

struct pool {
    struct trials *trials;
    char *scenario; // of the run, as text
    struct pool_line line;
};

size_t trial_jobs(const json_t *metrics)
{
    return json_array_size(json_object_get(metrics, "jobs"));
}

json_int_t trial_before_ns(const json_t *metrics, size_t job)
{
    const json_t *one = json_array_get(json_object_get(metrics, "jobs"), job);
    const char *status = json_string_value(json_object_get(one, "status"));
    const json_t *time = json_object_get(one, "time_ns");
    bool ended = status && strcmp(status, "completed") == 0 && json_is_integer(time);
    return ended ? json_integer_value(time) : -1;
}

json_int_t trials_before_ns(const struct trials *t, size_t job)
{
    return t->before_ns ? t->before_ns[job] : trial_before_ns(t->metrics, job);
}

/* ---- a trial ---- */

#define EVENTS_PER_HOP 3 // a packet-hop has one to two events: about twice the run's work
#define EVENTS_LEAST (1000 * 1000ULL)       // for runs without packets
#define EVENTS_HYBRID (60 * 1000 * 1000ULL) // of a trial on the hybrid network, at most: seconds

void trial_settings(struct options *sets)
{
    options_set(sets, "capture", "[]");
    options_set(sets, "report", "{\"flows_max\":0,\"collectives_max\":0}");
    options_set(sets, "memory.fit", "\"off\"");
    options_set(sets, "explain.try", "0");
    options_set(sets, "limits.wall", "\"auto\"");
}

// The settings of a trial. Their texts are not freed, since the worker ends soon.
static struct options settings_of(const struct trial *one, const json_t *metrics, bool hybrid)
{
    struct options sets = {0};
    json_int_t hops = json_integer_value(json_object_get(metrics, "packet_hops"));
    unsigned long long events = EVENTS_PER_HOP * (unsigned long long)hops + EVENTS_LEAST;
    if (hybrid) {
        unsigned long long half = events / 4; // a packet-hop has 1.5 events
        events = half < EVENTS_HYBRID ? half : EVENTS_HYBRID;
        options_set(&sets, "network", "hybrid");
    }
    for (size_t i = 0; i < json_array_size(one->set); i++)
        option_set(&sets, memory_text(json_string_value(json_array_get(one->set, i))));
    trial_settings(&sets);
    options_set(&sets, "engine", "null"); // which scenarios had up to version 0.3.0
    options_set(&sets, "limits.events", text_format("%llu", events));
    return sets;
}

// The job that settings remove, as in workload[1]=null; SIZE_MAX = none.
static size_t removed_job(const json_t *settings)
{
    unsigned removed;
    int end = 0;
    const char *first = json_string_value(json_array_get(settings, 0));
    bool removes = first && sscanf(first, "workload[%u]=null%n", &removed, &end) == 1 && end > 0;
    return removes ? removed : SIZE_MAX;
}

// In the worker: write how the trial ended and the times of its jobs to the pipe.
static void work(void *ctx, size_t task, int to_parent)
{
    const struct pool *pool = ctx;
    const struct trials *t = pool->trials;
    struct err err = {0};
    struct text text;
    signals_keep();
    signals_install();
    memory_share(t->options->jobs);
    struct options sets = settings_of(&t->list[task], t->metrics, t->before_ns != NULL);
    struct collwire_scenario *scenario = collwire_scenario_parse(
        pool->scenario, t->folder, sets.sets, sets.n_sets, t->options->policies, messages_of(&err));
    err_free(&err);
    if (!scenario)
        _exit(EXIT_BAD_USE);
    struct simulated made = simulate_in_memory(scenario, t->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    bool done = made.code == EXIT_DONE && metrics;
    FILE *out = text_open(&text);
    fprintf(out, "%d", done ? TRIAL_DONE : made.limited ? TRIAL_CUT : TRIAL_FAILED);
    for (size_t j = 0; j < trial_jobs(metrics); j++)
        fprintf(out, " %lld", (long long)trial_before_ns(metrics, j));
    char *told = text_close(out, &text);
    size_t length = strlen(told);
    _exit(write(to_parent, told, length) == (ssize_t)length ? made.code : EXIT_NOT_COMPLETED);
}

static void read_end(struct trial *one, const char *text, size_t n_jobs)
{
    char *at;
    size_t removed = removed_job(one->set);
    one->end = (int)strtol(text, &at, 10);
    for (size_t j = 0; j < n_jobs; j++)
        one->times_ns[j] = j == removed || *at == '\0' ? -1 : strtoll(at, &at, 10);
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct pool *pool = ctx;
    struct trial *one = &pool->trials->list[end->task];
    if (end->n_bytes > 0)
        read_end(one, end->bytes, trial_jobs(pool->trials->metrics));
    else if (end->code == EXIT_BAD_USE)
        one->end = TRIAL_REFUSED;
    else
        one->end = TRIAL_FAILED;
    if (end->code == EXIT_INTERRUPTED)
        one->end = TRIAL_NOT_RUN;
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct pool *pool = ctx;
    pool_line_show(&pool->line, p);
}

/* ---- all of them ---- */

int trials_run(struct trials *t)
{
    struct pool pool = {.trials = t,
                        .scenario = json_dumps(json_object_get(t->metrics, "scenario"), 0)};
    struct pool_ops ops = {.ctx = &pool,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = progress_wanted(t->options) ? POOL_PROGRESS_S : 0,
                           .death_signal = SIGKILL};
    for (size_t i = 0; i < t->n; i++) {
        t->list[i].times_ns = memory_zeroed(trial_jobs(t->metrics) + 1, sizeof(json_int_t));
        for (size_t j = 0; j < trial_jobs(t->metrics); j++)
            t->list[i].times_ns[j] = -1;
    }
    pool.line.noun = "trials";
    signals_phase("trying what costs time");
    int ended = t->n > 0 ? ends_pool(&ops, t->n, t->options->jobs) : 0;
    pool_line_clear(&pool.line);
    free(pool.scenario);
    return ended;
}

int trials_on_hybrid(struct trials *t)
{
    json_t *none = json_array();
    size_t jobs = trial_jobs(t->metrics);
    struct trial base = {.set = none};
    struct trials one = *t;
    t->before_ns = one.before_ns = memory_zeroed(jobs + 1, sizeof *t->before_ns);
    one.list = &base;
    one.n = 1;
    trials_run(&one);
    for (size_t j = 0; j < jobs && base.times_ns; j++)
        t->before_ns[j] = base.times_ns[j];
    free(base.times_ns);
    json_decref(none);
    return base.end;
}

void trials_free(struct trials *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->list[i].times_ns);
    free(t->list);
    free(t->before_ns);
    *t = (struct trials){0};
}
