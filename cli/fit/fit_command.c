// SPDX-License-Identifier: MIT
// collwire fit: unknown settings of a scenario, estimated from measured values.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/fit.h"
#include "cli/results/output.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define RUNS 300 // at most, unless --budget says otherwise

/* ---- opening ---- */

int fit_open(struct fit *f, const char *measured, const char *scenario, struct err *err)
{
    const struct options *o = f->options;
    f->seeds = o->seeds > 0 ? o->seeds : 1;
    f->budget = o->budget > 0 ? o->budget : RUNS;
    f->known = json_object();
    f->line.noun = "runs";
    int status = observed_read(&f->measured, measured, err);
    if (draft_read(&f->draft, scenario, err) != 0)
        return -1;
    for (size_t i = 0; i < o->n_sets; i++)
        status |= draft_set(&f->draft, o->sets[i].path, o->sets[i].value, err);
    status |= unknowns_take(&f->unknowns, f->draft.json, err);
    if (status == 0 && o->hold_out >= f->measured.n)
        status = err_add(err, "--hold-out", "of %zu measured values one must be left to fit",
                         f->measured.n);
    unsigned long long least = f->seeds * 4ULL * f->unknowns.n;
    if (status == 0 && f->budget < least)
        status =
            err_add(err, "--budget", "at least %llu runs: four of each unknown and seed", least);
    if (status != 0)
        return -1;
    observed_hold_out(&f->measured, o->hold_out, 1);
    return fit_keep_in(f, "fit.jsonl", err);
}

void fit_free(struct fit *f)
{
    fit_points_free(f);
    free(f->store);
    free(f->scenario_mark);
    json_decref(f->known);
    unknowns_free(&f->unknowns);
    observed_free(&f->measured);
    draft_free(&f->draft);
}

/* ---- what it says ---- */

// The name of a measured value: "goodput rank0->rank2".
static const char *name_of(const struct observed_value *v, char *text, size_t room)
{
    snprintf(text, room, "%s%s%s", v->quantity, *v->place ? " " : "", v->place);
    return text;
}

// Values that no run has.
static bool say_missing(const struct fit *f, const struct fit_point *p)
{
    bool missing = false;
    for (size_t i = 0; i < f->measured.n; i++) {
        char name[128];
        if (!isnan(p->log_mean[i]))
            continue;
        missing = true;
        fprintf(stderr, "collwire: %s:%u: the results have no %s\n", f->options->args[0],
                f->measured.list[i].line, name_of(&f->measured.list[i], name, sizeof name));
    }
    return missing;
}

static void print_unknowns(const struct fit *f, const struct fit_point *best,
                           const struct fit_range *ranges)
{
    printf("\n  %-32s %-12s %-26s %s\n", "unknown", "value", "95 %", "determined");
    for (size_t k = 0; k < f->unknowns.n; k++) {
        const struct unknown *u = &f->unknowns.list[k];
        char value[UNKNOWN_TEXT], low[UNKNOWN_TEXT], high[UNKNOWN_TEXT],
            between[2 * UNKNOWN_TEXT + 8];
        snprintf(between, sizeof between, "%s to %s", unknown_words(u, ranges[k].low, low),
                 unknown_words(u, ranges[k].high, high));
        printf("  %-32s %-12s %-26s %s\n", u->path, unknown_words(u, best->places[k], value),
               between,
               ranges[k].determined ? "yes"
               : ranges[k].bounded  ? "roughly"
                                    : "no");
    }
}

static void print_values(const struct fit *f, const struct fit_point *best)
{
    printf("\n  %-40s %14s %14s %8s\n", "measured", "measured", "fitted", "sigmas");
    for (size_t i = 0; i < f->measured.n; i++) {
        const struct observed_value *v = &f->measured.list[i];
        char name[128], unit[160];
        snprintf(unit, sizeof unit, "%s%s%s", name_of(v, name, sizeof name), *v->unit ? ", " : "",
                 v->unit);
        printf("  %-40s %14.4g %14.4g %8.1f%s\n", unit, v->value / v->scale,
               exp(best->log_mean[i]) / v->scale, fit_residual(f, best, i),
               v->held_out ? "  held out" : "");
    }
}

static void print_fit(const struct fit *f, const struct fit_point *best,
                      const struct fit_range *ranges)
{
    size_t fitted = 0;
    for (size_t i = 0; i < f->measured.n; i++)
        fitted += !f->measured.list[i].held_out;
    printf("fit: %zu measured values, %zu unknowns, %llu runs%s\n", fitted, f->unknowns.n,
           (unsigned long long)f->runs, f->interrupted ? "; interrupted: the best so far" : "");
    if (f->measured.unknown)
        printf("not known, and not used: %s\n", f->measured.unknown);
    print_unknowns(f, best, ranges);
    print_values(f, best);
    double misfit = fit_misfit(f, best);
    if (misfit > 9.0 * (double)fitted)
        terminal_wrap(stdout,
                      "\nno values of the unknowns fit: what was measured has another cause, which "
                      "the scenario does not leave open",
                      0, 0, terminal_width(stdout));
}

/* ---- files ---- */

static json_t *fit_json(const struct fit *f, const struct fit_point *best,
                        const struct fit_range *ranges)
{
    json_t *unknowns = json_array(), *values = json_array();
    for (size_t k = 0; k < f->unknowns.n; k++) {
        const struct unknown *u = &f->unknowns.list[k];
        char value[UNKNOWN_TEXT], low[UNKNOWN_TEXT], high[UNKNOWN_TEXT];
        json_array_append_new(
            unknowns,
            json_pack("{s:s, s:o, s:o, s:o, s:b, s:b, s:s}", "path", u->path, "value",
                      json_loads(unknown_text(u, best->places[k], value), JSON_DECODE_ANY, NULL),
                      "low", json_loads(unknown_text(u, ranges[k].low, low), JSON_DECODE_ANY, NULL),
                      "high",
                      json_loads(unknown_text(u, ranges[k].high, high), JSON_DECODE_ANY, NULL),
                      "determined", ranges[k].determined, "bounded", ranges[k].bounded, "evidence",
                      "fitted"));
    }
    for (size_t i = 0; i < f->measured.n; i++) {
        const struct observed_value *v = &f->measured.list[i];
        json_array_append_new(values, json_pack("{s:s, s:s, s:s, s:f, s:f, s:f, s:b}", "quantity",
                                                v->quantity, "place", v->place, "unit", v->unit,
                                                "measured", v->value / v->scale, "fitted",
                                                exp(best->log_mean[i]) / v->scale, "sigmas",
                                                fit_residual(f, best, i), "held_out", v->held_out));
    }
    return json_pack("{s:I, s:b, s:f, s:o, s:o}", "runs", (json_int_t)f->runs, "interrupted",
                     f->interrupted, "misfit", fit_misfit(f, best), "unknowns", unknowns, "values",
                     values);
}

// The scenario with the fitted values, and in its description where they come from.
static int write_scenario(const struct fit *f, const struct fit_point *best, struct err *err)
{
    const char *path = f->options->file;
    struct draft fitted = {.json = json_deep_copy(f->draft.json), .folder = f->draft.folder};
    struct text text;
    FILE *out = text_open(&text);
    const char *before = json_string_value(json_object_get(fitted.json, "description"));
    fprintf(out, "%s%sFitted to %s:", before ? before : "", before ? " " : "", f->options->args[0]);
    int status = 0;
    for (size_t k = 0; k < f->unknowns.n; k++) {
        char value[UNKNOWN_TEXT], words[UNKNOWN_TEXT];
        const struct unknown *u = &f->unknowns.list[k];
        fprintf(out, "%s %s %s", k ? "," : "", u->path, unknown_words(u, best->places[k], words));
        status |= draft_set(&fitted, u->path, unknown_text(u, best->places[k], value), err);
    }
    char *description = text_close(out, &text);
    json_object_set_new(fitted.json, "description", json_string(description));
    free(description);
    if (status == 0 && json_write(path, fitted.json) != EXIT_DONE)
        status = -1; // it has said why
    json_decref(fitted.json);
    return status;
}

static int tell(struct fit *f, const struct fit_point *best, const struct fit_range *ranges,
                struct err *err)
{
    json_t *json = fit_json(f, best, ranges);
    int status = 0;
    if (f->options->format == FORMAT_JSON) {
        json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
        putchar('\n');
    } else if (!f->options->quiet) {
        print_fit(f, best, ranges);
    }
    if (f->options->out) {
        char *path = text_format("%s/fit.json", f->options->out);
        if (json_write(path, json) != EXIT_DONE)
            status = -1; // it has said why
        free(path);
    }
    if (f->options->file)
        status |= write_scenario(f, best, err);
    json_decref(json);
    return status;
}

static int fit(struct fit *f, struct err *err)
{
    if (fit_open(f, f->options->args[0], f->options->args[1], err) != 0)
        return EXIT_BAD_USE;
    struct collwire_scenario *scenario =
        scenario_of_json(f->options, f->draft.json, f->draft.folder, err);
    if (!scenario)
        return EXIT_BAD_USE;
    collwire_scenario_free(scenario);
    signals_phase("fitting");
    struct fit_point *best = fit_search(f);
    pool_line_clear(&f->line);
    if (best && say_missing(f, best))
        return EXIT_BAD_USE;
    struct fit_range ranges[UNKNOWNS_MOST] = {0};
    if (best)
        fit_ranges(f, best, ranges);
    pool_line_clear(&f->line);
    ends_say(f->store ? "the same command goes on" : "without --out nothing of it is kept");
    if (!best)
        return EXIT_NOT_COMPLETED;
    bool whole = tell(f, best, ranges, err) == 0 && !f->interrupted && !f->not_kept;
    return whole ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static int command_fit(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct fit f = {.options = &o};
    if (o.n_args != 2) {
        fputs("collwire: fit takes a file of measured values and a scenario; see collwire fit "
              "--help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    int code = fit(&f, &err);
    errors_print(&err);
    fit_free(&f);
    return code;
}

/* ---- its row ---- */

static const char fit_text[] =
    "Estimates settings of a scenario from what was measured on the real network, and says which "
    "of them the measurement determines.\n\n"
    "The scenario has a range in place of each unknown, up to eight:\n\n"
    "  \"transport\": {\"cnp_delay\": {\"from\": \"1us\", \"to\": \"60us\"}}\n\n"
    "MEASURED is CSV with a heading; `unit` and `spread` (in the unit, or as 2%) may be left out, "
    "and a value without a spread has 2%:\n\n"
    "  quantity,place,value,unit,spread\n"
    "  goodput,rank0->rank2,36.9,Gb/s,0.5\n"
    "  drops,dim0.sw0->rank2,1840,packets,5%\n\n"
    "Quantities, with their places: goodput, fct (mean), cnps, timeouts and retransmitted (of a "
    "pair of ranks as above, or of all), time and busbw (of a job), drops, marks, pauses and "
    "max_queue (of a port, or of all), utilization, bytes and packets (of a link), metric (any "
    "number of metrics.json by its path, as recovery.naks).\n\n"
    "A grid over the ranges runs first, then a search without derivatives; the range of each "
    "unknown is where the misfit has grown by less than 3.84, or more where results jump from one "
    "value to the next. With --out runs are kept, and the same command "
    "goes on after an interruption. -o writes the scenario with the fitted values.\n\n"
    "  collwire fit measured.csv lab.json --seeds 3 -o fitted.json\n"
    "  collwire fit measured.csv lab.json --hold-out 3 --format json";

const struct command fit_command = {
    .name = "fit",
    .help = "settings of a scenario, estimated from measured values",
    .args = "MEASURED.csv SCENARIO",
    .text = fit_text,
    .run = command_fit,
    .completes = COMPLETE_FILES,
};
