// SPDX-License-Identifier: MIT
// From a file to a description: reading order, ownership.
#include "config/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "config/json_file.h"
#include "config/json_path.h"
#include "config/read.h"
#include "engine/memory.h"
#include "topology/graph_kind.h"

static void check_name(struct reader *r, const struct place *place)
{
    const char *name = json_string_value(place->json);
    if (name == NULL)
        return; // the table has complained
    if (name[0] == '\0' || name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                             "0123456789._-")] != '\0')
        place_error(r->err, place, "\"%s\" must be letters, digits, dots, underscores and hyphens",
                    name);
    else if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        place_error(r->err, place, "\"%s\" is not a name", name);
}

static void read_base(struct reader *r, const struct place *root)
{
    struct dim_spec *base = &r->scenario->base;
    struct place sw = place_key(root, "switch"), transport = place_key(root, "transport"),
                 cc = place_key(root, "cc");
    dim_defaults(base);
    read_switch(r, &sw, &base->sw);
    read_transport(r, &transport, &base->transport);
    read_cc(r, &cc, base);
}

// Dimensions that override something have checked themselves.
static void check_base(struct reader *r, const struct place *root)
{
    const struct scenario *s = r->scenario;
    bool used = s->spec.n_dims == 0;
    for (uint32_t d = 0; d < s->spec.n_dims; d++) {
        const bool *o = s->overrides[d];
        used |= !o[OVERRIDE_SWITCH] && !o[OVERRIDE_TRANSPORT] && !o[OVERRIDE_CC];
    }
    if (used)
        fit_check(r, root, &s->base);
}

// An error for what only a packet network has.
static void check_analytical(struct reader *r, const struct place *root)
{
    static const char *const lists[] = {"capture", "faults", "routes"};
    struct place report = place_key(root, "report"), sample = place_key(&report, "sample");
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct place list = place_key(root, lists[i]);
        if (json_array_size(list.json) > 0)
            place_error(r->err, &list, "the analytical network has no packets, links or switches");
    }
    if (r->scenario->spec.report.sample_ps != 0)
        place_error(r->err, &sample, "the analytical network has no queues or rates to sample");
}

// Notification points that the transport leaves to the presets; after all presets are known and the
// dimensions have taken over what the global transport leaves open.
static void fill_notifications(struct scenario *s)
{
    for (uint32_t d = 0; d < s->spec.n_dims; d++)
        notification_fill(&s->spec.dims[d].transport, s->spec.dims[d].cc_preset);
    notification_fill(&s->base.transport, s->base.cc_preset);
}

static void read_scenario(struct reader *r, const struct place *root)
{
    static const char *const objects[] = {"$schema", "topology", "switch",  "transport",
                                          "cc",      "workload", "capture", "report",
                                          "limits",  "faults",   "routes"};
    struct keys keys = {0};
    struct place name = place_key(root, "name"), topology = place_key(root, "topology"),
                 workload = place_key(root, "workload"), capture = place_key(root, "capture"),
                 report = place_key(root, "report"), limits = place_key(root, "limits"),
                 faults = place_key(root, "faults"), routes = place_key(root, "routes");
    params_default(scenario_params, n_scenario_params, &r->scenario->spec);
    read_params(r, root, &keys, scenario_params, n_scenario_params, &r->scenario->spec);
    check_name(r, &name);
    read_base(r, root);
    read_topology(r, &topology);
    check_base(r, root);
    fill_notifications(r->scenario);
    read_workload(r, &workload);
    read_faults(r, &faults);
    read_routes(r, &routes);
    read_captures(r, &capture);
    read_report(r, &report);
    read_limits(r, &limits);
    if (r->scenario->spec.network == NETWORK_ANALYTICAL)
        check_analytical(r, root);
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++)
        keys_add(&keys, objects[i]);
    keys_check(r, root, &keys);
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return memory_text(".");
    char *dir = memory_text(path);
    dir[slash == path ? 1 : slash - path] = '\0';
    return dir;
}

struct scenario *scenario_load(const char *path, const struct config_set *sets, size_t n_sets,
                               const struct cc_catalogue *policies, struct err *err)
{
    size_t errors = err->n_errors;
    json_t *root = json_file_read(path, err);
    if (root == NULL)
        return NULL;
    if (!json_is_object(root)) {
        err_add(err, path, "a scenario must be an object, not %s", json_noun(root));
        json_decref(root);
        return NULL;
    }
    for (size_t i = 0; i < n_sets; i++)
        json_path_set(root, sets[i].path, sets[i].value, err);
    struct scenario *scenario = memory_zeroed(1, sizeof *scenario);
    scenario->root = root;
    scenario->dir = folder_of(path);
    struct reader reader = {.err = err, .scenario = scenario, .policies = policies};
    struct place place = {.json = root};
    read_scenario(&reader, &place);
    graph_free(&reader.ranks);
    if (err->n_errors > errors) {
        scenario_free(scenario);
        return NULL;
    }
    json_t *resolved = scenario_json(scenario);
    scenario->resolved = json_text(resolved);
    json_decref(resolved);
    return scenario;
}

void scenario_free(struct scenario *scenario)
{
    if (scenario == NULL)
        return;
    struct spec *spec = &scenario->spec;
    for (size_t i = 0; i < spec->n_jobs; i++)
        job_free(&spec->jobs[i]);
    free(spec->jobs);
    free(spec->faults);
    free(spec->routes);
    free(spec->captures);
    free(spec->report.sample_at);
    free(scenario->jobs);
    json_decref(scenario->root);
    for (uint32_t d = 0; d < scenario->spec.n_dims; d++)
        if (scenario->spec.dims[d].kind == &topology_graph)
            free(((struct graph_params *)(void *)scenario->spec.dims[d].params)->links);
    free(scenario->dir);
    free(scenario->resolved);
    free(scenario);
}

const struct spec *scenario_spec(const struct scenario *scenario) { return &scenario->spec; }

const char *scenario_resolved(const struct scenario *scenario) { return scenario->resolved; }

const char *scenario_dir(const struct scenario *scenario) { return scenario->dir; }
