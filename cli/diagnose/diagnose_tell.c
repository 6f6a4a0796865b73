// SPDX-License-Identifier: MIT
// What a diagnosis says, as JSON and in files; and what its words are made of.
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

#define UNIT_ERROR 0.06 // as a logarithm, of a factor of units

const struct cause *told_cause(const struct diagnosis *d, size_t i)
{
    return &d->causes[d->order[i]];
}

const struct hypothesis *told_hypothesis(const struct diagnosis *d, size_t i)
{
    return &d->list[told_cause(d, i)->best];
}

// A factor of units that all measured values have, against the healthy network: 8, 1000, or their
// inverse; 1 = none.
double told_units(const struct diagnosis *d)
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

// The other places that the values do not tell from a cause's own.
static json_t *also(const struct diagnosis *d, const struct cause *c)
{
    json_t *list = places_alike(d, c);
    json_array_remove(list, 0);
    return list;
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
double told_unexplained(const struct diagnosis *d)
{
    return d->healthy ? 0 : d->n_order == 0 ? 1 : 1 - cause_explains(d, told_cause(d, 0));
}

// The size of a collective that a time is of, where files have several; NULL = it is the job's.
const char *told_size(const struct observed_value *v)
{
    static const char bytes[] = ".bytes=";
    bool sized = v->job && strncmp(v->job, bytes, strlen(bytes)) == 0;
    return sized ? v->job + strlen(bytes) : NULL;
}

// The mean of a value over the seeds, of its logarithm; of a count that is 0 in some of them, of
// the logarithm above its floor.
static double usual_value(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    double mean = h->point->log_mean[value];
    if (isfinite(mean))
        return exp(mean);
    double floor = observed_reach(&d->fit.measured.list[value]).floor,
           above = exp(own_level(d, h, value)) - floor;
    return above < 1e-9 * floor ? 0 : above;
}

// The value of a hypothesis; at a larger size, if it ran with it.
double told_value(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    if (value < d->measured || h->cause == SIZE_MAX)
        return usual_value(d, h, value);
    return h->large ? exp(h->large->log_mean[value]) : (double)NAN;
}

/* ---- JSON ---- */

// A number of JSON; null where it is none.
static json_t *number(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static json_t *diagnosis_json(const struct diagnosis *d)
{
    json_t *causes = json_array(), *values = json_array();
    for (size_t i = 0; i < d->n_order; i++) {
        const struct cause *c = told_cause(d, i);
        char *next = cause_next(d, i);
        json_array_append_new(
            causes,
            json_pack("{s:s, s:o, s:s, s:o, s:s, s:O, s:f, s:f, s:b, s:s, s:o}", "kind",
                      c->kind->name, "parts", parts(c), "at", c->at, "also", also(d, c), "words",
                      told_hypothesis(d, i)->words, "set", d->forms[c->best].set, "explains",
                      cause_explains(d, c), "fit", told_hypothesis(d, i)->misfit, "tie",
                      d->n_order > 1 && cause_ties(d, i > 0 ? c : told_cause(d, 1)), "next", next,
                      "separates", separation_json(d, i)));
        free(next);
    }
    for (size_t i = 0; i < d->measured + d->later; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double first = d->n_order > 0 ? told_value(d, told_hypothesis(d, 0), i) / v->scale : 0;
        json_array_append_new(values,
                              json_pack("{s:s, s:s, s:s?, s:s, s:f, s:o, s:o}", "quantity",
                                        v->quantity, "place", v->place, "size", told_size(v),
                                        "unit", v->unit, "measured", v->value / v->scale, "healthy",
                                        number(usual_value(d, &d->list[0], i) / v->scale), "first",
                                        d->n_order > 0 ? number(first) : json_null()));
    }
    const char *name = json_string_value(json_object_get(d->fit.draft.json, "name"));
    return json_pack("{s:s, s:b, s:f, s:f, s:o, s:I, s:b, s:o, s:o}", "name", name ? name : "",
                     "healthy", d->healthy, "unexplained", told_unexplained(d), "units",
                     told_units(d), "fit", number(d->list[0].misfit), "runs",
                     (json_int_t)d->fit.runs, "interrupted", d->fit.interrupted, "causes", causes,
                     "values", values);
}

// The scenario with the settings of the first cause, or the healthy one.
static int write_scenario(const struct diagnosis *d, struct err *err)
{
    size_t best = d->n_order > 0 && !d->healthy ? told_cause(d, 0)->best : 0, i;
    struct draft made = {.json = json_deep_copy(d->fit.draft.json), .folder = d->fit.draft.folder};
    const json_t *one;
    int status = 0;
    if (d->limited)
        json_object_del(json_object_get(made.json, "limits"), "sim_time");
    if (d->own_bytes)
        json_object_set(draft_job(made.json), "bytes", d->own_bytes);
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
        diagnosis_print(d);
    }
    if (d->options->out) {
        status = result_set_put_json(d->options->out, "diagnosis.json", json, err);
    }
    if (d->options->file)
        status |= write_scenario(d, err);
    json_decref(json);
    return status;
}
