// SPDX-License-Identifier: MIT
// The axes of a sweep and its points, from the options.
#include <stdlib.h>
#include <string.h>

#include "cli/sweep/sweep_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

const char sweep_scenario[] = "scenario", sweep_policy[] = "policy", sweep_seed[] = "seed";

// True if the only job of a scenario is a collective; *path is that of its size.
static bool has_size(const struct collwire_scenario *base, const char **path)
{
    const struct spec *spec = scenario_spec(scenario_of(base));
    json_t *resolved = json_loads(collwire_scenario_json(base), 0, NULL);
    bool listed = json_is_array(json_object_get(resolved, "workload"));
    json_decref(resolved);
    *path = listed ? "workload[0].bytes" : "workload.bytes";
    return spec->n_jobs == 1 && strcmp(spec->jobs[0].kind->name, "collective") == 0;
}

static void add_sizes(struct sweep *s, struct err *err)
{
    const char *path = NULL, *own;
    for (size_t i = 0; i < s->n_scenarios; i++) {
        if (!has_size(s->bases[i], &own)) {
            err_add(err, "--sizes", "the scenario must have one job, a collective");
            return;
        }
        if (path && strcmp(path, own) != 0) {
            err_add(err, "--sizes", "workload is a list in one scenario and an object in another");
            return;
        }
        path = own;
    }
    grid_sizes(&s->grid, path, s->options->sizes, err);
}

// Several scenarios are an axis of their names.
static void add_scenarios(struct sweep *s, struct err *err)
{
    const char **names = memory_zeroed(s->n_scenarios, sizeof *names);
    for (size_t i = 0; i < s->n_scenarios; i++) {
        names[i] = collwire_scenario_name(s->bases[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(names[i], names[k]) == 0)
                err_add(err, s->paths[i], "has the name of another scenario, \"%s\"", names[i]);
    }
    if (s->n_scenarios > 1)
        grid_add(&s->grid, sweep_scenario, names, s->n_scenarios, err);
    free(names);
}

// Load all scenarios. Returns 0, or -1 with errors.
static int load_scenarios(struct sweep *s, struct err *err)
{
    const struct options *o = s->options;
    bool good = true;
    s->bases = memory_zeroed(s->n_scenarios, sizeof *s->bases);
    for (size_t i = 0; i < s->n_scenarios; i++) {
        s->bases[i] = scenario_open_one(o, s->paths[i], err);
        good &= s->bases[i] != NULL;
    }
    return good ? 0 : -1;
}

static void add_policies(struct sweep *s, struct err *err)
{
    const struct options *o = s->options;
    if (grid_varies(&s->grid, "cc") || grid_varies(&s->grid, "cc.kind"))
        err_add(err, "--cc", "the policy is varied already, by --vary");
    s->n_choices = policy_choices_read(o->cc, scenario_of(s->bases[0]), &s->choices, err);
    const char **names = memory_zeroed(s->n_choices, sizeof *names);
    for (size_t i = 0; i < s->n_choices; i++)
        names[i] = s->choices[i].text;
    if (s->n_choices > 0)
        grid_add(&s->grid, sweep_policy, names, s->n_choices, err);
    free(names);
}

static void add_seeds(struct sweep *s, struct err *err)
{
    uint64_t n = s->options->seeds;
    if (grid_varies(&s->grid, sweep_seed)) {
        if (n > 1)
            err_add(err, "--seeds", "the seed is varied already");
        return;
    }
    char **seeds = memory_zeroed(n, sizeof *seeds);
    for (uint64_t k = 0; k < n; k++)
        seeds[k] = text_format("%llu", (unsigned long long)collwire_scenario_seed(s->bases[0]) + k);
    grid_add(&s->grid, sweep_seed, (const char *const *)seeds, n, err);
    texts_free(seeds, n);
}

void sweep_plan(struct sweep *s, struct err *err)
{
    const struct options *o = s->options;
    size_t part, parts;
    bool loaded = load_scenarios(s, err) == 0;
    options_shard(o, &part, &parts, err);
    if (loaded)
        add_scenarios(s, err);
    for (size_t i = 0; i < o->vary.n; i++)
        grid_vary(&s->grid, o->vary.list[i], err);
    if (!loaded)
        return;
    if (o->cc)
        add_policies(s, err);
    if (o->sizes)
        add_sizes(s, err);
    add_seeds(s, err);
    if (err->n_errors > 0 || (s->n_grid = grid_points(&s->grid, err)) == 0)
        return;
    s->points = memory_zeroed(s->n_grid / parts + 1, sizeof *s->points);
    for (size_t at = part - 1; at < s->n_grid; at += parts)
        s->points[s->n++].position = at;
    s->dir = o->out ? memory_text(o->out)
             : s->n_scenarios > 1
                 ? memory_text("out/sweep")
                 : text_format("out/%s-sweep", collwire_scenario_name(s->bases[0]));
}
