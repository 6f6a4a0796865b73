// SPDX-License-Identifier: MIT
// What to measure next: the quantity that tells a cause from the one it ties with, or what confirms
// it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define APART 2.2        // standard deviations between two causes that a probe tells apart
#define PROBE_ERROR 0.06 // as a logarithm: of a value that is measured next
#define PROBES_LINKS 48  // links whose use may separate causes

/* ---- probes ---- */

// Tests between two ranks, or of each rank with its neighbour.
static const struct {
    const char *quantity, *words, *unit;
    double scale;
    bool all;
} tests[] = {
    {"latency", "run ib_write_lat", "us", 1e3, false},
    {"bandwidth", "run ib_write_bw", "Gb/s", 1e9, false},
    {"message_rate", "run ib_write_bw with messages of 64 B", "M messages/s", 1e6, false},
    {"lowest_bandwidth", "run ib_write_bw of each rank with the next one and take the lowest",
     "Gb/s", 1e9, true},
    {"highest_bandwidth", "run ib_write_bw of each rank with the next one and take the highest",
     "Gb/s", 1e9, true},
    {"idle_bytes", "read the bytes that the ports of hosts send while the job stands", "MB", 1e6,
     true},
};

void probes_add(struct diagnosis *d, const json_t *metrics)
{
    static const char *const totals[] = {"drops",    "marks",         "cnps",     "pauses",
                                         "timeouts", "retransmitted", "max_queue"};
    struct observed *m = &d->fit.measured;
    const json_t *links = json_object_get(metrics, "links"), *link;
    size_t i;
    for (i = 0; i < sizeof totals / sizeof *totals; i++)
        observed_want(m, totals[i], "");
    for (i = 0; i < sizeof tests / sizeof *tests && d->facts.n_ranks > 1; i++) {
        char *place = tests[i].all ? text_format("rank0-%u", d->facts.n_ranks - 1)
                                   : text_format("rank0->rank%u", d->facts.n_ranks / 2);
        observed_want(m, tests[i].quantity, place);
        free(place);
    }
    json_array_foreach(links, i, link)
    {
        const char *at = json_string_value(json_object_get(link, "at"));
        char *pattern = name_pattern(at);
        observed_want(m, "utilization", pattern);
        observed_want(m, "bytes", pattern);
        free(pattern);
        if (i < PROBES_LINKS)
            observed_want(m, "utilization", at);
    }
}

/* ---- which one ---- */

static double value_of_level(const struct observed_value *v, double level)
{
    return fmax(0, exp(level) - observed_reach(v).floor);
}

// A cause that stands for other places, too, is told apart by what holds for all of them: a total,
// or the highest of many links.
static bool holds_for(const struct diagnosis *d, const struct cause *c,
                      const struct observed_value *v)
{
    bool of_all =
        strncmp(v->place, "rank", 4) == 0 && strchr(v->place, '-') && !strstr(v->place, "->");
    if (*v->place == '\0' || strchr(v->place, '*') || *c->at == '\0' || of_all)
        return true;
    for (size_t i = 0; i < d->n_causes; i++)
        if (&d->causes[i] != c && cause_same_kind_near(d, c, &d->causes[i]))
            return false;
    return c->stands_for <= 1;
}

static struct separation separation_of(const struct diagnosis *d, const struct cause *here,
                                       const struct cause *there)
{
    const struct hypothesis *a = &d->list[here->best], *b = &d->list[there->best];
    struct separation found = {.other = there};
    double most = APART;
    for (size_t i = d->measured; i < d->fit.measured.n; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double x_var, y_var, x = predicted_level(d, a, i, &x_var),
                             y = predicted_level(d, b, i, &y_var);
        double error = fmax(PROBE_ERROR, observed_reach(v).error),
               apart = fabs(x - y) / sqrt(x_var + y_var + error * error);
        if (!(apart > most) || !holds_for(d, here, v) || !holds_for(d, there, v))
            continue;
        most = apart;
        found.value = v;
        found.here = value_of_level(v, x);
        found.there = value_of_level(v, y);
    }
    return found;
}

// From the first cause, for those that tie with it; from the second one, for the first.
struct separation cause_separation(const struct diagnosis *d, size_t place)
{
    const struct cause *c = &d->causes[d->order[place]],
                       *other = place > 0        ? &d->causes[d->order[0]]
                                : d->n_order > 1 ? &d->causes[d->order[1]]
                                                 : NULL;
    if (!other || !cause_ties(d, place > 0 ? c : other))
        return (struct separation){0};
    return separation_of(d, c, other);
}

char *cause_next(const struct diagnosis *d, size_t place)
{
    const struct cause *c = &d->causes[d->order[place]];
    struct separation s = cause_separation(d, place);
    if (!s.value)
        return memory_text(c->kind->next);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].quantity, s.value->quantity) == 0)
            return text_format("%s, %s: %.3g %s, or %.3g where %s", tests[i].words, s.value->place,
                               s.here / tests[i].scale, tests[i].unit, s.there / tests[i].scale,
                               d->list[s.other->best].words);
    bool several = strchr(s.value->place, '*') != NULL,
         all = strcmp(s.value->quantity, "bytes") == 0;
    return text_format("measure %s%s%s%s: %.3g, or %.3g where %s",
                       !several ? ""
                       : all    ? "all "
                                : "the highest ",
                       s.value->quantity, *s.value->place ? " of " : "", s.value->place, s.here,
                       s.there, d->list[s.other->best].words);
}
