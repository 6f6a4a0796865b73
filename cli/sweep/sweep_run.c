// SPDX-License-Identifier: MIT
// Runs the points of a sweep in workers; the parent alone writes to the store.
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/runs/simulate.h"
#include "cli/sweep/sweep_command.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/cause.h"
#include "report/rows.h"
#include "report/study/worker_pool.h"

/* ---- the worker ---- */

static int write_all(int fd, const void *bytes, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t put = write(fd, (const char *)bytes + done, n - done);
        if (put <= 0)
            return -1;
        done += (size_t)put;
    }
    return 0;
}

static json_t *values_of(const struct row *row)
{
    json_t *values = json_array();
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        json_array_append_new(values,
                              isnan(row->values[c]) ? json_null() : json_real(row->values[c]));
    return values;
}

// The rows of jobs, which follow that of the run; NULL = there are none.
static json_t *jobs_of(const struct rows *rows)
{
    json_t *jobs = rows->n > 1 ? json_array() : NULL;
    for (size_t i = 1; i < rows->n; i++)
        json_array_append_new(jobs,
                              json_pack("{s:s, s:s, s:o}", "name", rows->list[i].job, "status",
                                        rows->list[i].status, "values", values_of(&rows->list[i])));
    return jobs;
}

// What cost the most time, and the first sentences.
static json_t *reasons_of(const struct row *row)
{
    enum { SENTENCES = 3 };
    char cause[CAUSE_TEXT];
    json_t *sentences = json_array();
    for (size_t i = 0; i < SENTENCES && row_sentence(row, i); i++)
        json_array_append_new(sentences, json_string(row_sentence(row, i)));
    return json_pack("{s:s*, s:o}", "first", first_cause(row->costs, cause), "sentences",
                     sentences);
}

// A line of JSON with the figures of the run; to be freed.
static char *figures(const struct simulated *run, const struct rows *rows)
{
    const struct row *row = &rows->list[0];
    const char *reason = run->by_machine ? row_sentence(row, 0) : NULL;
    json_t *line =
        json_pack("{s:s, s:s*, s:f, s:f, s:I, s:o, s:o*, s:o}", "status",
                  reason ? "failed" : row->status, "failure", reason, "wall_s", run->wall_s,
                  "packet_hops", run->packet_hops, "bytes", (json_int_t)strlen(run->metrics),
                  "values", values_of(row), "jobs", jobs_of(rows), "reasons", reasons_of(row));
    char *text = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    return text;
}

// Write the figures, a line feed and the compressed metrics to the pipe.
static int answer(int to_parent, const struct simulated *run)
{
    struct rows rows = {0};
    size_t size;
    rows_add(&rows, &(struct row_source){.scenario = "", .policy = "", .metrics = run->metrics});
    char *line = figures(run, &rows);
    void *packed = metrics_pack(run->metrics, &size);
    int status = write_all(to_parent, line, strlen(line));
    status |= write_all(to_parent, "\n", 1);
    status |= write_all(to_parent, packed, size);
    free(packed);
    free(line);
    rows_free(&rows);
    return status;
}

struct running {
    struct sweep *sweep;
    size_t *tasks; // [task] index of the point
    size_t n;
    const char *wall_limit; // NULL = the scenario's
    /* of a calibration */
    double measured_s, expected_s;
};

static void work(void *ctx, size_t task, int to_parent)
{
    const struct running *r = ctx;
    const struct sweep *s = r->sweep;
    const struct point *point = &s->points[r->tasks[task]];
    struct err err = {0};
    // The parent removes its own files. SIGTERM ends a worker without a message, and its results so
    // far are not kept.
    signals_keep();
    if (s->set)
        result_set_leave(s->set);
    memory_share(s->options->jobs);
    struct collwire_scenario *scenario = sweep_load(s, point->position, r->wall_limit, &err);
    if (!scenario) {
        errors_print(&err);
        _exit(EXIT_BAD_USE);
    }
    struct simulated run =
        simulate_in_memory(scenario, s->options->plain, (unsigned)s->options->threads);
    bool told = run.metrics && answer(to_parent, &run) == 0;
    _exit(told ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

/* ---- the parent ---- */

// Read the result of a worker. Returns false if it is not complete.
static bool answer_read(const struct pool_end *end, json_t **line, const char **packed,
                        size_t *size)
{
    const char *feed = memchr(end->bytes, '\n', end->n_bytes);
    if (end->code != EXIT_DONE || !feed)
        return false;
    *line = json_loadb(end->bytes, (size_t)(feed - end->bytes), 0, NULL);
    *packed = feed + 1;
    *size = end->n_bytes - (size_t)(feed + 1 - end->bytes);
    return *line != NULL;
}

// A value of the line as JSON text, to be freed; NULL = there is none.
static char *text_of(const json_t *line, const char *key)
{
    return json_dumps(json_object_get(line, key), JSON_COMPACT | JSON_REAL_PRECISION(17));
}

static void store_point_fill(struct store_point *p, const json_t *line, const char *packed,
                             size_t size)
{
    const json_t *values = json_object_get(line, "values");
    p->status = json_string_value(json_object_get(line, "status"));
    p->failure = json_string_value(json_object_get(line, "failure"));
    p->wall_s = json_number_value(json_object_get(line, "wall_s"));
    p->packet_hops = json_number_value(json_object_get(line, "packet_hops"));
    for (size_t c = 0; c < ROW_COLUMNS; c++) {
        const json_t *value = json_array_get(values, c);
        p->columns[c] = json_is_number(value) ? json_number_value(value) : (double)NAN;
    }
    p->metrics = packed;
    p->metrics_size = size;
    p->metrics_bytes = (size_t)json_integer_value(json_object_get(line, "bytes"));
}

static void keep(struct sweep *s, const struct store_point *p)
{
    struct err err = {0};
    if (store_add(s->store, p, &err) != 0) {
        pool_line_clear(&s->line);
        errors_print(&err);
        fputs("collwire: the sweep ends here; what was stored is kept, and the same command "
              "runs the rest\n",
              stderr);
        s->stop = true;
    }
}

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct running *r = ctx;
    struct sweep *s = r->sweep;
    struct point *point = &s->points[r->tasks[end->task]];
    struct store_point p = {.position = point->position};
    json_t *line = NULL;
    const char *packed;
    size_t size;
    char *values = sweep_values(s, point->position), *failure = NULL;
    p.values = values;
    memcpy(p.hash, point->hash, sizeof p.hash);
    if (s->stop) {
        // nothing can be stored
    } else if (answer_read(end, &line, &packed, &size)) {
        store_point_fill(&p, line, packed, size);
        char *jobs = text_of(line, "jobs"), *reasons = text_of(line, "reasons");
        p.jobs = jobs;
        p.reasons = reasons;
        if (p.status && strcmp(p.status, "interrupted") != 0)
            keep(s, &p);
        free(jobs);
        free(reasons);
    } else if (end->signal != SIGTERM && end->code != EXIT_INTERRUPTED) {
        failure = pool_failure(end);
        if (!failure)
            failure = text_format("ended with exit code %d and without results", end->code);
        char *label = grid_label(&s->grid, point->position, NULL);
        pool_line_clear(&s->line);
        fprintf(stderr, "collwire: %s: %s\n", label, failure);
        free(label);
        p.status = "failed";
        p.failure = failure;
        for (size_t c = 0; c < ROW_COLUMNS; c++)
            p.columns[c] = (double)NAN;
        keep(s, &p);
    }
    json_decref(line);
    free(failure);
    free(values);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    struct running *r = ctx;
    pool_line_show(&r->sweep->line, p);
}

// The points that have to run, in their order.
static void tasks_choose(struct running *r)
{
    const struct sweep *s = r->sweep;
    r->tasks = memory_zeroed(s->n, sizeof *r->tasks);
    for (size_t i = 0; i < s->n; i++)
        if (!s->points[i].finished)
            r->tasks[r->n++] = i;
}

void sweep_run(struct sweep *s)
{
    struct running r = {.sweep = s};
    tasks_choose(&r);
    double *expected_s = memory_zeroed(r.n, sizeof *expected_s);
    for (size_t i = 0; i < r.n; i++)
        expected_s[i] = s->points[r.tasks[i]].expected_s;
    struct pool_ops ops = {.ctx = &r,
                           .work = work,
                           .ended = on_ended,
                           .progress = on_progress,
                           .progress_s = progress_wanted(s->options) ? POOL_PROGRESS_S : 0,
                           .expected_s = expected_s,
                           .stop = &s->stop,
                           .death_signal = SIGKILL};
    s->line.noun = "points";
    s->interrupted = ends_pool(&ops, r.n, s->options->jobs) != 0;
    pool_line_clear(&s->line);
    free(expected_s);
    free(r.tasks);
}

/* ---- calibration ---- */

enum { SAMPLES = 2 };
#define SAMPLE_S 0.3
static const char sample_wall[] = "300ms";

static void on_sample(void *ctx, const struct pool_end *end)
{
    struct running *r = ctx;
    const struct point *point = &r->sweep->points[r->tasks[end->task]];
    json_t *line = NULL;
    const char *packed;
    size_t size;
    if (answer_read(end, &line, &packed, &size)) {
        struct store_point p = {0};
        store_point_fill(&p, line, packed, size);
        if (p.packet_hops > 0 && point->expected_hops > 0) {
            r->measured_s += p.wall_s;
            r->expected_s += point->expected_s * p.packet_hops / point->expected_hops;
        }
    }
    json_decref(line);
}

void sweep_calibrate(struct sweep *s)
{
    struct running r = {.sweep = s, .wall_limit = sample_wall};
    tasks_choose(&r);
    // the points that are expected to take about as long as the limit
    for (size_t i = 0; i < r.n && i < SAMPLES; i++)
        for (size_t k = i + 1; k < r.n; k++)
            if (fabs(s->points[r.tasks[k]].expected_s - SAMPLE_S) <
                fabs(s->points[r.tasks[i]].expected_s - SAMPLE_S)) {
                size_t swapped = r.tasks[i];
                r.tasks[i] = r.tasks[k];
                r.tasks[k] = swapped;
            }
    struct pool_ops ops = {.ctx = &r, .work = work, .ended = on_sample, .death_signal = SIGKILL};
    s->interrupted = ends_pool(&ops, r.n < SAMPLES ? r.n : SAMPLES, s->options->jobs) != 0;
    if (r.measured_s > 0 && r.expected_s > 0)
        s->calibration = r.measured_s / r.expected_s;
    free(r.tasks);
}
