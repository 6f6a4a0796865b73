// SPDX-License-Identifier: MIT
// The list of hypotheses: the healthy network, what may be wrong with it, and pairs.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/fit/observed_place.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define PAIRS_TRIED 3 // pairs of ranks

/* ---- the list ---- */

static void take(struct diagnosis *d, struct hypothesis one)
{
    if (d->n == d->cap)
        d->list = memory_grow(d->list, &d->cap, sizeof *d->list);
    one.misfit = INFINITY;
    d->list[d->n++] = one;
}

size_t cause_add(struct diagnosis *d, const struct cause_kind *kind, const char *at,
                 double stands_for)
{
    if (d->n_causes == d->cap_causes)
        d->causes = memory_grow(d->causes, &d->cap_causes, sizeof *d->causes);
    d->causes[d->n_causes] = (struct cause){.kind = kind,
                                            .at = memory_text(at),
                                            .stands_for = stands_for,
                                            .best = SIZE_MAX,
                                            .rank = INFINITY};
    return d->n_causes++;
}

const struct cause *cause_at(const struct diagnosis *d, const struct cause_kind *kind,
                             const char *at)
{
    for (size_t c = 0; c < d->n_causes; c++)
        if (d->causes[c].kind == kind &&
            (strcmp(d->causes[c].at, at) == 0 ||
             (kind->places != AT_DIRECTIONS && is_opposite(d->causes[c].at, at))))
            return &d->causes[c];
    return NULL;
}

size_t hypothesis_add(struct diagnosis *d, size_t cause, double strength)
{
    const struct cause *c = &d->causes[cause];
    struct text words, set;
    FILE *to_words = text_open(&words), *to_set = text_open(&set);
    c->kind->form(&d->facts, c->at, strength, to_words, to_set);
    char *said = text_close(to_words, &words), *lines = text_close(to_set, &set), *rest = lines,
         *line;
    json_t *list = json_array();
    while ((line = strsep(&rest, "\n")) != NULL)
        if (*line)
            json_array_append_new(list, json_string(line));
    free(lines);
    take(d, (struct hypothesis){.cause = cause, .strength = strength, .words = said, .set = list});
    return d->n - 1;
}

static void drop_last(struct diagnosis *d)
{
    struct hypothesis *last = &d->list[--d->n];
    free(last->words);
    json_decref(last->set);
}

void hypothesis_join(struct diagnosis *d, size_t a, size_t b)
{
    const struct hypothesis x = d->list[a], y = d->list[b];
    const char *first = d->causes[x.cause].at, *second = d->causes[y.cause].at;
    json_t *set = json_copy(x.set);
    json_array_extend(set, y.set);
    char *at = text_format("%s%s%s", first, *first && *second ? ", " : "", second);
    size_t cause = cause_add(d, &cause_two, at, 1);
    free(at);
    d->causes[cause].parts[0] = d->causes[x.cause].kind;
    d->causes[cause].parts[1] = d->causes[y.cause].kind;
    take(d, (struct hypothesis){
                .cause = cause, .words = text_format("%s, and %s", x.words, y.words), .set = set});
}

void hypotheses_free(struct diagnosis *d)
{
    for (size_t i = 0; i < d->n; i++) {
        free(d->list[i].words);
        json_decref(d->list[i].set);
    }
    for (size_t i = 0; d->forms && i < d->n; i++) {
        free(d->forms[i].name);
        json_decref(d->forms[i].set);
    }
    for (size_t i = 0; i < d->n_causes; i++) {
        free(d->causes[i].at);
        free(d->causes[i].spread);
        free(d->causes[i].related);
    }
    facts_free(&d->facts);
    free(d->causes);
    free(d->forms);
    free(d->list);
    free(d->order);
    free(d->alike);
    free(d->spread);
    free(d->related);
}

/* ---- causes of a kind ---- */

static bool has_cause(const struct diagnosis *d, size_t from, const char *at)
{
    for (size_t i = from; i < d->n_causes; i++)
        if (strcmp(d->causes[i].at, at) == 0)
            return true;
    return false;
}

// The tier of a link between switches; upwards and downwards are one.
static void add_tier(struct diagnosis *d, const struct cause_kind *kind, const char *link,
                     size_t from)
{
    char *pattern = name_pattern(link), *arrow = strstr(pattern, "->");
    char *back = arrow ? text_format("%s->%.*s", arrow + 2, (int)(arrow - pattern), pattern) : NULL;
    if (back && !has_cause(d, from, pattern) && !has_cause(d, from, back))
        cause_add(d, kind, pattern, 1);
    free(back);
    free(pattern);
}

static void add_at_links(struct diagnosis *d, const struct cause_kind *kind)
{
    size_t from = d->n_causes;
    for (size_t i = 0; i < d->facts.links.n; i++) {
        const struct place *p = &d->facts.links.list[i];
        bool trunk = link_is_trunk(p->at);
        if (kind->places == AT_TIERS && trunk)
            add_tier(d, kind, p->at, from);
        else if (kind->places == AT_DIRECTIONS || (kind->places == AT_LINKS && !p->back) ||
                 (kind->places == AT_TRUNKS && trunk && !p->back))
            cause_add(d, kind, p->at, p->stands_for);
    }
}

static void add_at_ranks(struct diagnosis *d, const struct cause_kind *kind)
{
    for (size_t i = 0; i < d->facts.ranks.n; i++)
        cause_add(d, kind, d->facts.ranks.list[i].at,
                  d->facts.ranks.list[i].stands_for * (kind->sources ? d->facts.n_ranks : 1));
}

static void add_pairs(struct diagnosis *d, const struct cause_kind *kind)
{
    uint32_t n = d->facts.n_ranks;
    for (uint32_t i = 0; i < PAIRS_TRIED && i < n / 2; i++) {
        char *at = text_format("rank%u, rank%u", i, i + n / 2);
        cause_add(d, kind, at, (double)n * n / 4 / PAIRS_TRIED);
        free(at);
    }
}

static void add_kind(struct diagnosis *d, const struct cause_kind *kind)
{
    size_t from = d->n_causes;
    if (kind->may && !kind->may(&d->facts))
        return;
    if (kind->places == AT_ALL)
        cause_add(d, kind, "", 1);
    else if (kind->places == AT_RANKS)
        add_at_ranks(d, kind);
    else if (kind->places == AT_PAIRS)
        add_pairs(d, kind);
    else
        add_at_links(d, kind);
    for (size_t c = from; c < d->n_causes; c++)
        for (size_t s = 0; s < (kind->strengths ? kind->n_strengths : 1); s++) {
            size_t made = hypothesis_add(d, c, kind->strengths ? kind->strengths[s] : 0);
            if (json_array_size(d->list[made].set) == 0)
                drop_last(d);
        }
}

/* ---- settings ---- */

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

/* ---- all of them ---- */

int hypotheses_make(struct diagnosis *d, struct err *err)
{
    static struct kind_rows (*const tables[KIND_TABLES])(void) = {kinds_of_links, kinds_of_switches,
                                                                  kinds_of_hosts, kinds_of_jobs};
    list_jobs(d->fit.draft.json);
    d->later = d->files.n_later;
    d->measured = d->fit.measured.n - d->later;
    if (healthy_run(d, err) != 0)
        return -1;
    probes_add(d, d->facts.metrics);
    take(d, (struct hypothesis){.cause = SIZE_MAX,
                                .words = memory_text("the network as it is described"),
                                .set = json_array()});
    for (size_t t = 0; t < KIND_TABLES; t++) {
        struct kind_rows table = tables[t]();
        for (size_t i = 0; i < table.n; i++)
            add_kind(d, &table.rows[i]);
    }
    hypotheses_give(d, 0);
    return fit_keep_in(&d->fit, KEPT_RUNS, err);
}
