// SPDX-License-Identifier: MIT
// collwire run: one simulation from a scenario to its files and a table.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "report/metrics.h"
#include "report/rows.h"
#include "report/timeline.h"
#include "sim/sim.h"

#define PROGRESS_EVERY_S 0.5

struct progress_line {
    double wall_s;
    bool shown;
};

static void show_progress(void *ctx, const struct sim_progress *p)
{
    struct progress_line *line = ctx;
    char now[UNIT_TEXT], eta[UNIT_TEXT] = "-";
    line->wall_s += PROGRESS_EVERY_S;
    line->shown = true;
    if (p->done > 0)
        human_time((ps_t)(line->wall_s * (1 - p->done) / p->done * 1e12), eta);
    fprintf(stderr, "\r%5.1f %%  %s simulated, %.2f M packet-hops/s, ETA %s   ", 100 * p->done,
            human_time(p->now_ps, now), (double)p->packet_hops / line->wall_s / 1e6, eta);
    fflush(stderr);
}

// A text that there may be none of.
static int write_text(const char *dir, const char *name, char *text, struct err *err)
{
    int status = text ? output_write(dir, name, text, err) : 0;
    free(text);
    return status;
}

static int write_files(const struct scenario *scenario, const char *dir, struct result *r,
                       const struct flow_ids *flows, struct err *err)
{
    int status = write_text(dir, "metrics.json", metrics_json(r, scenario_resolved(scenario)), err);
    status |= write_text(dir, "run.json", run_json(r, COLLWIRE_VERSION), err);
    status |= write_text(dir, "series.csv", series_csv(r), err);
    status |= write_text(dir, "EndToEnd.csv", training_end_to_end_csv(r), err);
    status |= write_text(dir, "detailed.csv", training_detailed_csv(r), err);
    status |= write_text(dir, "dimensions.csv", training_dimensions_csv(r), err);
    status |= write_text(dir, "timeline.json", timeline_json(r), err);
    if (r->n_captures > 0) {
        char *path = text_format("%s/qpmap.csv", dir);
        status |= capture_write_qpmap(path, flows, err);
        free(path);
    }
    return status;
}

static int exit_code(enum run_status status, int written)
{
    if (status == RUN_INTERRUPTED)
        return EXIT_INTERRUPTED;
    return status == RUN_COMPLETED && written == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

int simulate(const struct scenario *scenario, const char *dir, bool plain, bool progress)
{
    struct err err = {0};
    struct sim *sim = sim_new(scenario_spec(scenario), &err);
    if (!sim || sim_check_captures(sim, &err) != 0 || output_prepare(dir, &err) != 0 ||
        sim_open_captures(sim, dir, &err) != 0) {
        struct err ignored = {0};
        if (sim)
            sim_close_captures(sim, &ignored);
        err_free(&ignored);
        errors_print(&err);
        sim_free(sim);
        return EXIT_BAD_USE;
    }
    if (plain)
        sim_set_plain(sim);
    struct progress_line line = {0};
    struct sim_watch watch = {
        .ctx = &line, .progress = show_progress, .progress_s = progress ? PROGRESS_EVERY_S : 0};
    sim_run(sim, progress ? &watch : NULL);
    if (line.shown)
        fputs("\r\033[K", stderr);
    int written = sim_close_captures(sim, &err);
    struct result *r = sim_result(sim);
    sim_packets_free(sim);
    written |= write_files(scenario, dir, r, &sim->roce.flows, &err);
    int code = exit_code(r->status, written);
    errors_print(&err);
    result_free(r);
    sim_free(sim);
    return code;
}

// Results belong on stdout, unless a capture streams there.
static FILE *results_to(const struct spec *spec)
{
    for (size_t c = 0; c < spec->n_captures; c++)
        if (strcmp(spec->captures[c].file, "-") == 0)
            return stderr;
    return stdout;
}

static void print_results(const struct options *o, const struct spec *spec, const char *dir)
{
    char *metrics = output_read(dir, "metrics.json");
    struct row row = {spec->dims[spec->n_dims - 1].cc->name, spec->seed, metrics};
    FILE *out = results_to(spec);
    char *text = o->format == FORMAT_JSON  ? rows_json(&row, 1, spec->name)
                 : o->format == FORMAT_CSV ? rows_csv(&row, 1)
                                           : rows_table(&row, 1);
    fputs(text, out);
    free(text);
    if (o->format == FORMAT_JSON)
        fputc('\n', out);
    if (o->format == FORMAT_TABLE) {
        text = row_explanations(&row, "  ");
        fprintf(out, "\n%sresults: %s/metrics.json\n", text, dir);
        free(text);
    }
    free(metrics);
}

int command_run(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    struct scenario *scenario = scenario_load(path, o->sets, o->n_sets, &err);
    errors_print(&err);
    if (!scenario)
        return EXIT_BAD_USE;
    const struct spec *spec = scenario_spec(scenario);
    char *dir = o->out ? text_format("%s", o->out) : text_format("out/%s", spec->name);
    int code = simulate(scenario, dir, o->plain, progress_wanted(o));
    if (code != EXIT_BAD_USE && !o->quiet)
        print_results(o, spec, dir);
    free(dir);
    scenario_free(scenario);
    return code;
}
