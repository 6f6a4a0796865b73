// SPDX-License-Identifier: MIT
// Builds a simulation, checks its cost, runs it and writes the results.
#include "cli/simulate.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory_guard.h"
#include "cli/options.h"
#include "cli/result_set.h"
#include "cli/signals.h"
#include "cli/terminal.h"
#include "engine/loop.h"
#include "report/metrics.h"
#include "sim/estimate.h"
#include "sim/output_list.h"
#include "sim/sim.h"

#define PROGRESS_EVERY_S 0.5
#define ESTIMATE_FROM_S 5 // wall time: the estimate of a longer run is shown before it begins

struct progress_line {
    double started_s; // on the monotonic clock
    bool shows;       // a line on the terminal is written again and again
    bool shown;
};

// Also called on SIGUSR1, for one line where none is shown otherwise.
static void show_progress(void *ctx, const struct sim_progress *p)
{
    struct progress_line *line = ctx;
    double wall_s = monotonic_s() - line->started_s;
    char now[UNIT_TEXT], eta[CLOCK_TEXT] = "-";
    line->shown = line->shows;
    if (p->done > 0)
        clock_text(wall_s * (1 - p->done) / p->done, eta);
    fprintf(stderr, "%s%5.1f %%  %s simulated, %.2f M packet-hops/s, ETA %s%s",
            line->shows ? "\r" : "collwire: ", 100 * p->done, human_time(p->now_ps, now),
            (double)p->packet_hops / wall_s / 1e6, eta, line->shows ? "   " : "\n");
    fflush(stderr);
}

/* ---- before the run ---- */

uint64_t simulate_memory_limit(const struct spec *spec)
{
    return spec->limits.memory_bytes > 0 ? spec->limits.memory_bytes : memory_available();
}

int simulate_check_memory(const struct estimate *e, uint64_t limit_bytes, struct err *err)
{
    uint64_t all = estimate_bytes(e) + memory_resident();
    enum estimate_part part = estimate_largest(e);
    char need[UNIT_TEXT], most[UNIT_TEXT], limit[UNIT_TEXT];
    if (all > limit_bytes)
        return err_add(err, "limits.memory",
                       "the run needs up to %s, of which %s for %s, and %s are allowed",
                       human_bytes(all, need), human_bytes(e->part_bytes[part], most),
                       estimate_part_names[part], human_bytes(limit_bytes, limit));
    return 0;
}

static void show_cost(const struct estimate *e)
{
    if (e->wall_s <= ESTIMATE_FROM_S)
        return;
    char *text = estimate_text(e, "          ");
    fputs(text, stderr);
    free(text);
}

static bool spec_trains(const struct spec *spec)
{
    bool trains = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        trains |= spec->jobs[j].kind->trains;
    return trains;
}

// Claim the names of all files that the run may write.
static int claim_files(struct result_set *set, const struct spec *spec, struct err *err)
{
    int status = result_set_claim(set, "metrics.json", err);
    status |= result_set_claim(set, "run.json", err);
#define CLAIM(name, text, wanted)                                                                  \
    if (wanted)                                                                                    \
        status |= result_set_claim(set, name, err);
    OUTPUT_LIST(CLAIM)
#undef CLAIM
    if (spec->n_captures > 0)
        status |= result_set_claim(set, "qpmap.csv", err);
    for (size_t c = 0; c < spec->n_captures; c++)
        if (strcmp(spec->captures[c].file, "-") != 0)
            status |= result_set_claim(set, spec->captures[c].file, err);
    return status;
}

static int open_captures(struct sim *sim, struct result_set *set, const char *dir, struct err *err)
{
    struct capture_output to = {
        .folder = result_set_staging(set), .shown = dir, .program = "collwire " COLLWIRE_VERSION};
    return sim_open_captures(sim, &to, err);
}

// Make a simulation that is ready to run, and the set for its files; NULL with errors.
static struct sim *prepare(const struct scenario *scenario, const char *dir, bool show,
                           uint64_t limit_bytes, struct result_set **set, struct err *err)
{
    const struct spec *spec = scenario_spec(scenario);
    signals_phase("building the network");
    signals_show(show);
    struct sim *sim = sim_new(spec, err);
    signals_show(false);
    struct estimate cost = {0};
    if (sim)
        cost = sim_estimate(sim);
    bool good = sim && sim_check_captures(sim, err) == 0 &&
                simulate_check_memory(&cost, limit_bytes, err) == 0;
    if (good && show)
        show_cost(&cost);
    if (good && (*set = result_set_open(dir, err)) != NULL && claim_files(*set, spec, err) == 0 &&
        open_captures(sim, *set, dir, err) == 0)
        return sim;
    struct err ignored = {0};
    if (sim)
        sim_close_captures(sim, &ignored);
    err_free(&ignored);
    sim_free(sim);
    return NULL;
}

/* ---- after the run ---- */

// Write a text, which may be NULL.
static int write_text(struct result_set *set, const char *name, char *text, struct err *err)
{
    int status = text ? result_set_write(set, name, text, err) : 0;
    free(text);
    return status;
}

static int stage_files(struct result_set *set, const char *metrics, const struct result *r,
                       const struct sim *sim, struct err *err)
{
    int status = result_set_write(set, "metrics.json", metrics, err);
#define WRITE(name, text, wanted) status |= write_text(set, name, text(r), err);
    OUTPUT_LIST(WRITE)
#undef WRITE
    if (r->n_captures > 0 && status == 0) {
        char *path = text_format("%s/qpmap.csv", result_set_staging(set));
        status |= sim_write_qpmap(sim, path, err);
        free(path);
    }
    return status;
}

// If the disk is full, drop the captures, so that there is room for the metrics.
static int write_files(struct result_set *set, const char *metrics, const struct result *r,
                       const struct sim *sim, struct err *err)
{
    int status = stage_files(set, metrics, r, sim, err);
    bool dropped = false;
    for (size_t c = 0; status != 0 && c < r->n_captures; c++)
        if (strcmp(r->captures[c].file, "-") != 0) {
            result_set_drop(set, r->captures[c].file);
            dropped = true;
        }
    if (dropped && (status = stage_files(set, metrics, r, sim, err)) == 0)
        err_add(err, "capture", "the captures were left out to make room for the other results");
    char *run = status == 0 ? run_json(r, COLLWIRE_VERSION) : NULL;
    if (run)
        status = result_set_commit(set, run, err);
    free(run);
    return status;
}

static int exit_code(enum run_status status, bool good)
{
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    return status == RUN_COMPLETED && good ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static void finish(struct sim *sim, struct result_set *set, const struct scenario *scenario,
                   uint64_t limit_bytes, struct simulated *run, struct err *err)
{
    signals_phase("writing the results");
    bool good = sim_close_captures(sim, err) == 0;
    struct result *r = sim_result(sim);
    r->memory_limit_bytes = limit_bytes;
    sim_packets_free(sim);
    run->metrics = metrics_json(r, scenario_resolved(scenario));
    if (!good) // a capture that is not complete is no result
        for (size_t c = 0; c < r->n_captures; c++)
            if (sim_capture_failed(sim, c))
                result_set_drop(set, r->captures[c].file);
    run->written = write_files(set, run->metrics, r, sim, err) == 0;
    run->code = exit_code(r->status, good && run->written && err->n_errors == 0);
    result_free(r);
}

// Freeing a million queue pairs takes a second, and the process is about to end.
static struct sim *kept;

struct simulated simulate(const struct scenario *scenario, const char *dir,
                          const struct simulation_options *options)
{
    bool progress = options->show_progress;
    struct simulated run = {.code = EXIT_BAD_USE};
    struct err err = {0};
    struct result_set *set = NULL;
    uint64_t limit_bytes = simulate_memory_limit(scenario_spec(scenario));
    struct sim *sim = prepare(scenario, dir, progress, limit_bytes, &set, &err);
    errors_print(&err);
    if (sim) {
        struct progress_line line = {.started_s = monotonic_s(), .shows = progress};
        struct sim_watch watch = {.ctx = &line,
                                  .progress = show_progress,
                                  .progress_s = progress ? PROGRESS_EVERY_S : 0,
                                  .pace_ps = options->pace_ps,
                                  .memory_low = memory_low};
        if (options->plain)
            sim_set_plain(sim);
        memory_guard(limit_bytes);
        sim_run(sim, &watch);
        if (line.shown)
            fputs("\r\033[K", stderr);
        memcpy(run.id, result_set_id(set), sizeof run.id);
        finish(sim, set, scenario, limit_bytes, &run, &err);
    }
    errors_print(&err);
    result_set_close(set);
    kept = sim;
    return run;
}

struct simulated simulate_in_memory(const struct scenario *scenario, bool plain)
{
    struct simulated run = {.code = EXIT_BAD_USE};
    struct err err = {0};
    const struct spec *spec = scenario_spec(scenario);
    uint64_t limit_bytes = simulate_memory_limit(spec);
    signals_phase("building the network");
    struct sim *sim = sim_new(spec, &err);
    struct estimate cost = {0};
    if (sim)
        cost = sim_estimate(sim);
    if (sim && simulate_check_memory(&cost, limit_bytes, &err) == 0) {
        struct sim_watch watch = {.memory_low = memory_low};
        if (plain)
            sim_set_plain(sim);
        memory_guard(limit_bytes);
        sim_run(sim, &watch);
        signals_phase("writing the results");
        struct result *r = sim_result(sim);
        sim_packets_free(sim);
        run.metrics = metrics_json(r, scenario_resolved(scenario));
        run.wall_s = r->wall_s;
        run.packet_hops = (double)r->packet_hops;
        run.by_machine = r->reason && (strncmp(r->reason, "out of memory", 13) == 0 ||
                                       strncmp(r->reason, "wall clock", 10) == 0);
        run.code = exit_code(r->status, true);
        result_free(r);
    }
    errors_print(&err);
    kept = sim;
    return run;
}

void simulated_free(struct simulated *run) { free(run->metrics); }
