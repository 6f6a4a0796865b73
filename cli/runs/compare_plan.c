// SPDX-License-Identifier: MIT
// The runs of a comparison: every value of --vary under every policy of --cc with every seed.
#include <stdlib.h>
#include <string.h>

#include "cli/runs/run_folder.h"
#include "cli/runs/runs_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- a run ---- */

struct collwire_scenario *compare_load(const struct compare *c, const struct variant *one,
                                       struct err *err)
{
    const struct options *o = c->options;
    struct options sets = {0};
    char *seed = text_format("%llu", (unsigned long long)one->seed);
    options_set_all(&sets, o->sets, o->n_sets);
    for (size_t p = 0; p < grid_paths(&c->grid); p++)
        options_set(&sets, grid_path(&c->grid, p), grid_value(&c->grid, one->point, p));
    options_set(&sets, "seed", seed);
    if (one->choice)
        options_set_all(&sets, one->choice->sets, one->choice->n_sets);
    struct collwire_scenario *scenario =
        scenario_open(o, one->of->path, sets.sets, sets.n_sets, err);
    free(seed);
    free(sets.sets);
    return scenario;
}

static char *dir_of(const struct compare *c, const struct variant *one)
{
    char *folder = run_folder(one->of->name, one->name, c->options->seeds > 1 ? &one->seed : NULL);
    char *dir = text_format("%s/%s", c->dir, folder);
    free(folder);
    return dir;
}

// The name of a run in tables: the values that vary, then the policy where --cc names some.
static char *name_of(const struct compare *c, const struct variant *one)
{
    char *values = grid_values_text(&c->grid, one->point, NULL);
    char *name = text_format("%s%s%s", values, *values && one->choice ? ", " : "",
                             one->choice ? one->choice->text : "");
    free(values);
    return name;
}

static void check_dirs(const struct compare *c, struct err *err)
{
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < i; k++)
            if (strcmp(c->list[i].dir, c->list[k].dir) == 0)
                err_add(err, c->list[i].dir, "would hold the results of two runs");
}

// Add the runs of a value and a policy, NULL = the scenario's own. The scenario with the first seed
// is loaded here, to report its errors; the workers load the others.
static void add_runs(struct compare *c, struct compared *of, size_t point,
                     const struct policy_choice *choice, struct err *err)
{
    char *policy = choice ? memory_text(choice->text) : NULL;
    for (uint64_t k = 0; k < c->options->seeds; k++) {
        struct variant one = {.of = of, .choice = choice, .point = point};
        struct err own = {0};
        one.seed = collwire_scenario_seed(of->base) + k;
        one.name = name_of(c, &one);
        one.dir = dir_of(c, &one);
        if (grid_paths(&c->grid) > 0)
            one.vary = grid_values_json(&c->grid, point);
        if (k == 0)
            one.scenario = compare_load(c, &one, &own);
        err_add_all(err, one.name, &own);
        err_free(&own);
        if (!policy && one.scenario)
            policy = policy_own(scenario_of(one.scenario));
        one.policy = memory_text(policy ? policy : "");
        c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
        c->list[c->n++] = one;
    }
    free(policy);
}

/* ---- all of them ---- */

// A value with errors ends with its first policy.
static void add_point(struct compare *c, struct compared *of, size_t point, struct err *err)
{
    size_t errors = err->n_errors;
    if (!c->options->cc && grid_paths(&c->grid) > 0) {
        add_runs(c, of, point, NULL, err);
        return;
    }
    for (size_t i = 0; i < of->n_choices && err->n_errors == errors; i++)
        add_runs(c, of, point, &of->choices[i], err);
}

// Load all scenarios, so that the errors of all are reported at once.
static void open_scenarios(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    for (size_t i = 0; i < o->n_args; i++) {
        struct compared *of = &c->scenarios[c->n_scenarios++];
        of->path = o->args[i];
        of->base = scenario_open_one(o, of->path, err);
        if (!of->base)
            continue;
        of->name = collwire_scenario_name(of->base);
        for (const struct compared *other = c->scenarios; other < of; other++)
            if (other->name && strcmp(other->name, of->name) == 0)
                err_add(err, of->path, "has the same name as %s: \"%s\"", other->path, of->name);
    }
    if (!c->dir && o->n_args == 1 && !o->out) // one scenario's name is that of the directory
        c->dir = text_format("out/%s-compare", c->scenarios[0].name ? c->scenarios[0].name : "");
    else if (!c->dir)
        c->dir = memory_text(o->out ? o->out : "out/compare");
}

static void add_scenario(struct compare *c, struct compared *of, struct err *err)
{
    const struct options *o = c->options;
    size_t errors = err->n_errors;
    char *all = o->cc ? NULL : policy_choices_default(scenario_of(of->base));
    of->n_choices =
        policy_choices_read(o->cc ? o->cc : all, scenario_of(of->base), &of->choices, err);
    free(all);
    size_t points = grid_points(&c->grid, err);
    for (size_t point = 0; point < points && err->n_errors == errors; point++)
        add_point(c, of, point, err);
}

static bool has_value(const struct variant *one, const char *text)
{
    const char *path;
    json_t *value;
    json_object_foreach(one->vary, path, value)
    {
        if (strcmp(json_string_value(value), text) == 0)
            return true;
    }
    return false;
}

// Choose the baseline: the first run with the name, value or policy of --baseline, else with policy
// `none`, else the first run.
static void choose_baseline(struct compare *c, struct err *err)
{
    const char *wanted = c->options->baseline ? c->options->baseline : "none";
    if (c->n > 0)
        c->baseline = c->list[0].name;
    for (size_t i = 0; i < c->n; i++) {
        const struct variant *one = &c->list[i];
        if (strcmp(one->name, wanted) == 0 || strcmp(one->policy, wanted) == 0 ||
            has_value(one, wanted)) {
            c->baseline = one->name;
            return;
        }
    }
    if (c->options->baseline && err->n_errors == 0)
        err_add(err, "--baseline", "\"%s\" is not one of the policies%s that are compared", wanted,
                grid_paths(&c->grid) > 0 ? " or values" : "");
}

// Read --vary into the grid, and the heading of the rows that follows from it: "algorithm, policy".
static void read_axis(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    if (o->vary.n > 1)
        err_add(err, "--vary", "compare has one axis; a sweep has several");
    else if (o->vary.n == 1)
        grid_vary(&c->grid, o->vary.list[0], err);
    if (grid_varies(&c->grid, "seed"))
        err_add(err, "--vary", "seeds are compared with --seeds");
    if (o->cc && (grid_varies(&c->grid, "cc") || grid_varies(&c->grid, "cc.kind")))
        err_add(err, "--cc", "the policy is varied already, by --vary");
    struct text text;
    FILE *out = text_open(&text);
    for (size_t p = 0; p < grid_paths(&c->grid); p++) {
        const char *path = grid_path(&c->grid, p), *dot = strrchr(path, '.');
        fprintf(out, "%s%s", p > 0 ? ", " : "", dot ? dot + 1 : path);
    }
    if (grid_paths(&c->grid) == 0 || o->cc)
        fprintf(out, "%spolicy", grid_paths(&c->grid) > 0 ? ", " : "");
    c->heading = text_close(out, &text);
}

void compare_plan(struct compare *c, struct err *err)
{
    const struct options *o = c->options;
    c->scenarios = memory_zeroed(o->n_args, sizeof *c->scenarios);
    read_axis(c, err);
    if (err->n_errors == 0)
        open_scenarios(c, err);
    for (size_t i = 0; i < c->n_scenarios && err->n_errors == 0; i++)
        add_scenario(c, &c->scenarios[i], err);
    choose_baseline(c, err);
    check_dirs(c, err);
    if (err->n_errors == 0 && (c->set = result_set_open(c->dir, err)) != NULL) {
        result_set_claim(c->set, "compare.json", err);
        result_set_claim(c->set, "compare.csv", err);
        result_set_claim(c->set, "report.html", err);
    }
}
