// SPDX-License-Identifier: MIT
// {"groups": {"tp0": [0, 1], "dp0": {"ranks": [0, 2], "use": "data"}},
//  "nodes": [{"rank": "all", "id": 1, "kind": "compute", "time": "10us"},
//            {"rank": [0, 1], "id": 2, "kind": "collective", "op": "all_reduce", "bytes": "1MB",
//             "group": "tp0", "after": 1}]}
#include "config/program_nodes.h"

#include <stdlib.h>
#include <string.h>

#include "config/group_algorithms.h"
#include "config/json_file.h"
#include "config/schema_parts.h"
#include "engine/memory.h"
#include "engine/text.h"
#include "workload/node_list.h"

#define ERRORS_MAX 20
#define TAG_MAX "4294967295"
#define BYTES_MOST 1000000000000000

enum node_word {
    WORD_COMPUTE,
    WORD_WAIT,
    WORD_COPY,
    WORD_SEND,
    WORD_RECV,
    WORD_COLLECTIVE,
    WORD_JOIN
};
static const char *const node_words[] = {"compute", "wait",       "copy", "send",
                                         "recv",    "collective", "join", NULL};
static const char *const op_words[] = {"all_reduce", "reduce_scatter", "all_gather", "all_to_all",
                                       "broadcast",  "reduce",         "gather",     "scatter",
                                       "send_recv",  "barrier",        NULL};

struct node_text { // a node as written
    int kind, op;
    uint64_t id, to, from, tag, root, priority, bytes;
    ps_t takes_ps;
    const char *name, *stream, *layer, *use, *group;
};

#define ROW(key, kind_of, member, ...)                                                             \
    {                                                                                              \
        .name = key, .type = kind_of, .offset = offsetof(struct node_text, member), __VA_ARGS__    \
    }

static const struct param node_rows[] = {
    ROW("kind", PARAM_ENUM, kind, .choices = node_words,
        .help = "compute, wait (time without computing), copy (of memory), send, recv, collective, "
                "join (takes no time)"),
    ROW("id", PARAM_COUNT, id, .def = "auto", .can_auto = true,
        .help = "unique in the rank; auto = its place among the rank's nodes, from 0"),
    ROW("name", PARAM_TEXT, name, .def = "", .help = "for results"),
    ROW("time", PARAM_TIME, takes_ps, .def = "0ns", .max = "100000s",
        .help = "that a compute or wait node takes"),
    ROW("bytes", PARAM_BYTES, bytes, .def = "0B", .max = "1PB",
        .help = "of a send, copy or collective (the largest per-rank buffer)"),
    ROW("to", PARAM_COUNT, to, .def = "auto", .can_auto = true, .help = "rank that a send goes to"),
    ROW("from", PARAM_COUNT, from, .def = "auto", .can_auto = true,
        .help = "rank whose message a recv takes"),
    ROW("tag", PARAM_COUNT, tag, .def = "0", .max = TAG_MAX,
        .help = "of a message: of a pair and tag, the k-th recv that starts takes the k-th send "
                "that starts"),
    ROW("op", PARAM_ENUM, op, .choices = op_words, .def = "all_reduce", .help = "of a collective"),
    ROW("group", PARAM_TEXT, group, .def = "", .help = "of a collective; default = all ranks"),
    ROW("root", PARAM_COUNT, root, .def = "0", .help = "of a collective: place in the group"),
    ROW("priority", PARAM_COUNT, priority, .def = "0", .max = "1000000",
        .help =
            "larger first: of collectives that wait for the group's network, and in `order` ready "
            "of the nodes of a stream"),
    ROW("stream", PARAM_TEXT, stream, .def = "auto",
        .help = "compute, cpu, copy, comm0, comm1, .. or none; auto = by kind: compute, copy, "
                "comm0 for "
                "collectives, none for the others"),
    ROW("layer", PARAM_TEXT, layer, .def = "", .help = "for results"),
    ROW("use", PARAM_TEXT, use, .def = "",
        .help = "what communication is for, in results; default = the group's"),
};
#define N_NODE_ROWS (sizeof node_rows / sizeof *node_rows)

struct nodes_reader {
    struct reader *r;
    const struct job_spec *job;
    struct program_settings *settings;
    struct node_list *list;
    uint32_t n_ranks;
    char **group_use;          // [group] what its collectives are for
    bool (*checked)[COLL_OPS]; // [group]
    uint64_t *after;
    size_t cap_after;
};

static struct node_program *program_of(const struct nodes_reader *n) { return &n->settings->nodes; }

/* ---- names ---- */

// The index of a name in a list, to which it is added if it is new.
static uint32_t name_index(char ***names, uint32_t *n, const char *name)
{
    for (uint32_t i = 0; i < *n; i++)
        if (strcmp((*names)[i], name) == 0)
            return i;
    *names = memory_resize(*names, *n + 1, sizeof **names);
    (*names)[*n] = memory_text(name);
    return (*n)++;
}

static uint16_t use_index(struct nodes_reader *n, const struct place *place, const char *name)
{
    struct node_program *p = program_of(n);
    uint32_t use = name_index(&p->uses, &p->n_uses, name);
    if (strcmp(name, "pipeline") == 0)
        p->idle_use = use;
    if (use < 64)
        return (uint16_t)use;
    place_error(n->r->err, place, "a program has at most 64 uses");
    return 0;
}

/* ---- groups ---- */

static void group_add(struct nodes_reader *n, const char *name, uint32_t *ranks, uint32_t size,
                      const char *use)
{
    struct node_program *p = program_of(n);
    p->groups = memory_resize(p->groups, p->n_groups + 1, sizeof *p->groups);
    n->group_use = memory_resize(n->group_use, p->n_groups + 1, sizeof *n->group_use);
    n->group_use[p->n_groups] = memory_text(use);
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
    if (!json_is_array(ranks.json) || json_array_size(ranks.json) == 0) {
        place_error(n->r->err, &ranks, "must be a list of ranks");
        return;
    }
    uint32_t size = (uint32_t)json_array_size(ranks.json);
    uint32_t *list = memory_zeroed(size, sizeof *list);
    bool *seen = memory_zeroed(n->n_ranks, sizeof *seen), good = true;
    for (uint32_t i = 0; i < size && good; i++) {
        struct place item = place_item(&ranks, i);
        json_int_t value = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        good = rank_check(n->r, &item, n->job, value);
        if (good && seen[value])
            good = place_error(n->r->err, &item, "rank %u is listed twice", (unsigned)value) == 0;
        if (good) {
            list[i] = (uint32_t)value;
            seen[value] = true;
        }
    }
    free(seen);
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

static int find_group(struct nodes_reader *n, const struct place *node, const char *name)
{
    const struct node_program *p = program_of(n);
    struct place at = place_key(node, "group");
    if (name[0] == '\0')
        return 0;
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (strcmp(p->groups[g].name, name) == 0)
            return (int)g;
    return place_error(n->r->err, &at, "no group is called \"%s\"", name);
}

/* ---- nodes ---- */

static uint8_t default_stream(int kind)
{
    switch (kind) {
    case WORD_COMPUTE:
        return NODE_COMPUTE_STREAM;
    case WORD_COPY:
        return NODE_COPY_STREAM;
    case WORD_COLLECTIVE:
        return NODE_COMM_STREAM;
    default:
        return NODE_NO_STREAM;
    }
}

static uint8_t read_stream(struct nodes_reader *n, const struct place *node,
                           const struct node_text *text)
{
    static const char *const words[] = {"compute", "cpu", "copy"};
    struct place at = place_key(node, "stream");
    uint64_t number;
    if (strcmp(text->stream, "auto") == 0)
        return default_stream(text->kind);
    if (strcmp(text->stream, "none") == 0)
        return NODE_NO_STREAM;
    for (uint8_t s = 0; s < 3; s++)
        if (strcmp(text->stream, words[s]) == 0)
            return s;
    if (strncmp(text->stream, "comm", 4) != 0 || parse_count(text->stream + 4, &number) != 0) {
        place_error(n->r->err, &at, "\"%s\" is not compute, cpu, copy, comm0, comm1, .. or none",
                    text->stream);
        return 0;
    }
    if (number >= n->settings->params.comm_streams) {
        place_error(n->r->err, &at,
                    "a rank has %u communication streams (comm_streams), from comm0",
                    (unsigned)n->settings->params.comm_streams);
        return 0;
    }
    return (uint8_t)(NODE_COMM_STREAM + number);
}

static bool read_peer(struct nodes_reader *n, const struct place *node, const char *key,
                      uint64_t value, uint32_t *peer)
{
    struct place at = place_key(node, key);
    if (value == PARAM_AUTO)
        return place_error(n->r->err, &at, "is required: a rank") == 0;
    *peer = (uint32_t)value;
    return rank_check(n->r, &at, n->job, value > INT64_MAX ? -1 : (int64_t)value);
}

// Read `vectors`: {"bytes": [..], "of": "receivers"}, for an all-to-all of different sizes.
static bool read_vectors(struct nodes_reader *n, const struct place *place, uint32_t size,
                         struct node *node)
{
    static const char *const words[] = {"senders", "receivers", NULL};
    struct place at = place_key(place, "vectors"), bytes = place_key(&at, "bytes"),
                 of = place_key(&at, "of");
    struct keys keys = {.names = {"bytes", "of"}, .n = 2};
    if (at.json == NULL)
        return true;
    if (!read_object(n->r, &at))
        return false;
    keys_check(n->r, &at, &keys);
    int word = read_word(n->r, &of, "side", words);
    if (node->op != COLL_ALL_TO_ALL)
        return place_error(n->r->err, &at, "only an all_to_all has vectors of different sizes") ==
               0;
    if (word < 0 || !json_is_array(bytes.json) || json_array_size(bytes.json) != size)
        return place_error(n->r->err, &bytes, "must list the bytes of the group's %u members",
                           size) == 0;
    uint64_t *list = memory_zeroed(size, sizeof *list);
    bool good = true;
    for (uint32_t m = 0; m < size && good; m++) {
        struct place item = place_item(&bytes, m);
        json_int_t value = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (value < 0 || value > BYTES_MOST)
            good = place_error(n->r->err, &item, "must be a number of bytes up to 1 PB") == 0;
        list[m] = (uint64_t)value;
    }
    if (good)
        node->uneven = node_list_vectors(n->list, list, size, word == 1);
    free(list);
    return good;
}

static bool read_collective(struct nodes_reader *n, const struct place *place,
                            const struct node_text *text, struct node *node)
{
    struct place root = place_key(place, "root"), bytes = place_key(place, "bytes");
    int group = find_group(n, place, text->group);
    if (group < 0)
        return false;
    const struct node_group *g = &program_of(n)->groups[group];
    uint32_t size = g->schedule.dim_size[0];
    node->group = (uint32_t)group;
    node->op = (enum coll_op)text->op;
    node->dims = 1;
    node->root = (uint32_t)text->root;
    if (text->root >= size)
        return place_error(n->r->err, &root, "group %s has %u members", g->name, size) == 0;
    if (text->bytes == 0 && node->op != COLL_BARRIER)
        return place_error(n->r->err, &bytes, "is required: a size like \"1MB\"") == 0;
    if (!read_vectors(n, place, size, node))
        return false;
    if (n->checked[group][node->op])
        return true;
    n->checked[group][node->op] = true;
    return group_check(n->r, place, n->job, &g->schedule, node->op, text->bytes, g->ranks);
}

static bool read_kind(struct nodes_reader *n, const struct place *place,
                      const struct node_text *text, struct node *node)
{
    struct place bytes = place_key(place, "bytes");
    switch (text->kind) {
    case WORD_COMPUTE:
        node->kind = NODE_COMPUTE;
        return true;
    case WORD_WAIT:
        node->kind = NODE_WAIT;
        return true;
    case WORD_COPY:
        node->kind = NODE_WAIT;
        node->takes_ps += serialization_ps(text->bytes, n->settings->params.copy_bps);
        return true;
    case WORD_SEND:
        node->kind = NODE_SEND;
        if (text->bytes == 0)
            return place_error(n->r->err, &bytes, "is required: a size like \"1MB\"") == 0;
        return read_peer(n, place, "to", text->to, &node->peer);
    case WORD_RECV:
        node->kind = NODE_RECV;
        return read_peer(n, place, "from", text->from, &node->peer);
    case WORD_COLLECTIVE:
        node->kind = NODE_COLLECTIVE;
        return read_collective(n, place, text, node);
    default:
        node->kind = NODE_EMPTY;
        return true;
    }
}

static bool read_after(struct nodes_reader *n, const struct place *place, struct node *node)
{
    struct place at = place_key(place, "after");
    bool list = json_is_array(at.json);
    size_t count = at.json == NULL ? 0 : list ? json_array_size(at.json) : 1;
    while (count > n->cap_after)
        n->after = memory_grow(n->after, &n->cap_after, sizeof *n->after);
    for (size_t i = 0; i < count; i++) {
        struct place item = list ? place_item(&at, i) : at;
        if (!json_is_integer(item.json) || json_integer_value(item.json) < 0)
            return place_error(n->r->err, &item, "must be the id of a node, not %s",
                               json_noun(item.json)) == 0;
        n->after[i] = (uint64_t)json_integer_value(item.json);
    }
    node->after = n->after;
    node->n_after = (uint32_t)count;
    return true;
}

static void add_to_rank(struct nodes_reader *n, const struct place *place, uint32_t rank,
                        struct node node, bool numbered)
{
    node.id = numbered ? node.id : node_list_size(n->list, rank);
    if ((node.kind == NODE_SEND || node.kind == NODE_RECV) && node.peer != rank &&
        !pair_check(n->r, place, n->job, rank, node.peer))
        return;
    node_list_add(n->list, rank, &node);
}

// Add a node to the ranks that it names.
static void add_to_ranks(struct nodes_reader *n, const struct place *place, const struct node *node,
                         bool numbered)
{
    struct place at = place_key(place, "rank");
    const char *word = json_string_value(at.json);
    if (at.json == NULL || (word != NULL && strcmp(word, "all") != 0) ||
        (word == NULL && !json_is_integer(at.json) && !json_is_array(at.json))) {
        place_error(n->r->err, &at, "must be a rank, a list of ranks, or \"all\"");
        return;
    }
    if (word != NULL) {
        for (uint32_t rank = 0; rank < n->n_ranks; rank++)
            add_to_rank(n, place, rank, *node, numbered);
        return;
    }
    size_t count = json_is_array(at.json) ? json_array_size(at.json) : 1;
    for (size_t i = 0; i < count; i++) {
        struct place item = json_is_array(at.json) ? place_item(&at, i) : at;
        json_int_t value = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (!rank_check(n->r, &item, n->job, value))
            return;
        add_to_rank(n, place, (uint32_t)value, *node, numbered);
    }
}

static void read_node(struct nodes_reader *n, const struct place *place)
{
    struct keys keys = {0};
    struct node_text text = {0};
    size_t errors = n->r->err->n_errors;
    if (!read_object(n->r, place))
        return;
    params_default(node_rows, N_NODE_ROWS, &text);
    read_params(n->r, place, &keys, node_rows, N_NODE_ROWS, &text);
    keys_add(&keys, "rank");
    keys_add(&keys, "after");
    keys_add(&keys, "vectors");
    keys_check(n->r, place, &keys);
    if (n->r->err->n_errors > errors)
        return;
    struct node_program *p = program_of(n);
    struct node node = {.id = text.id,
                        .stream = read_stream(n, place, &text),
                        .priority = (int32_t)text.priority,
                        .takes_ps = text.takes_ps,
                        .bytes = text.bytes,
                        .tag = (uint32_t)text.tag,
                        .name = text.name[0] != '\0' ? text.name : NULL};
    if (text.layer[0] != '\0')
        node.layer = name_index(&p->layers, &p->n_layers, text.layer) + 1;
    if (!read_kind(n, place, &text, &node) || !read_after(n, place, &node) ||
        n->r->err->n_errors > errors)
        return;
    const char *use = text.use[0] != '\0'            ? text.use
                      : node.kind == NODE_COLLECTIVE ? n->group_use[node.group]
                                                     : "point_to_point";
    if (node.kind >= NODE_SEND && node.kind != NODE_EMPTY)
        node.use = use_index(n, place, use);
    add_to_ranks(n, place, &node, text.id != PARAM_AUTO);
}

/* ---- the program ---- */

static struct nodes_reader reader_begin(struct reader *r, const struct job_spec *job)
{
    struct nodes_reader n = {
        .r = r, .job = job, .settings = job->settings, .n_ranks = job_size(r, job)};
    struct node_program *p = program_of(&n);
    n.list = node_list_new(n.n_ranks);
    *p = (struct node_program){
        .source = &node_list_source,
        .self = n.list,
        .n_ranks = n.n_ranks,
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

void program_nodes_read(struct reader *r, const struct place *root, struct keys *keys,
                        const struct job_spec *job)
{
    struct place groups = place_key(root, "groups"), nodes = place_key(root, "nodes");
    keys_add(keys, "groups");
    keys_add(keys, "nodes");
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
            read_node(&n, &item);
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
            read_node(&n, &top);
        }
        free(name);
        json_decref(json);
    }
    if (r->err->n_errors == 0 && !has_nodes(&n))
        err_add(r->err, NULL, "has no node");
    reader_end(&n);
}

void program_file_read(struct reader *r, const struct place *place, const struct job_spec *job)
{
    struct program_settings *settings = job->settings;
    struct err reading = {0};
    struct reader inner = *r;
    const char *file = settings->params.file;
    char *path = path_from(r->scenario->dir, file);
    inner.err = &reading;
    bool named = false; // the messages contain the file's name already
    if (job_size(r, job) > 0 && is_lines(file)) {
        FILE *in = fopen(path, "r");
        if (in == NULL)
            named = err_add(&reading, NULL, "%s: cannot be read", file) != 0;
        else
            read_lines(&inner, in, job);
        if (in != NULL)
            fclose(in);
    } else {
        json_t *json = json_file_read(path, &reading);
        struct place root = {.json = json};
        struct keys keys = {0};
        named = json == NULL;
        if (!named && read_object(&inner, &root)) {
            program_nodes_read(&inner, &root, &keys, job);
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

json_t *program_groups_schema(void)
{
    json_t *group = schema_object();
    schema_key(group, "ranks", schema_ranks(), true);
    schema_key(group, "use", json_pack("{s:s}", "type", "string"), false);
    return json_pack("{s:s,s:{s:[o,o]}}", "type", "object", "additionalProperties", "anyOf",
                     schema_ranks(), group);
}

json_t *program_nodes_schema(void)
{
    json_t *node = schema_table(node_rows, N_NODE_ROWS);
    schema_key(node, "rank",
               json_pack("{s:[o,o,o]}", "anyOf", schema_integer(0), schema_ranks(),
                         schema_constant("all")),
               true);
    schema_key(node, "after", schema_one_or_list(schema_integer(0)), false);
    json_t *vectors = schema_object();
    schema_key(vectors, "bytes", schema_list(schema_integer(0)), true);
    schema_key(vectors, "of", schema_words((const char *const[]){"senders", "receivers", NULL}),
               true);
    schema_key(node, "vectors", vectors, false);
    return schema_list(node);
}
