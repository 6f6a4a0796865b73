// SPDX-License-Identifier: MIT
// Graphs of PyTorch's ExecutionTraceObserver: nodes with attributes as [{"name": .., "value": ..}].
// They are kept by process as {"PID": {"calls": {"RF_ID": {..}}, "groups": [..]}}, calls with the
// keys that Kineto has in `args`.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto.h"
#include "cli/import/kineto_internal.h"
#include "engine/base/text.h"

#define GROUPS_NODE "## process_group:init ##"

struct graph {
    json_t *calls, *groups;
    json_int_t pid;
    bool nodes; // it has any
};

json_t *kineto_graph_args(const json_t *node, json_int_t *id)
{
    static const char *const keys[][2] = {{"collective_name", "Collective name"},
                                          {"dtype", "dtype"},
                                          {"in_msg_nelems", "In msg nelems"},
                                          {"out_msg_nelems", "Out msg nelems"},
                                          {"in_split_size", "In split size"},
                                          {"out_split_size", "Out split size"},
                                          {"pg_name", "Process Group Name"},
                                          {"pg_desc", "Process Group Description"},
                                          {"pg_size", "Group size"}};
    json_t *args = json_object(), *attribute;
    size_t i;
    *id = -1;
    json_array_foreach(json_object_get(node, "attrs"), i, attribute)
    {
        const char *name = json_string_value(json_object_get(attribute, "name"));
        json_t *value = json_object_get(attribute, "value");
        for (size_t k = 0; name != NULL && k < sizeof keys / sizeof *keys; k++)
            if (strcmp(name, keys[k][0]) == 0)
                json_object_set(args, keys[k][1], value);
        if (name != NULL && strcmp(name, "rf_id") == 0 && json_is_integer(value))
            *id = json_integer_value(value);
    }
    return args;
}

static void call_keep(struct graph *g, const json_t *node)
{
    json_int_t id;
    json_t *args = kineto_graph_args(node, &id);
    char *key = text_format("%" JSON_INTEGER_FORMAT, id);
    if (id >= 0 && json_object_get(args, "Collective name") != NULL)
        json_object_set(g->calls, key, args);
    free(key);
    json_decref(args);
}

json_t *kineto_graph_groups(const json_t *node)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    const json_t *values = json_object_get(json_object_get(node, "inputs"), "values");
    const char *text = json_string_value(json_array_get(values, 0));
    return name != NULL && strcmp(name, GROUPS_NODE) == 0 && text != NULL
               ? json_loads(text, 0, NULL)
               : NULL;
}

void kineto_graph_group(struct kineto_file *f, const json_t *group)
{
    const char *name = json_string_value(json_object_get(group, "pg_name"));
    json_int_t size = json_integer_value(json_object_get(group, "group_size"));
    if (name == NULL)
        return;
    struct kineto_group *made = kineto_group_note(f, name, json_object_get(group, "ranks"));
    if (made->size == 0 && size > 0 && size <= RANKS_MOST)
        made->size = (uint32_t)size;
}

static void node_read(struct graph *g, const json_t *node)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    g->nodes = true;
    if (name != NULL && strcmp(name, "record_param_comms") == 0)
        call_keep(g, node);
    json_t *groups = kineto_graph_groups(node);
    json_array_extend(g->groups, groups);
    json_decref(groups);
}

// Returns false if the file is no such graph.
static bool graph_read(struct recording *r, struct pieces *pieces, struct graph *g)
{
    struct piece piece;
    while (!recording_is_full(r) && pieces_next(pieces, &piece, r->err) > 0) {
        bool list = piece.key != NULL && piece.element && strcmp(piece.key, "nodes") == 0;
        bool pid = piece.key != NULL && !piece.element && strcmp(piece.key, "pid") == 0;
        if (piece.key == NULL || (piece.element && !list) ||
            strcmp(piece.key, "schemaVersion") == 0)
            return false; // a trace
        if ((!list && !pid) || piece.text == NULL)
            continue;
        json_t *json = piece_json(pieces, &piece, r->err);
        if (json == NULL)
            return g->nodes;
        if (list)
            node_read(g, json);
        else
            g->pid = json_integer_value(json);
        json_decref(json);
    }
    return g->nodes;
}

bool kineto_graph_read(struct recording *r, const char *path)
{
    static const char *const lists[] = {"traceEvents", "nodes", NULL};
    size_t errors = r->err->n_errors;
    struct pieces *pieces = pieces_open(path, lists, r->err);
    struct graph g = {.calls = json_object(), .groups = json_array()};
    bool is_graph = pieces != NULL && graph_read(r, pieces, &g);
    if (is_graph && r->err->n_errors == errors) {
        char *pid = text_format("%" JSON_INTEGER_FORMAT, g.pid);
        if (r->reader == NULL)
            r->reader = json_object();
        json_object_set_new(r->reader, pid,
                            json_pack("{s:O,s:O}", "calls", g.calls, "groups", g.groups));
        free(pid);
    }
    pieces_close(pieces);
    json_decref(g.calls);
    json_decref(g.groups);
    return is_graph || r->err->n_errors > errors;
}

void kineto_end(struct recording *r)
{
    json_decref(r->reader);
    r->reader = NULL;
}

const json_t *kineto_graph_call(struct kineto_file *f, json_int_t pid, json_int_t function)
{
    char process[32], call[32];
    snprintf(process, sizeof process, "%" JSON_INTEGER_FORMAT, pid);
    snprintf(call, sizeof call, "%" JSON_INTEGER_FORMAT, function);
    const json_t *graph = json_object_get(f->recording->reader, process), *group;
    size_t i;
    json_array_foreach(json_object_get(graph, "groups"), i, group) { kineto_graph_group(f, group); }
    return json_object_get(json_object_get(graph, "calls"), call);
}
