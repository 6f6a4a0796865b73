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
#define TOO_SMALL 1e-3   // of the floor of a quantity: rounding
#define PROBE_ERROR 0.06 // as a logarithm: of a value that is measured next
#define PROBES_LINKS 32  // links between switches, and of ranks, whose use may separate causes

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
    {"lowest_bandwidth",
     "run ib_write_bw of each rank with the next one (or the +Nth) and take the lowest of", "Gb/s",
     1e9, true},
    {"highest_bandwidth",
     "run ib_write_bw of each rank with the next one (or the +Nth) and take the highest of", "Gb/s",
     1e9, true},
    {"small_time", "run the same collective with 8 KB", "us", 1e3, true},
    {"idle_bytes", "read the bytes that the ports of hosts send while the job stands", "MB", 1e6,
     true},
};

// Ranks of a server, which have links of their own: the size of the first of several dimensions.
static uint32_t ranks_of_server(const struct facts *f)
{
    const json_t *dims = fact(f, "topology.dims");
    return json_array_size(dims) > 1
               ? (uint32_t)json_integer_value(json_object_get(json_array_get(dims, 0), "size"))
               : 1;
}

// The use of links between switches, or of ranks: of many every Nth.
static void probe_links(struct observed *m, const json_t *links, bool trunks)
{
    const json_t *link;
    size_t i, n = 0, seen = 0;
    json_array_foreach(links, i, link) n +=
        link_is_trunk(json_string_value(json_object_get(link, "at"))) == trunks;
    json_array_foreach(links, i, link)
    {
        const char *at = json_string_value(json_object_get(link, "at"));
        if (link_is_trunk(at) == trunks && seen++ % (n / PROBES_LINKS + 1) == 0)
            observed_want(m, "utilization", at);
    }
}

void probes_add(struct diagnosis *d, const json_t *metrics)
{
    static const char *const totals[] = {"drops",    "marks",         "cnps",     "pauses",
                                         "timeouts", "retransmitted", "max_queue"};
    struct observed *m = &d->fit.measured;
    const json_t *links = json_object_get(metrics, "links"), *link;
    uint32_t inner = ranks_of_server(&d->facts);
    size_t i;
    for (i = 0; i < sizeof totals / sizeof *totals; i++)
        observed_want(m, totals[i], "");
    for (i = 0; i < sizeof tests / sizeof *tests && d->facts.n_ranks > 1; i++) {
        bool of_job = strcmp(tests[i].quantity, "small_time") == 0;
        if (of_job && !json_object_get(fact_job(&d->facts), "bytes"))
            continue;
        char *place = of_job         ? memory_text("")
                      : tests[i].all ? text_format("rank0-%u", d->facts.n_ranks - 1)
                                     : text_format("rank0->rank%u", d->facts.n_ranks / 2);
        observed_want(m, tests[i].quantity, place);
        free(place);
        if (tests[i].all && !of_job && inner > 1 && inner < d->facts.n_ranks) {
            place = text_format("rank0-%u+%u", d->facts.n_ranks - 1, inner);
            observed_want(m, tests[i].quantity, place);
            free(place);
        }
    }
    json_array_foreach(links, i, link)
    {
        const char *at = json_string_value(json_object_get(link, "at"));
        char *pattern = name_pattern(at);
        observed_want(m, "utilization", pattern);
        observed_want(m, "bytes", pattern);
        free(pattern);
    }
    probe_links(m, links, true);
    probe_links(m, links, false);
}

/* ---- which one ---- */

static double value_of_level(const struct observed_value *v, double level)
{
    double floor = observed_reach(v).floor, value = exp(level) - floor;
    return value > TOO_SMALL * floor ? value : 0;
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

// The level of a value itself, without that of the time.
static double level_alone(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                          double *variance)
{
    double unused, weight = weight_of(d, value), level = predicted_level(d, h, value, variance);
    return weight > 0 ? level - weight * predicted_level(d, h, d->clock, &unused) : level;
}

static struct separation separation_of(const struct diagnosis *d, const struct cause *here,
                                       const struct cause *there)
{
    const struct hypothesis *a = &d->list[here->best], *b = &d->list[there->best];
    struct separation found = {.other = there};
    double most = APART;
    for (size_t i = d->measured + d->later; i < d->fit.measured.n; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        double x_var, y_var, x = level_alone(d, a, i, &x_var), y = level_alone(d, b, i, &y_var);
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

// What to read of the results of the job, by its quantity, and the unit in which it is said.
static const struct {
    const char *quantity, *words, *unit;
    double scale;
} readings[] = {
    {"bytes", "add up the bytes of", "MB", 1e6},
    {"packets", "add up the packets of", "packets", 1},
    {"utilization", "read the highest utilization of", "%", 0.01},
    {"max_queue", "read the longest queue", "KB", 1e3},
    {"drops", "count dropped packets", "", 1},
    {"marks", "count packets with ECN marks", "", 1},
    {"cnps", "count CNPs", "", 1},
    {"pauses", "count PFC pause frames", "", 1},
    {"timeouts", "count timeouts", "", 1},
    {"retransmitted", "count retransmitted packets", "", 1},
};

char *cause_next(const struct diagnosis *d, size_t place)
{
    const struct cause *c = &d->causes[d->order[place]];
    struct separation s = cause_separation(d, place);
    const char *words = NULL, *unit = "";
    double scale = 1;
    if (!s.value)
        return memory_text(c->kind->next);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].quantity, s.value->quantity) == 0) {
            words = tests[i].words;
            unit = tests[i].unit;
            scale = tests[i].scale;
        }
    for (size_t i = 0; i < sizeof readings / sizeof *readings; i++)
        if (strcmp(readings[i].quantity, s.value->quantity) == 0) {
            words = readings[i].words;
            unit = readings[i].unit;
            scale = readings[i].scale;
        }
    const char *space = *unit && strcmp(unit, "%") != 0 ? " " : "", *at = s.value->place;
    return text_format("%s%s%s: %.3g%s%s if so, %.3g%s%s if it is the %s one",
                       words ? words : s.value->quantity, *at ? " " : "", at, s.here / scale, space,
                       unit, s.there / scale, space, unit, place > 0 ? "first" : "second");
}
