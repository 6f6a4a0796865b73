// SPDX-License-Identifier: MIT
// Simulations of the library, from the check of their cost to the texts of their results.
#include <stdlib.h>
#include <string.h>

#include "engine/base/clock.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/loop.h"
#include "library/edits.h"
#include "library/handle.h"
#include "library/handles.h"
#include "library/machine_memory.h"
#include "library/plain_locale.h"
#include "report/metrics.h"
#include "sim/collect/against.h"
#include "sim/estimate.h"
#include "sim/sim.h"
#include "sim/spec/output_list.h"

struct collwire_sim {
    const struct scenario *scenario;
    struct sim *sim;
    struct estimate cost;
    uint64_t memory_limit_bytes;
    struct result *result; // NULL before the run
    struct collwire_run run;
    double looked_s;          // when the memory was looked up
    bool ended;               // by the progress function
    volatile bool collecting; // its results, which a signal handler may look at
    struct sim *spent;        // the run on several threads that another one has replaced
    struct capture_output to;
};

#define LOOK_EVERY_S 0.05

const struct sim *simulation_of(const struct collwire_sim *s) { return s->sim; }

static const struct spec *spec_of(const struct collwire_sim *s)
{
    return scenario_spec(s->scenario);
}

// A struct of the caller may be shorter, if the program was compiled for an earlier version.
static void give(void *out, size_t room, const void *value, size_t bytes)
{
    size_t n = room < bytes ? room : bytes;
    memcpy(out, value, n);
    memcpy(out, &room, sizeof room);
}

/* ---- building ---- */

static int check_memory(const struct collwire_sim *s, struct err *err)
{
    const struct estimate *e = &s->cost;
    uint64_t all = estimate_bytes(e) + memory_allocated();
    enum estimate_part part = estimate_largest(e);
    char need[UNIT_TEXT], most[UNIT_TEXT], limit[UNIT_TEXT];
    if (all <= s->memory_limit_bytes)
        return 0;
    return err_add(err, "limits.memory",
                   "the run needs up to %s, of which %s for %s, and %s are allowed",
                   human_bytes(all, need), human_bytes(e->part_bytes[part], most),
                   estimate_part_names[part], human_bytes(s->memory_limit_bytes, limit));
}

struct collwire_sim *collwire_sim_new(const struct collwire_scenario *scenario, uint64_t sharers,
                                      struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    struct collwire_sim *s = memory_zeroed(1, sizeof *s);
    s->scenario = scenario_of(scenario);
    uint64_t wanted = spec_of(s)->limits.memory_bytes;
    s->memory_limit_bytes = wanted > 0 ? wanted : memory_available(sharers > 0 ? sharers : 1);
    s->sim = sim_new(spec_of(s), err_of(m));
    bool good = s->sim && sim_check_captures(s->sim, err_of(m)) == 0;
    if (good) {
        s->cost = sim_estimate(s->sim);
        good = check_memory(s, err_of(m)) == 0;
        sim_warn_captures(s->sim, &s->cost, err_of(m));
    }
    plain_locale_end(locale);
    if (good)
        return s;
    collwire_sim_free(s);
    return NULL;
}

void collwire_sim_free(struct collwire_sim *s)
{
    if (!s)
        return;
    struct err ignored = {0};
    if (s->sim)
        sim_close_captures(s->sim, &ignored);
    err_free(&ignored);
    result_free(s->result);
    sim_free(s->sim);
    sim_free(s->spent);
    free((char *)(uintptr_t)s->to.folder);
    free((char *)(uintptr_t)s->to.shown);
    free(s);
}

char *collwire_sim_describe(const struct collwire_sim *s)
{
    struct plain_locale locale = plain_locale_begin();
    char *text = sim_describe(s->sim);
    plain_locale_end(locale);
    return text;
}

void collwire_sim_cost(const struct collwire_sim *s, struct collwire_cost *cost)
{
    struct collwire_cost c = {.memory_limit_bytes = s->memory_limit_bytes,
                              .memory_bytes = estimate_bytes(&s->cost),
                              .output_bytes = s->cost.output_bytes,
                              .packet_hops = s->cost.packet_hops,
                              .wall_s = s->cost.wall_s,
                              .payload_bytes = s->cost.payload_bytes,
                              .hops_s = s->cost.hops_s};
    give(cost, cost->bytes, &c, sizeof c);
}

char *collwire_sim_cost_text(const struct collwire_sim *s, const char *prefix)
{
    struct plain_locale locale = plain_locale_begin();
    char *text = estimate_text(&s->cost, prefix);
    plain_locale_end(locale);
    return text;
}

char *collwire_sim_memory_text(const struct collwire_sim *s)
{
    struct plain_locale locale = plain_locale_begin();
    char *text = sim_memory_text(s->sim);
    plain_locale_end(locale);
    return text;
}

/* ---- captures ---- */

int collwire_sim_open_captures(struct collwire_sim *s, const char *folder, const char *shown,
                               struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    s->to = (struct capture_output){.folder = memory_text(folder),
                                    .shown = memory_text(shown),
                                    .program = "collwire " COLLWIRE_VERSION};
    int status = sim_open_captures(s->sim, &s->to, err_of(m));
    plain_locale_end(locale);
    return status;
}

int collwire_sim_capture_failed(const struct collwire_sim *s, size_t i)
{
    return sim_capture_failed(s->sim, i);
}

int collwire_sim_write_flows(const struct collwire_sim *s, const char *file,
                             struct collwire_messages *m)
{
    return sim_write_qpmap(s->sim, file, err_of(m));
}

/* ---- running ---- */

static void on_progress(void *ctx, const struct sim_progress *p)
{
    struct collwire_sim *s = ctx;
    struct collwire_progress shown = {p->done, p->now_ps, p->packet_hops, p->events};
    // The run may report once more before it ends.
    if (s->ended || s->run.progress(s->run.ctx, &shown) == 0)
        return;
    s->ended = true;
    sim_cancel(s->sim);
}

// The caller has no memory left, or the process uses more than its limit, which is looked up at
// most 20 times a second.
static bool on_memory(void *ctx)
{
    struct collwire_sim *s = ctx;
    double now_s = monotonic_s();
    if (s->run.memory_low && s->run.memory_low(s->run.ctx) != 0)
        return true;
    if (now_s < s->looked_s + LOOK_EVERY_S)
        return false;
    s->looked_s = now_s;
    return memory_resident() > s->memory_limit_bytes;
}

static enum collwire_status status_of(const struct result *r)
{
    if (r->status == RUN_INTERRUPTED)
        return COLLWIRE_INTERRUPTED;
    return r->status == RUN_COMPLETED ? COLLWIRE_COMPLETED : COLLWIRE_INCOMPLETE;
}

static void add_plugins(const struct collwire_sim *s, struct result *r)
{
    const struct policies *p = scenario_policies(s->scenario);
    r->n_plugins = p->n_plugins;
    r->plugins = memory_zeroed(p->n_plugins, sizeof *r->plugins);
    for (size_t i = 0; i < p->n_plugins; i++)
        r->plugins[i] = (struct plugin_result){p->plugins[i]->file, p->plugins[i]->sha256};
}

static void make_result(struct collwire_sim *s, struct collwire_messages *m)
{
    s->collecting = true;
    sim_close_captures(s->sim, err_of(m));
    s->result = sim_result(s->sim);
    s->result->memory_limit_bytes = s->memory_limit_bytes;
    add_plugins(s, s->result);
    edits_spell(s->result, scenario_resolved(s->scenario));
    sim_packets_free(s->sim);
}

// Repeat a run as a whole, in one process on one thread. The first one stays until the end, since a
// signal or another thread may look at it.
static void repeat_alone(struct collwire_sim *s, const char *why, const struct sim_watch *watch,
                         struct collwire_messages *m)
{
    struct err ignored = {0};
    struct sim *again = sim_new(spec_of(s), &ignored);
    err_free(&ignored);
    if (!again)
        return;
    sim_close_captures(s->sim, err_of(m));
    sim_set_tiles(again, 1);
    sim_explain_threads(again, why);
    if (s->to.folder)
        sim_open_captures(again, &s->to, err_of(m));
    sim_packets_free(s->sim);
    s->spent = s->sim;
    s->sim = again;
    sim_run(again, watch);
}

// A program that fails stops the run at that event. Where a window was processed by parts of the
// network, others have gone on to its end. And where processes exchange after every few events,
// one is faster than several.
static void repeat_if_needed(struct collwire_sim *s, const struct sim_watch *watch,
                             struct collwire_messages *m)
{
    const struct collwire_processes *processes = s->run.processes;
    char why[SIM_WHY] = "a program has failed, which ends a run at its event";
    bool first = processes == NULL || processes->rank == 0;
    if (sim_failed_in_parts(s->sim) || (first && sim_is_apart(s->sim, why)))
        repeat_alone(s, why, watch, m);
}

static void settle(struct collwire_sim *s, const struct collwire_run *given)
{
    if (given)
        memcpy(&s->run, given, given->bytes < sizeof s->run ? given->bytes : sizeof s->run);
    if (s->run.plain)
        sim_set_plain(s->sim);
}

static int share(struct collwire_sim *s, struct err *err)
{
    sim_set_threads(s->sim, s->run.threads);
    sim_set_tiles(s->sim, s->run.tiles);
    if (s->run.together)
        sim_set_together(s->sim);
    if (s->run.check_windows > 0)
        sim_set_check(s->sim, s->run.check_windows, s->run.check_span_ps);
    return sim_set_processes(s->sim, s->run.processes, err);
}

int collwire_sim_share(struct collwire_sim *s, const struct collwire_run *run,
                       struct collwire_messages *m)
{
    settle(s, run);
    return share(s, err_of(m));
}

enum collwire_status collwire_sim_run(struct collwire_sim *s, const struct collwire_run *given,
                                      struct collwire_messages *m)
{
    struct plain_locale locale = plain_locale_begin();
    settle(s, given);
    struct sim_watch watch = {.ctx = s,
                              .progress = s->run.progress ? on_progress : NULL,
                              .progress_s = s->run.progress_s,
                              .pace_ps = s->run.pace_ps,
                              .memory_low = on_memory};
    bool shared = share(s, err_of(m)) == 0;
    if (!s->result) {
        if (shared)
            sim_run(s->sim, &watch);
        repeat_if_needed(s, &watch, m);
        make_result(s, m);
    }
    plain_locale_end(locale);
    return status_of(s->result);
}

uint64_t simulation_pulse(const struct collwire_sim *s) { return sim_pulse(s->sim); }

bool simulation_overdue(const struct collwire_sim *s) { return sim_overdue(s->sim); }

bool simulation_collecting(const struct collwire_sim *s) { return s->collecting; }

bool simulation_divided(const struct collwire_sim *s) { return sim_divided(s->sim); }

enum collwire_status simulation_leave(struct collwire_sim *s, bool interrupted,
                                      struct collwire_messages *m)
{
    sim_leave(s->sim, interrupted);
    make_result(s, m);
    return status_of(s->result);
}

void collwire_sim_cancel(struct collwire_sim *s) { sim_cancel(s->sim); }

void collwire_sim_report(struct collwire_sim *s) { sim_report_progress(s->sim); }

/* ---- results ---- */

static bool spec_trains(const struct spec *spec)
{
    bool trains = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        trains |= spec->jobs[j].kind->trains;
    return trains;
}

const char *collwire_sim_file(const struct collwire_sim *s, size_t i)
{
    const struct spec *spec = spec_of(s);
    const char *names[16] = {"metrics.json", "run.json"};
    size_t n = 2;
#define ADD(name, text, wanted)                                                                    \
    if (wanted)                                                                                    \
        names[n++] = name;
    OUTPUT_LIST(ADD)
#undef ADD
    return i < n ? names[i] : NULL;
}

static bool write_run(FILE *out, const struct result *r)
{
    struct result now = *r;
    now.peak_rss_bytes = memory_peak();
    char *text = run_json(&now, COLLWIRE_VERSION);
    fputs(text, out);
    free(text);
    return true;
}

bool simulation_write(const struct collwire_sim *s, const char *file, bool brief, FILE *out)
{
    const struct result *r = s->result;
    bool written = false;
    if (!r)
        return false;
    struct plain_locale locale = plain_locale_begin();
    if (strcmp(file, "metrics.json") == 0) {
        metrics_write(out, r, scenario_resolved(s->scenario), brief);
        written = true;
    }
    if (strcmp(file, "run.json") == 0)
        written = write_run(out, r);
#define WRITE(name, write, wanted)                                                                 \
    if (strcmp(file, name) == 0)                                                                   \
        written = write(out, r);
    OUTPUT_LIST(WRITE)
#undef WRITE
    plain_locale_end(locale);
    return written;
}

void simulation_against(struct collwire_sim *s, uint32_t job, const struct against_file *file)
{
    if (s->result)
        against_collect(s->result, job, file);
}

bool simulation_limited(const struct collwire_sim *s)
{
    return s->result && s->result->limit != LIMIT_NONE;
}

char *collwire_sim_result(struct collwire_sim *s, const char *file)
{
    struct text text;
    FILE *out = text_open(&text);
    bool written = simulation_write(s, file, false, out);
    char *whole = text_close(out, &text);
    if (written)
        return whole;
    free(whole);
    return NULL;
}

void collwire_sim_summary(const struct collwire_sim *s, struct collwire_summary *summary)
{
    const struct result *r = s->result;
    struct collwire_summary now = {.status = COLLWIRE_INCOMPLETE};
    if (r)
        now = (struct collwire_summary){.status = status_of(r),
                                        .reason = r->reason,
                                        .sim_time_ps = r->sim_time_ps,
                                        .wall_s = r->wall_s,
                                        .packet_hops = (double)r->packet_hops,
                                        .threads = r->threads.used,
                                        .threads_note = r->threads.note,
                                        .ended_by_machine = r->limit == LIMIT_MACHINE};
    give(summary, summary->bytes, &now, sizeof now);
}
