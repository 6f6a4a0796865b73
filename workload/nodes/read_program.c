// SPDX-License-Identifier: MIT
// Reads program jobs: algorithms, groups and nodes, and checks them.
#include "engine/text/schema_parts.h"
#include "workload/nodes/node_check.h"
#include "workload/nodes/program_nodes.h"
#include "workload/nodes/read_tiers.h"
#include "workload/read/group_algorithms.h"
#include "workload/read/job_reader.h"

static void read_program(struct reader *r, const struct place *place, struct keys *keys,
                         struct job_spec *job)
{
    struct program_settings *settings = job->settings;
    struct place file = place_key(place, "file"), nodes = place_key(place, "nodes"),
                 groups = place_key(place, "groups");
    char path[PLACE_TEXT];
    size_t errors = r->err->n_errors;
    bool from_file = settings->params.file[0] != '\0';
    map_ranks(r, place, job, &settings->params.mapping);
    settings->choice.params = settings->params.group;
    group_algorithms_read(r, place, keys, &settings->choice);
    tiers_read(r, place, keys, job, &settings->tiers);
    if (from_file) {
        keys_add(keys, "groups");
        keys_add(keys, "nodes");
        if (nodes.json != NULL || groups.json != NULL)
            place_error(r->err, nodes.json ? &nodes : &groups, "cannot be combined with `file`");
        else if (r->err->n_errors == errors)
            program_file_read(r, &file, job);
    } else {
        program_nodes_read(r, place, keys, job);
    }
    if (r->err->n_errors == errors && job_size(r, job) > 0)
        node_program_check(&settings->nodes, place_text(from_file ? &file : &nodes, path), r->err);
}

static void write_program(json_t *json, const struct job_spec *job, const json_t *given)
{
    const struct program_settings *settings = job->settings;
    group_algorithms_write(json, &settings->choice);
    tiers_write(json, &settings->tiers, given);
    if (json_object_get(given, "groups") != NULL)
        json_object_set(json, "groups", json_object_get(given, "groups"));
    if (json_object_get(given, "nodes") != NULL)
        json_object_set(json, "nodes", json_object_get(given, "nodes"));
}

static void program_schema(json_t *object)
{
    group_algorithms_schema(object);
    tiers_schema(object);
    schema_key(object, "groups", program_groups_schema(), false);
    schema_key(object, "nodes", program_nodes_schema(), false);
}

static const struct own_key program_keys[] = {
    GROUP_ALGORITHM_KEY,
    LIBRARY_KEY,
    TIERS_KEY,
    {"groups", "object", "none",
     "ordered lists of ranks that run collectives together, by name: a list, or {\"ranks\": "
     "[..], \"use\": \"data\"}"},
    {"nodes", "list", "required without file",
     "{rank, id, kind, after, ..}: a rank, a list of ranks or \"all\"; see docs/programs.md"},
};
const struct job_reader program_reader = {read_program, write_program, program_schema, program_keys,
                                          5};
