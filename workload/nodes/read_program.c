// SPDX-License-Identifier: MIT
// Reads program jobs: algorithms, groups and nodes, and checks them.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "engine/text/json_file.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"
#include "workload/nodes/node_check.h"
#include "workload/nodes/program_job.h"
#include "workload/nodes/program_node.h"
#include "workload/nodes/read_tiers.h"
#include "workload/read/group_algorithms.h"
#include "workload/read/job_reader.h"

/* ---- program nodes ---- */

// {"groups": {"tp0": [0, 1], "dp0": {"ranks": [0, 2], "use": "data"}},
//  "nodes": [{"rank": "all", "id": 1, "kind": "compute", "time": "10us"},
//            {"rank": [0, 1], "id": 2, "kind": "collective", "op": "all_reduce", "bytes": "1MB",
//             "group": "tp0", "after": 1}]}

#define ERRORS_MAX 20

static struct node_program *program_of(const struct nodes_reader *n) { return &n->settings->nodes; }

/* ---- groups ---- */

static void group_add(struct nodes_reader *n, const char *name, uint32_t *ranks, uint32_t size,
                      const char *use)
{
    struct node_program *p = program_of(n);
    p->groups = memory_resize(p->groups, p->n_groups + 1, sizeof *p->groups);
    n->group_use = memory_resize(n->group_use, p->n_groups + 1, sizeof *n->group_use);
    n->group_use[p->n_groups] = memory_text(use);
    *table_at(&n->group_of, name, strlen(name)) = p->n_groups + 1;
    p->groups[p->n_groups++] =
        (struct node_group){.name = memory_text(name),
                            .ranks = ranks,
                            .schedule = group_schedule(&n->settings->choice, size),
                            .inner = 1};
}

static void read_group(struct nodes_reader *n, const struct place *place)
{
    struct place ranks = *place, use = place_key(place, "use");
    if (json_is_object(place->json)) {
        struct keys keys = {.names = {"ranks", "use"}, .n = 2};
        keys_check(n->r, place, &keys);
        ranks = place_key(place, "ranks");
    }
    if (!ranks_expand(n->r, &ranks, n->n_ranks))
        return;
    if (!json_is_array(ranks.json) || json_array_size(ranks.json) == 0) {
        place_error(n->r->err, &ranks, "must be a list of ranks or a range like \"0-15\"");
        return;
    }
    uint32_t size = (uint32_t)json_array_size(ranks.json), n_read = 0;
    uint32_t *list = memory_zeroed(size, sizeof *list);
    bool good = true;
    for (uint32_t i = 0; i < size && good; i++) {
        struct place item = place_item(&ranks, i);
        json_int_t value = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        good = rank_check(n->r, &item, n->job, value);
        if (good && n->seen[value])
            good = place_error(n->r->err, &item, "rank %u is listed twice", (unsigned)value) == 0;
        if (good) {
            list[n_read++] = (uint32_t)value;
            n->seen[value] = true;
        }
    }
    for (uint32_t i = 0; i < n_read; i++)
        n->seen[list[i]] = false;
    const char *word = json_string_value(use.json);
    if (use.json != NULL && word == NULL)
        place_error(n->r->err, &use, "must be a string, not %s", json_noun(use.json));
    if (good)
        group_add(n, place->key, list, size, word ? word : "collective");
    else
        free(list);
}

static void read_groups(struct nodes_reader *n, const struct place *place)
{
    const char *name;
    json_t *value;
    group_add(n, "all", NULL, n->n_ranks, "collective");
    if (place->json == NULL || !read_object(n->r, place))
        return;
    json_object_foreach(place->json, name, value)
    {
        struct place item = place_key(place, name);
        if (strcmp(name, "all") == 0)
            place_error(n->r->err, &item, "is the group of all ranks, which need not be given");
        else
            read_group(n, &item);
    }
}

/* ---- the program ---- */

static struct nodes_reader reader_begin(struct reader *r, const struct job_spec *job)
{
    struct nodes_reader n = {
        .r = r, .job = job, .settings = job->settings, .n_ranks = job_size(r, job)};
    struct node_program *p = program_of(&n);
    n.list = node_list_new(n.n_ranks);
    n.seen = memory_zeroed(n.n_ranks, sizeof *n.seen);
    *p = (struct node_program){
        .source = &node_list_source,
        .self = n.list,
        .n_ranks = n.n_ranks,
        .tiers = n.settings->tiers.n > 1 ? &n.settings->tiers : NULL,
        .idle_use = UINT32_MAX,
        .in_order = n.settings->params.order == PROGRAM_IN_ORDER,
        .window = n.settings->params.window == PARAM_AUTO ? 0 : n.settings->params.window};
    return n;
}

static void groups_done(struct nodes_reader *n)
{
    n->checked = memory_zeroed(program_of(n)->n_groups, sizeof *n->checked);
}

static void reader_end(struct nodes_reader *n)
{
    for (uint32_t g = 0; g < program_of(n)->n_groups; g++)
        free(n->group_use[g]);
    free(n->group_use);
    free(n->seen);
    table_free(&n->group_of);
    free(n->checked);
    free(n->after);
}

static bool has_nodes(const struct nodes_reader *n)
{
    for (uint32_t rank = 0; rank < n->n_ranks; rank++)
        if (node_list_size(n->list, rank) > 0)
            return true;
    return false;
}

// Read `groups` and `nodes` of the object `root` into the job's program.
static void program_nodes_read(struct reader *r, const struct place *root,
                               const struct job_spec *job)
{
    struct place groups = place_key(root, "groups"), nodes = place_key(root, "nodes");
    if (job_size(r, job) == 0)
        return;
    struct nodes_reader n = reader_begin(r, job);
    size_t errors = r->err->n_errors;
    read_groups(&n, &groups);
    groups_done(&n);
    if (nodes.json == NULL)
        place_error(r->err, &nodes, "is required: a list of nodes, or `file`");
    else if (read_list(r, &nodes))
        for (size_t i = 0; i < json_array_size(nodes.json) && r->err->n_errors < ERRORS_MAX; i++) {
            struct place item = place_item(&nodes, i);
            program_node_read(&n, &item);
        }
    if (r->err->n_errors == errors && !has_nodes(&n))
        place_error(r->err, &nodes, "has no node");
    reader_end(&n);
}

static bool is_lines(const char *file)
{
    size_t length = strlen(file);
    return length > 6 && strcmp(file + length - 6, ".jsonl") == 0;
}

// One JSON value after the other: the groups, then nodes. Values may span lines.
static void read_lines(struct reader *r, FILE *in, const struct job_spec *job)
{
    struct nodes_reader n = reader_begin(r, job);
    for (size_t i = 0; r->err->n_errors < ERRORS_MAX; i++) {
        json_error_t at;
        int c = getc(in);
        while (c == ' ' || c == '\n' || c == '\r' || c == '\t')
            c = getc(in);
        if (c == EOF && ferror(in))
            err_add(r->err, NULL, "cannot be read");
        if (c == EOF)
            break;
        ungetc(c, in);
        json_t *json = json_loadf(in, JSON_DISABLE_EOF_CHECK | JSON_REJECT_DUPLICATES, &at);
        if (json == NULL) {
            err_add(r->err, NULL, "value %zu: %s", i + 1, at.text);
            break;
        }
        char *name = text_format("value %zu", i + 1);
        struct place top = {.key = name, .json = json}, groups = place_key(&top, "groups");
        if (i == 0 && json_is_object(json) && json_object_get(json, "kind") == NULL) {
            struct keys keys = {.names = {"groups"}, .n = 1};
            keys_check(r, &top, &keys);
            read_groups(&n, &groups);
        } else {
            if (i == 0)
                read_groups(&n, &(struct place){.key = "groups"});
            if (n.checked == NULL)
                groups_done(&n);
            program_node_read(&n, &top);
        }
        free(name);
        json_decref(json);
    }
    if (r->err->n_errors == 0 && !has_nodes(&n))
        err_add(r->err, NULL, "has no node");
    reader_end(&n);
}

// The same from the job's file, whose errors are reported at `place`.
static void program_file_read(struct reader *r, const struct place *place,
                              const struct job_spec *job)
{
    struct program_settings *settings = job->settings;
    struct err reading = {0};
    struct reader inner = *r;
    const char *file = settings->params.file;
    char *path = path_from(r->dir, file);
    inner.err = &reading;
    bool named = false; // the messages contain the file's name already
    if (job_size(r, job) == 0 && is_lines(file)) {
        // the network has an error of its own, and without ranks no line can be checked
    } else if (is_lines(file)) {
        const char *why;
        FILE *in = regular_file_stream(path, &why);
        if (in == NULL)
            named = err_add(&reading, NULL, "%s cannot be opened: %s", file, why) != 0;
        else
            read_lines(&inner, in, job);
        if (in != NULL)
            fclose(in);
    } else {
        json_t *json = json_file_read(path, &reading);
        struct place root = {.json = json};
        struct keys keys = {.names = {"groups", "nodes"}, .n = 2};
        named = json == NULL;
        if (!named && read_object(&inner, &root)) {
            program_nodes_read(&inner, &root, job);
            keys_check(&inner, &root, &keys);
        }
        json_decref(json);
    }
    for (size_t i = 0; i < reading.n_items; i++)
        place_error(r->err, place, "%s%s%s", named ? "" : file, named ? "" : ": ",
                    reading.items[i].text);
    err_free(&reading);
    free(path);
}

/* ---- schema ---- */

static json_t *groups_schema(void)
{
    json_t *group = schema_object();
    schema_key(group, "ranks", schema_ranks(), true);
    schema_key(group, "use", json_pack("{s:s}", "type", "string"), false);
    return json_pack("{s:s,s:{s:[o,o]}}", "type", "object", "additionalProperties", "anyOf",
                     schema_ranks(), group);
}

static json_t *nodes_schema(void) { return schema_list(program_node_schema()); }

/* ---- read program ---- */

static void read_program(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct program_settings *settings = job->settings;
    struct place file = place_key(place, "file"), nodes = place_key(place, "nodes"),
                 groups = place_key(place, "groups");
    char path[PLACE_TEXT];
    size_t errors = r->err->n_errors;
    bool from_file = settings->params.file[0] != '\0';
    map_ranks(r, place, job, &settings->params.mapping);
    settings->choice.params = settings->params.group;
    group_algorithms_read(r, place, &settings->choice);
    tiers_read(r, place, job, &settings->tiers);
    if (from_file) {
        if (nodes.json != NULL || groups.json != NULL)
            place_error(r->err, nodes.json ? &nodes : &groups, "cannot be combined with `file`");
        else if (r->err->n_errors == errors)
            program_file_read(r, &file, job);
    } else {
        program_nodes_read(r, place, job);
    }
    if (r->err->n_errors == errors && job_size(r, job) > 0)
        node_program_check(&settings->nodes, place_text(from_file ? &file : &nodes, path), r->err);
}

static const struct job_part program_parts[] = {
    GROUP_PARTS(struct program_settings, choice),
    TIERS_PART(struct program_settings, tiers, 0),
    PART_ROW("groups", "object", "none",
             "ordered lists of ranks that run collectives together, by name: a list, or "
             "{\"ranks\": [..], \"use\": \"data\"}",
             .schema = groups_schema),
    PART_ROW("nodes", "list", "required without file",
             "{rank, id, kind, after, ..}: a rank, a list of ranks or \"all\"; see "
             "docs/programs.md",
             .schema = nodes_schema),
    PARTS_END,
};
const struct job_reader program_reader = {
    .read = read_program,
    .parts = program_parts,
    .algorithms = offsetof(struct program_settings, choice.algorithms),
};
