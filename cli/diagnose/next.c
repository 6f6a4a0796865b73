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

// What can be measured: with the job, or by a test of its own.
static const struct probe {
    const char *quantity;
    enum { AS_TOTAL, OF_LINKS, OF_PAIR, OF_ALL_RANKS, OF_SMALL_JOB } where;
    const char *words, *unit; // how it is said
    double scale;
} probes[] = {
    {"drops", AS_TOTAL, "count dropped packets", "", 1},
    {"marks", AS_TOTAL, "count packets with ECN marks", "", 1},
    {"cnps", AS_TOTAL, "count CNPs", "", 1},
    {"pauses", AS_TOTAL, "count PFC pause frames", "", 1},
    {"timeouts", AS_TOTAL, "count timeouts", "", 1},
    {"retransmitted", AS_TOTAL, "count retransmitted packets", "", 1},
    {"max_queue", AS_TOTAL, "read the longest queue", "KB", 1e3},
    {"latency", OF_PAIR, "run ib_write_lat", "us", 1e3},
    {"bandwidth", OF_PAIR, "run ib_write_bw", "Gb/s", 1e9},
    {"message_rate", OF_PAIR, "run ib_write_bw with messages of 64 B", "M messages/s", 1e6},
    {"lowest_bandwidth", OF_ALL_RANKS, "lowest", "Gb/s", 1e9},
    {"highest_bandwidth", OF_ALL_RANKS, "highest", "Gb/s", 1e9},
    {"small_time", OF_SMALL_JOB, "run the same collective with 8 KB", "us", 1e3},
    {"idle_bytes", OF_ALL_RANKS,
     "add up the bytes that the ports of all hosts send while the job stands", "MB", 1e6},
    {"utilization", OF_LINKS, "read the highest utilization of", "%", 0.01},
    {"bytes", OF_LINKS, "add up the bytes of", "MB", 1e6},
};
enum { PROBES = sizeof probes / sizeof *probes };

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

// Predict this quantity at a place; takes the text.
static void want_at(struct observed *m, const char *quantity, char *place)
{
    observed_want(m, quantity, place);
    free(place);
}

static void probe_add(struct observed *m, const struct probe *p, const struct facts *f)
{
    uint32_t last = f->n_ranks - 1, inner = ranks_of_server(f);
    switch (p->where) {
    case AS_TOTAL:
        observed_want(m, p->quantity, "");
        break;
    case OF_SMALL_JOB:
        if (f->n_ranks > 1 && json_object_get(fact_job(f), "bytes"))
            observed_want(m, p->quantity, "");
        break;
    case OF_PAIR:
        if (f->n_ranks > 1)
            want_at(m, p->quantity, text_format("rank0->rank%u", f->n_ranks / 2));
        break;
    case OF_ALL_RANKS:
        if (f->n_ranks > 1)
            want_at(m, p->quantity, text_format("rank0-%u", last));
        if (inner > 1 && inner < f->n_ranks)
            want_at(m, p->quantity, text_format("rank0-%u+%u", last, inner));
        break;
    case OF_LINKS: // in probes_add(), for each link both
        break;
    }
}

void probes_add(struct diagnosis *d, const json_t *metrics)
{
    struct observed *m = &d->fit.measured;
    const json_t *links = json_object_get(metrics, "links"), *link;
    size_t i;
    for (i = 0; i < PROBES; i++)
        probe_add(m, &probes[i], &d->facts);
    json_array_foreach(links, i, link)
    {
        char *pattern = name_pattern(json_string_value(json_object_get(link, "at")));
        for (size_t k = 0; k < PROBES; k++)
            if (probes[k].where == OF_LINKS)
                observed_want(m, probes[k].quantity, pattern);
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

static struct separation separation_of(const struct diagnosis *d, const struct cause *here,
                                       const struct cause *there)
{
    const struct hypothesis *a = &d->list[here->best], *b = &d->list[there->best];
    struct separation found = {.other = there};
    double most = APART;
    for (size_t i = d->measured + d->later; i < d->fit.measured.n; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        struct level p = mean_level(d, a, i), q = mean_level(d, b, i);
        double x = own_level(d, a, i), y = own_level(d, b, i),
               error = fmax(PROBE_ERROR, observed_reach(v).error),
               variance = level_variance(d, a, i, &p) + level_variance(d, b, i, &q),
               apart = fabs(x - y) / sqrt(variance + error * error);
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

// What to do, of all ranks or at a place; to be freed.
static char *probe_words(const struct probe *p, const char *place)
{
    const char *plus = strchr(place, '+');
    if (strstr(p->quantity, "_bandwidth"))
        return text_format("run ib_write_bw from each rank to the one %s further (rank0 to rank%s, "
                           "and so on) and take the %s",
                           plus ? plus + 1 : "1", plus ? plus + 1 : "1", p->words);
    return p->where == OF_ALL_RANKS || *place == '\0' ? memory_text(p->words)
                                                      : text_format("%s %s", p->words, place);
}

char *cause_next(const struct diagnosis *d, size_t place)
{
    const struct cause *c = &d->causes[d->order[place]];
    struct separation s = cause_separation(d, place);
    if (!s.value)
        return memory_text(c->kind->next);
    const struct probe *p = probes; // every value that separates causes is one of them
    while (strcmp(p->quantity, s.value->quantity) != 0)
        p++;
    const char *space = *p->unit && strcmp(p->unit, "%") != 0 ? " " : "";
    char *words = probe_words(p, s.value->place),
         *next = text_format("%s: %.3g%s%s if so, %.3g%s%s if it is the %s one", words,
                             s.here / p->scale, space, p->unit, s.there / p->scale, space, p->unit,
                             place > 0 ? "first" : "second");
    free(words);
    return next;
}
