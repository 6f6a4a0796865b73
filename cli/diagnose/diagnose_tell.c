// SPDX-License-Identifier: MIT
// What a diagnosis says: five lines first, then the values beside those of the healthy network and
// of the best cause.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/results/output.h"
#include "cli/results/result_set.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define CAUSES_SHOWN 5
#define FASTER 3.0      // standard deviations by which a time is below that of the healthy network
#define UNIT_ERROR 0.06 // as a logarithm, of a factor of units

static const struct cause *cause(const struct diagnosis *d, size_t i)
{
    return &d->causes[d->order[i]];
}

static const struct hypothesis *hypothesis(const struct diagnosis *d, size_t i)
{
    return &d->list[cause(d, i)->best];
}

// A factor of units that all measured values have, against the healthy network: 8, 1000, or their
// inverse; 1 = none.
static double unit_error(const struct diagnosis *d)
{
    static const double factors[] = {8, 1.0 / 8, 1000, 1e-3, 1e6, 1e-6, 8000, 1.0 / 8000};
    for (size_t f = 0; f < sizeof factors / sizeof *factors; f++) {
        bool all = d->measured > 0;
        for (size_t i = 0; i < d->measured; i++) {
            const struct observed_value *v = &d->fit.measured.list[i];
            double off = log(v->value) - d->list[0].point->log_mean[i] - log(factors[f]);
            all &= isfinite(off) && fabs(off) < UNIT_ERROR;
        }
        if (all)
            return factors[f];
    }
    return 1;
}

// Places of the same kind that the values do not tell from a cause's own.
static json_t *also(const struct diagnosis *d, const struct cause *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < d->n_causes; i++)
        if (&d->causes[i] != c && cause_same_kind_near(d, c, &d->causes[i]))
            json_array_append_new(list, json_string(d->causes[i].at));
    return list;
}

// How many places a cause stands for, all that the values do not tell from its own.
static double places_of(const struct diagnosis *d, const struct cause *c)
{
    double alike = c->stands_for;
    for (size_t k = 0; k < d->n_causes; k++)
        if (&d->causes[k] != c && cause_same_kind_near(d, c, &d->causes[k]))
            alike += d->causes[k].stands_for;
    return alike;
}

// The kinds of a pair; null = it is none.
static json_t *parts(const struct cause *c)
{
    return c->parts[0] ? json_pack("[s, s]", c->parts[0]->name, c->parts[1]->name) : json_null();
}

static json_t *separation_json(const struct diagnosis *d, size_t i)
{
    struct separation s = cause_separation(d, i);
    if (!s.value)
        return json_null();
    return json_pack("{s:s, s:s, s:f, s:s, s:f}", "quantity", s.value->quantity, "place",
                     s.value->place, "here", s.here, "from", s.other->kind->name, "there", s.there);
}

// The share of the gap that the first cause leaves.
static double unexplained(const struct diagnosis *d)
{
    return d->healthy ? 0 : d->n_order == 0 ? 1 : 1 - cause_explains(d, cause(d, 0));
}

// The size of a collective that a time is of, where files have several; NULL = it is the job's.
static const char *size_of(const struct observed_value *v)
{
    static const char bytes[] = ".bytes=";
    bool sized = v->job && strncmp(v->job, bytes, strlen(bytes)) == 0;
    return sized ? v->job + strlen(bytes) : NULL;
}

// The mean of a value over the seeds, of its logarithm; of a count that is 0 in some of them, of
// the logarithm above its floor.
static double usual_value(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    const struct observed_value *v = &d->fit.measured.list[value];
    double sum = 0, n = (double)h->point->seeds, mean = h->point->log_mean[value];
    if (isfinite(mean))
        return exp(mean);
    for (uint64_t s = 0; s < h->point->seeds; s++)
        sum += value_level(v, run_value(d, h, s, value));
    double floor = observed_reach(v).floor, above = exp(sum / n) - floor;
    return above < 1e-9 * floor ? 0 : above;
}

/* ---- text ---- */

// "time of 16 MiB", "cnps rank3"; to be freed.
static char *value_name(const struct diagnosis *d, const struct observed_value *v)
{
    const char *size = size_of(v);
    uint64_t bytes = size ? strtoull(size, NULL, 10) : 0;
    if (!size && d->files.n_sizes > 0 && strcmp(v->quantity, "time") == 0) {
        const char *of_job =
            json_string_value(json_object_get(draft_job(d->fit.draft.json), "bytes"));
        if (of_job && parse_bytes(of_job, &bytes) != 0)
            bytes = 0;
    }
    char *text = bytes == 0 ? memory_text("")
                 : bytes % 1048576 == 0
                     ? text_format(" of %llu MiB", (unsigned long long)bytes / 1048576)
                     : text_format(" of %.4g MB", (double)bytes / 1e6);
    char *name = text_format("%s%s%s%s", v->quantity, *v->place ? " " : "", v->place, text);
    free(text);
    return name;
}

// By how many standard deviations a value is from that of the healthy network; below 0 = it is
// less.
static double value_off(const struct diagnosis *d, size_t value)
{
    const struct observed_value *v = &d->fit.measured.list[value];
    double var, level = predicted_level(d, &d->list[0], value, &var),
                error = fmax(v->relative, observed_reach(v).error);
    return (measured_level(d, value) - level) / sqrt(error * error + var);
}

// The value that is farthest from the healthy network's.
static void print_verdict(const struct diagnosis *d, size_t width)
{
    size_t most = 0;
    bool faster = false;
    for (size_t i = 0; i < d->measured + d->later; i++) {
        double off = value_off(d, i);
        if (fabs(off) > fabs(value_off(d, most)))
            most = i;
        faster |= strcmp(d->fit.measured.list[i].quantity, "time") == 0 && off < -FASTER;
    }
    const struct observed_value *v = &d->fit.measured.list[most];
    char *name = value_name(d, v),
         *text = text_format("not healthy: %s is %.4g%s%s, and %.4g on the healthy network", name,
                             v->value / v->scale, *v->unit ? " " : "", v->unit,
                             usual_value(d, &d->list[0], most) / v->scale);
    terminal_wrap(stdout, text, 0, 2, width);
    if (faster)
        terminal_wrap(
            stdout,
            "some times are below those of the healthy network: its rates, or the job and "
            "its algorithm, are not those that were measured",
            0, 2, width);
    free(text);
    free(name);
}

static void print_cause(const struct diagnosis *d, size_t i, size_t width)
{
    const struct cause *c = cause(d, i);
    double alike = places_of(d, c);
    char *next = cause_next(d, i),
         *places = alike < 1.5 ? memory_text("")
                               : text_format(" (%s stands for %.0f places that the values do not "
                                             "tell apart)",
                                             c->at, alike),
         *text = text_format("%zu. %s%s: explains %.0f %% of the gap%s; %s", i + 1,
                             hypothesis(d, i)->words, places, 100 * cause_explains(d, c),
                             i > 0 ? ", and may be it as well as the first" : "", next);
    terminal_wrap(stdout, text, 0, 3, width);
    free(places);
    free(text);
    free(next);
}

// The first cause and those that tie with it; then, in a line, others.
static void print_causes(const struct diagnosis *d)
{
    size_t width = terminal_width(stdout), shown = 0;
    double units = unit_error(d);
    if (units < 1 || units > 1) {
        char *text = text_format("all measured values are %.4g times those of the healthy network: "
                                 "units are mixed up",
                                 units);
        terminal_wrap(stdout, text, 0, 2, width);
        free(text);
    }
    if (d->healthy) {
        terminal_wrap(stdout, "healthy: the network gives what was measured, within its spread", 0,
                      2, width);
        return;
    }
    print_verdict(d, width);
    if (d->n_order == 0) {
        terminal_wrap(stdout, "none of the causes that were tried comes nearer", 0, 2, width);
        return;
    }
    while (shown < d->n_order && shown < CAUSES_SHOWN &&
           (shown == 0 || cause_ties(d, cause(d, shown))))
        print_cause(d, shown++, width);
    struct text text;
    FILE *out = text_open(&text);
    size_t more = shown;
    for (; more < d->n_order && more < CAUSES_SHOWN; more++)
        fprintf(out, "%s%s (%.0f %%)",
                more > shown ? ", " : "less likely: ", hypothesis(d, more)->words,
                100 * cause_explains(d, cause(d, more)));
    char *others = text_close(out, &text);
    if (more > shown)
        terminal_wrap(stdout, others, 0, 2, width);
    free(others);
    double left = unexplained(d);
    if (left > 0.25) {
        char *none = text_format("none of these: %.0f %% unexplained", 100 * left);
        terminal_wrap(stdout, none, 0, 2, width);
        free(none);
    }
}

// The value of a hypothesis; at a larger size, if it ran with it.
static double value_in(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    if (value < d->measured || h->cause == SIZE_MAX)
        return usual_value(d, h, value);
    return h->large ? exp(h->large->log_mean[value]) : (double)NAN;
}

static void print_values(const struct diagnosis *d)
{
    const struct hypothesis *best = d->n_order > 0 && !d->healthy ? hypothesis(d, 0) : NULL;
    printf("\n  %-40s %14s %14s %14s\n", "measured", "measured", "healthy",
           best ? "first cause" : "");
    for (size_t i = 0; i < d->measured + d->later; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        char *name = value_name(d, v),
             *with_unit = text_format("%s%s%s", name, *v->unit ? ", " : "", v->unit);
        printf("  %-40s %14.4g %14.4g", with_unit, v->value / v->scale,
               usual_value(d, &d->list[0], i) / v->scale);
        double here = best ? value_in(d, best, i) / v->scale : (double)NAN;
        if (isfinite(here))
            printf(" %14.4g", here);
        printf("\n");
        free(with_unit);
        free(name);
    }
}

/* ---- JSON ---- */

// A number of JSON; null where it is none.
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *diagnosis_json(const struct diagnosis *d)
{
    json_t *causes = json_array(), *values = json_array();
    for (size_t i = 0; i < d->n_order && !d->healthy; i++) {
        const struct cause *c = cause(d, i);
        char *next = cause_next(d, i);
        json_array_append_new(
            causes, json_pack("{s:s, s:o, s:s, s:o, s:s, s:O, s:f, s:f, s:b, s:s, s:o}", "kind",
                              c->kind->name, "parts", parts(c), "at", c->at, "also", also(d, c),
                              "words", hypothesis(d, i)->words, "set", d->forms[c->best].set,
                              "explains", cause_explains(d, c), "fit", hypothesis(d, i)->misfit,
                              "tie", d->n_order > 1 && cause_ties(d, i > 0 ? c : cause(d, 1)),
                              "next", next, "separates", separation_json(d, i)));
        free(next);
    }
    for (size_t i = 0; i < d->measured + d->later; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double first = d->n_order > 0 ? value_in(d, hypothesis(d, 0), i) / v->scale : 0;
        json_array_append_new(values,
                              json_pack("{s:s, s:s, s:s?, s:s, s:f, s:o, s:o}", "quantity",
                                        v->quantity, "place", v->place, "size", size_of(v), "unit",
                                        v->unit, "measured", v->value / v->scale, "healthy",
                                        number(usual_value(d, &d->list[0], i) / v->scale), "first",
                                        d->n_order > 0 ? number(first) : json_null()));
    }
    const char *name = json_string_value(json_object_get(d->fit.draft.json, "name"));
    return json_pack("{s:s, s:b, s:f, s:f, s:o, s:I, s:b, s:o, s:o}", "name", name ? name : "",
                     "healthy", d->healthy, "unexplained", unexplained(d), "units", unit_error(d),
                     "fit", number(d->list[0].misfit), "runs", (json_int_t)d->fit.runs,
                     "interrupted", d->fit.interrupted, "causes", causes, "values", values);
}

// The scenario with the settings of the first cause, or the healthy one.
static int write_scenario(const struct diagnosis *d, struct err *err)
{
    size_t best = d->n_order > 0 && !d->healthy ? cause(d, 0)->best : 0, i;
    struct draft made = {.json = json_deep_copy(d->fit.draft.json), .folder = d->fit.draft.folder};
    const json_t *one;
    int status = 0;
    if (d->limited)
        json_object_del(json_object_get(made.json, "limits"), "sim_time");
    json_array_foreach(d->forms[best].set, i, one)
    {
        char *path = memory_text(json_string_value(one)), *sign = strchr(path, '=');
        *sign = '\0';
        status |= draft_set(&made, path, sign + 1, err);
        free(path);
    }
    if (status == 0 && json_write(d->options->file, made.json) != EXIT_DONE)
        status = -1; // it has said why
    json_decref(made.json);
    return status;
}

int diagnosis_tell(const struct diagnosis *d, struct err *err)
{
    json_t *json = diagnosis_json(d);
    int status = 0;
    if (d->options->format == FORMAT_JSON) {
        json_write(NULL, json);
    } else if (!d->options->quiet) {
        print_causes(d);
        print_values(d);
        if (d->files.notes)
            printf("\n  %s", d->files.notes);
        printf("\n  %llu runs%s\n", (unsigned long long)d->fit.runs,
               d->fit.interrupted ? "; interrupted" : "");
    }
    if (d->options->out) {
        status = result_set_put_json(d->options->out, "diagnosis.json", json, err);
    }
    if (d->options->file)
        status |= write_scenario(d, err);
    json_decref(json);
    return status;
}
