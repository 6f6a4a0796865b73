// SPDX-License-Identifier: MIT
// Loads a scenario: reads the file in order, checks it, and owns the description.
#include "config/scenario.h"

#include <stdlib.h>
#include <string.h>

#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "engine/text/json_path.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return memory_text(".");
    char *dir = memory_text(path);
    dir[slash == path ? 1 : slash - path] = '\0';
    return dir;
}

// Takes over `root` and `dir`.
static struct scenario *build(json_t *root, char *dir, const char *path,
                              const struct collwire_setting *sets, size_t n_sets,
                              const struct policies *policies, struct err *err)
{
    size_t errors = err->n_errors;
    if (root != NULL && !json_is_object(root)) {
        err_add(err, path, "a scenario must be an object, not %s", json_noun(root));
        json_decref(root);
        root = NULL;
    }
    if (root == NULL) {
        free(dir);
        return NULL;
    }
    for (size_t i = 0; i < n_sets; i++)
        json_path_set(root, sets[i].path, sets[i].value, err);
    struct scenario *scenario = memory_zeroed(1, sizeof *scenario);
    scenario->root = root;
    scenario->dir = dir;
    scenario->policies = policies_copy(policies);
    struct reader reader = {.err = err,
                            .dir = dir,
                            .kept = &scenario->kept,
                            .site = &scenario->site,
                            .scenario = scenario,
                            .policies = &scenario->policies.catalogue};
    struct place place = {.json = root};
    object_defaults(&scenario_object, scenario);
    object_read(&reader, &place, &scenario_object, scenario);
    graph_free(&scenario->site.ranks);
    if (err->n_errors > errors) {
        scenario_free(scenario);
        return NULL;
    }
    json_t *resolved = object_json(scenario, &scenario_object, scenario);
    scenario->resolved = json_text(resolved);
    json_decref(resolved);
    return scenario;
}

struct scenario *scenario_load(const char *path, const struct collwire_setting *sets, size_t n_sets,
                               const struct policies *policies, struct err *err)
{
    return build(json_file_read(path, err), folder_of(path), path, sets, n_sets, policies, err);
}

struct scenario *scenario_parse(const char *text, const char *folder,
                                const struct collwire_setting *sets, size_t n_sets,
                                const struct policies *policies, struct err *err)
{
    return build(json_text_read(text, "scenario", err), memory_text(folder), "scenario", sets,
                 n_sets, policies, err);
}

void scenario_free(struct scenario *scenario)
{
    if (scenario == NULL)
        return;
    object_free(&scenario_object, scenario);
    policies_free(&scenario->policies);
    for (size_t i = 0; i < scenario->kept.n; i++)
        scenario->kept.blocks[i].end(scenario->kept.blocks[i].block);
    free(scenario->kept.blocks);
    json_decref(scenario->root);
    free(scenario->dir);
    free(scenario->resolved);
    free(scenario);
}

const struct spec *scenario_spec(const struct scenario *scenario) { return &scenario->spec; }

const char *scenario_resolved(const struct scenario *scenario) { return scenario->resolved; }

const json_t *scenario_given(const struct scenario *scenario) { return scenario->root; }

const char *scenario_dir(const struct scenario *scenario) { return scenario->dir; }

const struct policies *scenario_policies(const struct scenario *scenario)
{
    return &scenario->policies;
}
