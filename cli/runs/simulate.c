// SPDX-License-Identifier: MIT
// Builds a simulation, runs it and writes the results.
#include "cli/runs/simulate.h"
#include "engine/base/clock.h"

#include <stdlib.h>
#include <string.h>

#include "cli/options/options.h"
#include "cli/processes/process_group.h"
#include "cli/results/replaced.h"
#include "cli/results/result_set.h"
#include "cli/runs/run_watch.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/plugin_watch.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/loop.h"

#define PROGRESS_EVERY_S 0.5
#define ESTIMATE_FROM_S 5 // wall time: the estimate of a longer run is shown before it begins

struct progress_line {
    double started_s; // on the monotonic clock
    bool shows;       // a line on the terminal is written again and again
    bool shown;
};

// Also called on SIGUSR1, for one line where none is shown otherwise.
static int show_progress(void *ctx, const struct collwire_progress *p)
{
    struct progress_line *line = ctx;
    if (!processes_writes())
        return 0;
    double wall_s = monotonic_s() - line->started_s;
    char now[UNIT_TEXT], eta[CLOCK_TEXT] = "-";
    line->shown = line->shows;
    if (p->done > 0)
        clock_text(wall_s * (1 - p->done) / p->done, eta);
    fprintf(stderr, "%s%5.1f %%  %s simulated, %.2f M packet-hops/s, ETA %s%s",
            line->shows ? "\r" : "collwire: ", 100 * p->done, human_time(p->now_ps, now),
            (double)p->packet_hops / wall_s / 1e6, eta, line->shows ? "   " : "\n");
    fflush(stderr);
    return 0;
}

/* ---- before the run ---- */

struct collwire_sim *simulation_build(const struct collwire_scenario *scenario,
                                      struct collwire_cost *cost, struct err *err)
{
    *cost = (struct collwire_cost){.bytes = sizeof *cost};
    signals_phase("building the network");
    struct collwire_sim *sim = collwire_sim_new(scenario, memory_sharers(), messages_of(err));
    if (sim)
        collwire_sim_cost(sim, cost);
    return sim;
}

static void show_cost(const struct collwire_sim *sim, const struct collwire_cost *cost)
{
    if (cost->wall_s <= ESTIMATE_FROM_S)
        return;
    char *text = collwire_sim_cost_text(sim, "          ");
    fputs(text, stderr);
    free(text);
}

// Capture `i` of the scenario that is written to a file; NULL = there is none.
static const char *capture_file(const struct collwire_scenario *scenario, size_t i)
{
    const char *file = collwire_scenario_capture(scenario, i);
    return file && strcmp(file, "-") != 0 ? file : NULL;
}

// Claim the names of all files that the run may write.
static int claim_files(struct result_set *set, const struct collwire_scenario *scenario,
                       const struct collwire_sim *sim, struct err *err)
{
    int status = 0;
    const char *name;
    for (size_t i = 0; (name = collwire_sim_file(sim, i)) != NULL; i++)
        status |= result_set_claim(set, name, err);
    if (collwire_scenario_capture(scenario, 0))
        status |= result_set_claim(set, "qpmap.csv", err);
    for (size_t c = 0; collwire_scenario_capture(scenario, c); c++)
        if (capture_file(scenario, c))
            status |= result_set_claim(set, capture_file(scenario, c), err);
    return status;
}

// Open the set for the files of a run, and its captures. Of several processes only one has files.
static bool open_files(const struct collwire_scenario *scenario, const char *dir,
                       struct collwire_sim *sim, struct result_set **set, struct err *err)
{
    if (!processes_writes()) // it opens no file, and hands the packets of captures to process 0
        return collwire_sim_open_captures(sim, "", dir, messages_of(err)) == 0;
    return (*set = result_set_open(dir, err)) != NULL &&
           claim_files(*set, scenario, sim, err) == 0 &&
           collwire_sim_open_captures(sim, result_set_staging(*set), dir, messages_of(err)) == 0;
}

static struct collwire_run how_to_run(const struct simulation_options *o)
{
    return (struct collwire_run){.bytes = sizeof(struct collwire_run),
                                 .pace_ps = o->pace_ps,
                                 .plain = o->plain,
                                 .threads = o->threads,
                                 .tiles = o->tiles,
                                 .together = o->together,
                                 .processes = processes_shared()};
}

// True if the processes have the same to simulate, and can share it. All find the same, so
// process 0 says why not.
static bool agree(const struct collwire_scenario *scenario, const struct simulation_options *o,
                  struct collwire_sim *sim, struct err *err)
{
    struct processes_settings settings = {scenario, o->threads,  o->tiles,
                                          o->plain, o->together, o->pace_ps};
    if (!processes_agree(&settings))
        return false;
    const struct collwire_run how = how_to_run(o);
    if (!how.processes || collwire_sim_share(sim, &how, messages_of(err)) == 0)
        return true;
    if (!processes_writes())
        err_free(err);
    return false;
}

// Make a simulation that is ready to run, and the set for its files; NULL with errors.
static struct collwire_sim *prepare(const struct collwire_scenario *scenario, const char *dir,
                                    const struct simulation_options *options,
                                    struct result_set **set, struct err *err)
{
    struct collwire_cost cost;
    bool show = options->show_progress;
    signals_show(show);
    struct collwire_sim *sim = simulation_build(scenario, &cost, err);
    signals_show(false);
    if (!sim || !agree(scenario, options, sim, err)) {
        collwire_sim_free(sim);
        return NULL;
    }
    if (show)
        show_cost(sim, &cost);
    if (processes_ready(open_files(scenario, dir, sim, set, err)))
        return sim;
    collwire_sim_free(sim);
    return NULL;
}

/* ---- the run ---- */

static struct collwire_sim *volatile running;

static void on_interrupt(int number)
{
    (void)number;
    processes_asked_to_end();
    collwire_sim_cancel(running);
    run_watch_interrupted();
}

static void on_status(int number)
{
    (void)number;
    collwire_sim_report(running);
}

static int is_memory_low(void *ctx)
{
    (void)ctx;
    return memory_failed();
}

// Interruptions end the run with its results so far, and SIGUSR1 prints its progress.
static enum collwire_status run(struct collwire_sim *sim, struct collwire_run *how, struct err *err)
{
    memory_guard();
    how->bytes = sizeof *how;
    how->memory_low = is_memory_low;
    running = sim;
    signals_phase("simulating");
    plugin_watch_begin();
    signals_during(on_interrupt, on_status);
    enum collwire_status status = run_watch(sim, how, messages_of(err));
    signals_phase("writing the results");
    if (processes_writes()) // the others wait for process 0, which may write what it has
        signals_after();
    return status;
}

/* ---- after the run ---- */

struct staged {
    const struct collwire_sim *sim;
    const char *name;
};

static bool write_staged(void *ctx, FILE *out)
{
    const struct staged *file = ctx;
    return simulation_write(file->sim, file->name, false, out);
}

static int stage_files(struct result_set *set, const struct collwire_scenario *scenario,
                       struct collwire_sim *sim, struct err *err)
{
    struct staged file = {.sim = sim};
    int status = 0;
    for (size_t i = 0; (file.name = collwire_sim_file(sim, i)) != NULL; i++)
        if (strcmp(file.name, "run.json") != 0)
            status |= result_set_stream(set, file.name, write_staged, &file, err);
    if (collwire_scenario_capture(scenario, 0) && status == 0) {
        char *path = text_format("%s/qpmap.csv", result_set_staging(set));
        status |= collwire_sim_write_flows(sim, path, messages_of(err));
        free(path);
    }
    return status;
}

// Text of run.json, with the scenario and the folder of its files; takes `text`.
static char *with_scenario(char *text, const struct collwire_scenario *scenario, const json_t *mark)
{
    json_t *run = json_loads(text, 0, NULL);
    char *folder = realpath(scenario_dir(scenario_of(scenario)), NULL);
    json_object_set(run, "scenario", (json_t *)(uintptr_t)mark);
    json_object_set_new(run, "folder", folder ? json_string(folder) : json_null());
    free(folder);
    free(text);
    text = json_dumps(run, JSON_REAL_PRECISION(10));
    json_decref(run);
    return text;
}

// If the disk is full, drop the captures, so that there is room for the metrics.
static int write_files(struct result_set *set, const struct collwire_scenario *scenario,
                       struct collwire_sim *sim, const json_t *mark, struct err *err)
{
    int status = stage_files(set, scenario, sim, err);
    bool dropped = false;
    for (size_t c = 0; status != 0 && collwire_scenario_capture(scenario, c); c++)
        if (capture_file(scenario, c)) {
            result_set_drop(set, capture_file(scenario, c));
            dropped = true;
        }
    if (dropped && (status = stage_files(set, scenario, sim, err)) == 0)
        err_add(err, "capture", "the captures were left out to make room for the other results");
    char *text = status == 0 ? collwire_sim_result(sim, "run.json") : NULL;
    if (text && (text = with_scenario(text, scenario, mark)) != NULL)
        status = result_set_commit(set, text, err);
    free(text);
    return status;
}

static int exit_code(enum collwire_status status, bool good)
{
    if (status == COLLWIRE_INTERRUPTED) {
        ends_note();
        if (good)
            ends_say("the results so far are kept");
        return EXIT_INTERRUPTED;
    }
    return status == COLLWIRE_COMPLETED && good ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static char *brief_metrics(const struct collwire_sim *sim)
{
    struct text text;
    FILE *out = text_open(&text);
    simulation_write(sim, "metrics.json", true, out);
    return text_close(out, &text);
}

struct finish {
    enum collwire_status status;
    const char *dir;
    bool note_replaced;
};

static void finish(struct collwire_sim *sim, struct result_set *set,
                   const struct collwire_scenario *scenario, const struct finish *how,
                   struct simulated *made, struct err *err)
{
    memcpy(made->id, result_set_id(set), sizeof made->id);
    made->metrics = brief_metrics(sim);
    for (size_t c = 0; collwire_scenario_capture(scenario, c); c++)
        if (collwire_sim_capture_failed(sim, c) && capture_file(scenario, c))
            result_set_drop(set, capture_file(scenario, c)); // a part of a capture is no result
    json_t *mark = scenario_mark(scenario);
    struct replaced earlier = {0};
    if (how->note_replaced)
        earlier = replaced_read(how->dir);
    made->written = write_files(set, scenario, sim, mark, err) == 0;
    made->code = exit_code(how->status, made->written && err->n_errors == 0);
    if (made->written)
        replaced_note(&earlier, how->dir, mark);
    replaced_free(&earlier);
    json_decref(mark);
}

// Freeing a million queue pairs takes a second, and the process is about to end.
static struct collwire_sim *kept;

struct simulated simulate(const struct collwire_scenario *scenario, const char *dir,
                          const struct simulation_options *options)
{
    bool progress = options->show_progress;
    struct simulated made = {.code = EXIT_BAD_USE};
    struct err err = {0};
    struct result_set *set = NULL;
    struct collwire_sim *sim = prepare(scenario, dir, options, &set, &err);
    if (options->one_of_many || !processes_writes())
        err_drop_warnings(&err);
    errors_print(&err);
    if (sim) {
        struct progress_line line = {.started_s = monotonic_s(), .shows = progress};
        struct collwire_run how = how_to_run(options);
        how.ctx = &line;
        how.progress = show_progress;
        how.progress_s = progress ? PROGRESS_EVERY_S : 0;
        enum collwire_status status = run(sim, &how, &err);
        if (line.shown)
            fputs("\r\033[K", stderr);
        struct collwire_summary summary = {.bytes = sizeof summary};
        collwire_sim_summary(sim, &summary);
        made.packet_hops = summary.packet_hops;
        if (options->note_threads && how.threads > 1 && summary.threads_note)
            err_warn(&err, "--threads", "%s", summary.threads_note);
        if (options->against)
            simulation_against(sim, 0, options->against);
        struct finish last = {status, dir, options->note_replaced};
        if (processes_writes())
            finish(sim, set, scenario, &last, &made, &err);
        else
            made.code = exit_code(status, true);
    }
    if (!processes_writes())
        err_drop_warnings(&err);
    errors_print(&err);
    result_set_close(set);
    kept = sim;
    return made;
}

struct simulated simulate_in_memory(const struct collwire_scenario *scenario, bool plain,
                                    unsigned threads)
{
    return simulate_as(scenario, (struct collwire_run){.plain = plain, .threads = threads});
}

struct simulated simulate_as(const struct collwire_scenario *scenario, struct collwire_run how)
{
    struct simulated made = {.code = EXIT_BAD_USE};
    collwire_sim_free(kept); // of the run before
    kept = NULL;
    struct err err = {0};
    struct collwire_cost cost;
    struct collwire_sim *sim = simulation_build(scenario, &cost, &err);
    err_drop_warnings(&err); // as with one_of_many
    if (sim) {
        struct collwire_summary summary = {.bytes = sizeof summary};
        enum collwire_status status = run(sim, &how, &err);
        collwire_sim_summary(sim, &summary);
        made.metrics = collwire_sim_result(sim, "metrics.json");
        made.wall_s = summary.wall_s;
        made.packet_hops = summary.packet_hops;
        made.by_machine = summary.ended_by_machine;
        made.limited = simulation_limited(sim);
        made.code = exit_code(status, true);
    }
    errors_print(&err);
    kept = sim;
    return made;
}

void simulated_free(struct simulated *made) { free(made->metrics); }

void simulate_forget(void)
{
    collwire_sim_free(kept);
    kept = NULL;
}
