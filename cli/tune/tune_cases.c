// SPDX-License-Identifier: MIT
// The scenarios that are tuned at once: those of the command line, each also with every drawn
// fault.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/tune/tune.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"

#define SEEDS 1
#define RUNS 300     // unless --budget says otherwise
#define CHECK 5      // seeds at least, for an interval
#define QUANTILE 0.9 // over the faults

// A fit without files of its own: it shares the keys, the values and what has run.
static struct fit part_of(const struct tune *t, const struct draft *draft, bool keys)
{
    const struct options *o = t->options;
    struct fit f = {.options = o,
                    .draft = *draft,
                    .measured = t->values,
                    .seeds = o->seeds > 0 ? o->seeds : SEEDS,
                    .budget = o->budget > 0 ? o->budget : RUNS,
                    .known = json_object()};
    f.line.noun = "runs";
    if (keys)
        f.unknowns = t->keys;
    return f;
}

static int add_case(struct tune *t, struct draft draft, char *name, struct err *err)
{
    t->cases = memory_resize(t->cases, t->n_cases + 1, sizeof *t->cases);
    struct tune_case *c = &t->cases[t->n_cases++];
    *c = (struct tune_case){.name = name,
                            .search = part_of(t, &draft, true),
                            .as_is = part_of(t, &draft, false),
                            .unused_as_is = part_of(t, &draft, false),
                            .unused_best = part_of(t, &draft, true)};
    t->check = c->search.seeds > CHECK ? c->search.seeds : CHECK;
    struct fit *all[] = {&c->search, &c->as_is, &c->unused_as_is, &c->unused_best};
    int status = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (i >= 2) {
            all[i]->first_seed = c->search.seeds;
            all[i]->seeds = t->check;
        }
        if (i != 0)
            all[i]->budget = UINT64_MAX;
        status |= fit_keep_in(all[i], "tune.jsonl", err);
    }
    return status;
}

/* ---- faults ---- */

// Links between switches, or if there are none all links, by their names in the results.
static json_t *links_of(const json_t *metrics)
{
    json_t *inner = json_array(), *every = json_array(), *link;
    size_t i;
    json_array_foreach(json_object_get(metrics, "links"), i, link)
    {
        json_t *at = json_object_get(link, "at");
        json_array_append(every, at);
        if (!strstr(json_string_value(at), "rank"))
            json_array_append(inner, at);
    }
    json_t *chosen = json_array_size(inner) > 0 ? inner : every;
    json_incref(chosen);
    json_decref(inner);
    json_decref(every);
    return chosen;
}

// A copy of the draft in which a drawn link has half of its lanes from the begin on.
static struct draft with_fault(const struct draft *draft, const json_t *links, uint32_t number)
{
    struct draft made = {.json = json_deep_copy(draft->json), .folder = memory_text(draft->folder)};
    json_t *faults = json_object_get(made.json, "faults");
    struct rng rng = rng_init(1, RNG_DRAWS, number);
    size_t at = (size_t)rng_below(&rng, json_array_size(links));
    json_t *fault = json_pack("{s:O, s:{s:s, s:f}}", "at", json_array_get(links, at), "rate",
                              "start", "0ns", "share", 0.5);
    if (faults) {
        json_array_append_new(faults, fault);
    } else {
        json_t *list = json_array();
        json_array_append_new(list, fault);
        json_object_set_new(made.json, "faults", list);
    }
    return made;
}

static int add_faults(struct tune *t, const struct draft *draft, const char *name, struct err *err)
{
    struct collwire_scenario *scenario =
        scenario_of_json(t->options, draft->json, draft->folder, err);
    if (!scenario)
        return -1;
    struct simulated made = simulate_in_memory(scenario, t->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL,
           *links = links_of(metrics);
    simulated_free(&made);
    simulate_forget();
    collwire_scenario_free(scenario);
    int status = 0;
    if (made.code == EXIT_INTERRUPTED) {
        ends_note();
        status = -1;
    } else if (json_array_size(links) == 0) {
        status = err_add(err, "--faults", "the results of %s list no links", name);
    }
    for (uint32_t i = 0; i < t->options->faults && status == 0; i++)
        status =
            add_case(t, with_fault(draft, links, i), text_format("%s, fault %u", name, i + 1), err);
    json_decref(links);
    json_decref(metrics);
    return status;
}

/* ---- all of them ---- */

static int open_one(struct tune *t, const char *path, struct err *err)
{
    const struct options *o = t->options;
    struct draft draft;
    int status = draft_read(&draft, path, err);
    for (size_t i = 0; i < o->n_sets && status == 0; i++)
        status |= draft_set(&draft, o->sets[i].path, o->sets[i].value, err);
    if (status != 0) {
        draft_free(&draft);
        return -1;
    }
    const char *name = json_string_value(json_object_get(draft.json, "name"));
    status = add_case(t, draft, memory_text(name ? name : path), err);
    if (status == 0 && o->faults > 0)
        status = add_faults(t, &draft, name ? name : path, err);
    return status;
}

uint64_t tune_cost(const struct tune *t)
{
    return t->n_cases > 0 ? t->cases[0].search.seeds * t->n_cases : 1;
}

// Whether the scenarios are sound in the middle of the ranges, and have the goals as they are.
static int check_cases(struct tune *t, struct err *err)
{
    int status = 0;
    for (size_t c = 0; c < t->n_cases; c++) {
        struct fit *f = &t->cases[c].search;
        struct draft middle = {.json = json_deep_copy(f->draft.json), .folder = f->draft.folder};
        for (size_t k = 0; k < t->keys.n; k++) {
            char text[UNKNOWN_TEXT];
            status |= draft_set(&middle, t->keys.list[k].path,
                                unknown_text(&t->keys.list[k], 0.5, text), err);
        }
        struct collwire_scenario *scenario =
            status == 0 ? scenario_of_json(t->options, middle.json, middle.folder, err) : NULL;
        if (!scenario)
            status = -1;
        else
            collwire_scenario_free(scenario);
        json_decref(middle.json);
        if (status != 0)
            return -1;
    }
    return 0;
}

int tune_open(struct tune *t, struct err *err)
{
    const struct options *o = t->options;
    int status = 0;
    if (o->n_args * (1 + o->faults) > TUNE_SCENARIOS)
        return err_add(err, "scenarios", "at most %d, with their faults", TUNE_SCENARIOS);
    for (size_t i = 0; i < o->n_args; i++)
        status |= open_one(t, o->args[i], err);
    if (status != 0)
        return -1;
    t->quantile = o->faults > 0 ? QUANTILE : 0;
    uint64_t budget = t->cases[0].search.budget, least = tune_least(t);
    if (budget < least)
        return err_add(err, "--budget",
                       "%llu runs are too few: %llu are the least, with %zu keys, %llu seeds and "
                       "%zu scenarios",
                       (unsigned long long)budget, (unsigned long long)least, t->keys.n,
                       (unsigned long long)t->cases[0].search.seeds, t->n_cases);
    // Each case has its part of the runs.
    for (size_t c = 0; c < t->n_cases; c++)
        t->cases[c].search.budget = budget / t->n_cases;
    if (check_cases(t, err) != 0)
        return -1;
    for (size_t c = 0; c < t->n_cases && !t->interrupted; c++) {
        double none[1][UNKNOWNS_MOST] = {0};
        fit_run(&t->cases[c].as_is, 1, none, &t->cases[c].start);
        t->interrupted |= t->cases[c].as_is.interrupted || !t->cases[c].start;
        for (size_t v = 0; v < t->values.n && t->cases[c].start; v++)
            if (isnan(t->cases[c].start->log_mean[v]))
                status = err_add(err, t->cases[c].name, "the results have no %s%s%s",
                                 t->values.list[v].quantity, *t->values.list[v].place ? " " : "",
                                 t->values.list[v].place);
    }
    return status;
}

void tune_free(struct tune *t)
{
    for (size_t c = 0; c < t->n_cases; c++) {
        struct tune_case *one = &t->cases[c];
        struct fit *all[] = {&one->search, &one->as_is, &one->unused_as_is, &one->unused_best};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            fit_points_free(all[i]);
            free(all[i]->store);
            free(all[i]->scenario_mark);
            json_decref(all[i]->known);
        }
        draft_free(&one->search.draft);
        free(one->name);
    }
    free(t->cases);
    tune_words_free(t);
}
