// SPDX-License-Identifier: MIT
// The list of hypotheses: the healthy network, what may be wrong with it, and pairs.
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define LINKS_ALL 40    // links of a network of which each is tried
#define FAR 3.0         // sigmas from the healthy network: such a value names places
#define PROBES_LINKS 48 // links whose use may separate causes

/* ---- the list ---- */

static void take(struct diagnosis *d, struct hypothesis one)
{
    if (d->n == d->cap)
        d->list = memory_grow(d->list, &d->cap, sizeof *d->list);
    one.misfit = INFINITY;
    d->list[d->n++] = one;
}

void hypothesis_add(struct diagnosis *d, const char *kind, const char *at, char *words,
                    const char *format, ...)
{
    char *text = NULL, *rest, *line;
    va_list args;
    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    text = memory_zeroed((size_t)length + 1, 1);
    va_start(args, format);
    vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    json_t *set = json_array();
    for (rest = text; (line = strsep(&rest, "\n")) != NULL;)
        if (*line)
            json_array_append_new(set, json_string(line));
    free(text);
    take(d, (struct hypothesis){.kind = kind, .at = memory_text(at), .words = words, .set = set});
}

size_t hypothesis_join(struct diagnosis *d, size_t a, size_t b)
{
    const struct hypothesis x = d->list[a], y = d->list[b];
    json_t *set = json_copy(x.set);
    json_array_extend(set, y.set);
    take(d, (struct hypothesis){.kind = "two",
                                .at = text_format("%s%s%s", x.at, *x.at && *y.at ? ", " : "", y.at),
                                .words = text_format("%s, and %s", x.words, y.words),
                                .set = set});
    return d->n - 1;
}

void hypotheses_free(struct diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->list[i].at);
        free(d->list[i].words);
        json_decref(d->list[i].set);
    }
    for (size_t i = 0; d->forms && i < d->n; i++) {
        free(d->forms[i].name);
        json_decref(d->forms[i].set);
    }
    free(d->forms);
    free(d->list);
    free(d->order);
}

/* ---- places ---- */

// Whether two names differ in their numbers alone: such links are alike.
static bool alike(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

// Whether a value that is far from the healthy network is of this link, or of one of its ends.
static bool is_named(const struct diagnosis *d, const char *link)
{
    for (size_t i = 0; i < d->measured; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        if (*v->place == '\0' || fabs(fit_residual(&d->fit, d->list[0].point, i)) < FAR)
            continue;
        char *copy = memory_text(v->place), *rest = copy, *end;
        bool found = strcmp(v->place, link) == 0;
        while (!found && (end = strsep(&rest, ">")) != NULL) {
            end[strcspn(end, "-")] = '\0';
            size_t n = strlen(end);
            const char *at = n > 0 ? strstr(link, end) : NULL;
            found = at && (at[n] == '\0' || at[n] == '-') && (at == link || at[-1] == '>');
        }
        free(copy);
        if (found)
            return true;
    }
    return false;
}

static void find_links(const struct diagnosis *d, struct healthy_facts *facts)
{
    const json_t *links = json_object_get(facts->metrics, "links"), *one;
    size_t i, all = json_array_size(links);
    facts->links = memory_zeroed(all + 1, sizeof *facts->links);
    json_array_foreach(links, i, one)
    {
        const char *at = json_string_value(json_object_get(one, "at"));
        bool known = false;
        for (size_t k = 0; k < facts->n_links; k++)
            known |= all > LINKS_ALL && alike(facts->links[k], at);
        if (at && (!known || is_named(d, at)))
            facts->links[facts->n_links++] = memory_text(at);
    }
}

/* ---- probes ---- */

static void add_probe(struct diagnosis *d, const char *quantity, const char *place)
{
    struct observed *m = &d->fit.measured;
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].quantity, quantity) == 0 && strcmp(m->list[i].place, place) == 0)
            return;
    m->list = memory_resize(m->list, m->n + 1, sizeof *m->list);
    m->list[m->n++] = (struct observed_value){.quantity = memory_text(quantity),
                                              .place = memory_text(place),
                                              .unit = memory_text(""),
                                              .value = 1,
                                              .relative = 1,
                                              .scale = 1,
                                              .held_out = true};
}

// Quantities that were not measured, but could be.
static void add_probes(struct diagnosis *d, const json_t *metrics)
{
    static const char *const totals[] = {"drops",    "marks",         "cnps",     "pauses",
                                         "timeouts", "retransmitted", "max_queue"};
    const json_t *links = json_object_get(metrics, "links"), *link;
    size_t i;
    for (i = 0; i < sizeof totals / sizeof *totals; i++)
        add_probe(d, totals[i], "");
    json_array_foreach(links, i, link)
    {
        if (i < PROBES_LINKS)
            add_probe(d, "utilization", json_string_value(json_object_get(link, "at")));
    }
}

/* ---- all of them ---- */

// The jobs as a list, so that another one can be added.
static void list_jobs(json_t *scenario)
{
    json_t *jobs = json_object_get(scenario, "workload");
    if (json_is_object(jobs)) {
        json_t *list = json_array();
        json_array_append(list, jobs);
        json_object_set_new(scenario, "workload", list);
    }
}

// The settings of a hypothesis with the ends of lists in place of "[+]".
static json_t *placed(const json_t *scenario, const json_t *set)
{
    json_t *made = json_array(), *one;
    size_t i, added[2] = {0};
    static const char *const lists[] = {"faults", "workload"};
    json_array_foreach(set, i, one)
    {
        const char *text = json_string_value(one), *plus = strstr(text, "[+]");
        size_t which = plus && strncmp(text, "workload", 8) == 0;
        if (!plus) {
            json_array_append(made, one);
            continue;
        }
        size_t end = json_array_size(json_object_get(scenario, lists[which])) + added[which]++;
        char *now = text_format("%s[%zu]%s", lists[which], end, plus + 3);
        json_array_append_new(made, json_string(now));
        free(now);
    }
    return made;
}

void hypotheses_give(struct diagnosis *d, size_t from)
{
    d->forms = memory_resize(d->forms, d->n, sizeof *d->forms);
    for (size_t i = from; i < d->n; i++) {
        json_t *set = placed(d->fit.draft.json, d->list[i].set);
        char *text = json_dumps(set, JSON_COMPACT);
        d->forms[i] = (struct fit_form){text, set};
    }
    d->fit.forms = d->forms;
}

static json_t *run_healthy(struct diagnosis *d, struct err *err)
{
    struct collwire_scenario *scenario =
        scenario_of_json(d->options, d->fit.draft.json, d->fit.draft.folder, err);
    if (!scenario)
        return NULL;
    struct simulated made = simulate_in_memory(scenario, d->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    simulated_free(&made);
    simulate_forget();
    collwire_scenario_free(scenario);
    if (made.code == EXIT_INTERRUPTED)
        ends_note();
    else if (!metrics)
        err_add(err, "scenario", "the healthy network did not run to its end");
    return metrics;
}

static void ranks_of(struct healthy_facts *facts)
{
    const json_t *links = json_object_get(facts->metrics, "links"), *one;
    size_t i;
    json_array_foreach(links, i, one)
    {
        const char *at = json_string_value(json_object_get(one, "at"));
        if (at && strncmp(at, "rank", 4) == 0) {
            uint32_t rank = (uint32_t)strtoul(at + 4, NULL, 10);
            facts->n_ranks = rank + 1 > facts->n_ranks ? rank + 1 : facts->n_ranks;
            double busy_ns =
                       json_number_value(json_object_get(one, "utilization")) * facts->time_ns,
                   bytes = json_number_value(json_object_get(one, "bytes"));
            if (facts->line_bps <= 0 && busy_ns > 0) // whole Gb/s, since both are rounded
                facts->line_bps = round(8 * bytes / busy_ns) * 1e9;
        }
    }
}

int hypotheses_make(struct diagnosis *d, struct err *err)
{
    list_jobs(d->fit.draft.json);
    d->measured = d->fit.measured.n;
    json_t *metrics = run_healthy(d, err);
    if (!metrics)
        return -1;
    add_probes(d, metrics);
    hypothesis_add(d, "healthy", "", memory_text("the network as it is described"), "%s", "");
    hypotheses_give(d, 0);
    if (fit_keep_in(&d->fit, "diagnose.jsonl", err) != 0) {
        json_decref(metrics);
        return -1;
    }
    double places[1][UNKNOWNS_MOST] = {0};
    fit_run(&d->fit, 1, places, &d->list[0].point);
    int status = d->list[0].point ? 0 : -1;
    for (size_t i = 0; i < d->measured && status == 0; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        if (isnan(d->list[0].point->log_mean[i])) {
            char *where = text_format("line %u", v->line);
            status = err_add(err, where, "the results have no %s %s", v->quantity, v->place);
            free(where);
        }
    }
    if (status == 0) {
        struct healthy_facts facts = {.metrics = metrics,
                                      .scenario = json_object_get(metrics, "scenario")};
        facts.time_ns = json_number_value(json_object_get(metrics, "sim_time_ns"));
        ranks_of(&facts);
        find_links(d, &facts);
        hypotheses_of_kinds(d, &facts);
        for (size_t i = 0; i < facts.n_links; i++)
            free(facts.links[i]);
        free(facts.links);
        hypotheses_give(d, 1);
    }
    json_decref(metrics);
    return status;
}
