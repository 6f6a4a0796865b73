// SPDX-License-Identifier: MIT
// A node as JSON describes it: its kind, stream, dependencies, ranks.
#include "workload/nodes/program_node.h"

#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"
#include "workload/nodes/read_tiers.h"
#include "workload/read/group_algorithms.h"

#define TAG_MAX "4294967295"
#define LAYERS_MOST 10000
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

struct node_text { // a node as written
    int kind, op;
    uint64_t id, tag, root, priority, bytes;
    ps_t takes_ps, measured_ps;
    const char *name, *stream, *layer, *use, *group;
};

#define ROW(key, kind_of, member, ...)                                                             \
    {                                                                                              \
        .name = key, .type = kind_of, .offset = offsetof(struct node_text, member), __VA_ARGS__    \
    }

static const struct param node_rows[] = {
    ROW("kind", PARAM_ENUM, kind, .choices = node_words,
        .help = "compute, wait (time without computing), copy (of memory), send, recv, "
                "collective, join (takes no time)"),
    ROW("id", PARAM_COUNT, id, .def = "auto", .can_auto = true,
        .help = "unique in the rank; auto = its place among the rank's nodes, from 0"),
    ROW("name", PARAM_TEXT, name, .def = "", .help = "for results"),
    ROW("time", PARAM_TIME, takes_ps, .def = "0ns", .max = "100000s",
        .help = "that a compute or wait node takes"),
    ROW("measured", PARAM_TIME, measured_ps, .def = "0ns", .max = "100000s",
        .help = "how long a collective took on this rank in a real run, for comparison; 0 = not "
                "measured"),
    ROW("bytes", PARAM_BYTES, bytes, .def = "0B", .max = "1PB",
        .help = "of a send, copy or collective (the largest per-rank buffer)"),
    ROW("tag", PARAM_COUNT, tag, .def = "0", .max = TAG_MAX,
        .help = "of a message: of a pair and tag, the k-th recv that starts takes the k-th send "
                "that starts"),
    ROW("op", PARAM_ENUM, op, .choices = coll_op_names, .def = "all_reduce",
        .help = "of a collective"),
    ROW("group", PARAM_TEXT, group, .def = "", .help = "of a collective; default = all ranks"),
    ROW("root", PARAM_COUNT, root, .def = "0", .help = "of a collective: place in the group"),
    ROW("priority", PARAM_COUNT, priority, .def = "0", .max = "1000000",
        .help = "larger first: of collectives that wait for the group's network, and in `order` "
                "ready of the nodes of a stream"),
    ROW("stream", PARAM_TEXT, stream, .def = "auto",
        .help = "compute, cpu, copy, comm0, comm1, .. or none; auto = by kind: compute, copy, "
                "comm0 for collectives, none for the others"),
    ROW("layer", PARAM_TEXT, layer, .def = "", .help = "for results"),
    ROW("use", PARAM_TEXT, use, .def = "",
        .help = "what communication is for, in results; default = the group's"),
};
#define N_NODE_ROWS (sizeof node_rows / sizeof *node_rows)

static struct node_program *program_of(const struct nodes_reader *n) { return &n->settings->nodes; }

/* ---- names ---- */

// Returns the index of a name in a list; a new name is added.
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
    // Results show the waiting times of this use apart, as the bubble of a pipeline.
    if (strcmp(name, "pipeline") == 0)
        p->idle_use = use;
    if (use < 64)
        return (uint16_t)use;
    place_error(n->r->err, place, "a program has at most 64 uses");
    return 0;
}

static int find_group(struct nodes_reader *n, const struct place *node, const char *name)
{
    const struct node_program *p = program_of(n);
    struct place at = place_key(node, "group");
    if (name[0] == '\0')
        return 0;
    size_t *found = table_at(&n->group_of, name, strlen(name));
    if (*found > 0 && *found <= p->n_groups)
        return (int)(*found - 1);
    // Remember the name, so that a file with many nodes of a missing group is searched once.
    *found = SIZE_MAX;
    return place_error(n->r->err, &at, "no group is called \"%s\"", name);
}

/* ---- the parts of a node ---- */

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
    struct place at = place_key(node, "stream");
    uint32_t streams = NODE_COMM_STREAM + (uint32_t)n->settings->params.comm_streams;
    if (strcmp(text->stream, "auto") == 0)
        return default_stream(text->kind);
    if (strcmp(text->stream, node_stream_name(NODE_NO_STREAM)) == 0)
        return NODE_NO_STREAM;
    // A known stream that this job does not have is a different mistake from an unknown word, and
    // has a message of its own.
    for (uint8_t s = 0; s < NODE_NAMED_STREAMS; s++) {
        if (strcmp(text->stream, node_stream_name(s)) != 0)
            continue;
        if (s >= streams)
            place_error(n->r->err, &at,
                        "a rank has %u communication streams (comm_streams), from comm0",
                        (unsigned)n->settings->params.comm_streams);
        return s;
    }
    place_error(n->r->err, &at, "\"%s\" is not compute, cpu, copy, comm0, comm1, .. or none",
                text->stream);
    return 0;
}

static bool read_peer(struct nodes_reader *n, const struct place *node, const char *key,
                      uint32_t *peer)
{
    struct place at = place_key(node, key);
    json_int_t value = json_is_integer(at.json) ? json_integer_value(at.json) : -1;
    if (at.json == NULL)
        return place_error(n->r->err, &at, "is required: a rank") == 0;
    if (!json_is_integer(at.json))
        return place_error(n->r->err, &at, "must be a rank, not %s", json_noun(at.json)) == 0;
    if (!rank_check(n->r, &at, n->job, value))
        return false;
    *peer = (uint32_t)value;
    return true;
}

// Read the name of a tier; TIER_NONE = an error.
static uint32_t read_tier(struct nodes_reader *n, const struct place *at)
{
    const char *name = json_string_value(at->json);
    uint32_t tier = name != NULL ? tier_find(&n->settings->tiers, name) : TIER_NONE;
    if (at->json == NULL)
        place_error(n->r->err, at, "is required: a copy between tiers has `from` and `to`");
    else if (name == NULL)
        place_error(n->r->err, at, "must be the name of a tier, not %s", json_noun(at->json));
    else if (tier == TIER_NONE)
        place_error(n->r->err, at, "no tier is called \"%.40s\" (`tiers`)", name);
    return tier;
}

// A copy between tiers, or one that takes its bytes at `copy_rate`.
static bool read_copy(struct nodes_reader *n, const struct place *place,
                      const struct node_text *text, struct node *node)
{
    struct place from = place_key(place, "from"), to = place_key(place, "to"),
                 bytes = place_key(place, "bytes");
    // Without tiers a copy is a time that the GPU's copy engine is busy, which shares nothing with
    // other copies.
    if (from.json == NULL && to.json == NULL) {
        node->kind = NODE_WAIT;
        if ((double)text->bytes * 8 / (double)n->settings->params.copy_bps > COPY_MOST_S)
            return place_error(n->r->err, &bytes, "takes more than 100000 s at copy_rate") == 0;
        node->takes_ps += serialization_ps(text->bytes, n->settings->params.copy_bps);
        return true;
    }
    node->kind = NODE_COPY;
    node->from = read_tier(n, &from);
    node->to = read_tier(n, &to);
    if (text->bytes == 0)
        return place_error(n->r->err, &bytes, "is required: a size like \"1MB\"") == 0;
    return node->from != TIER_NONE && node->to != TIER_NONE &&
           tier_copy_check(n->r, &n->settings->tiers, node->from, node->to, text->bytes, &to,
                           &bytes);
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
    // Whether a group's algorithm supports an operation depends on the root, but not on the rank or
    // the size, so nodes that repeat a checked combination are not checked again: a trace has
    // thousands of them.
    uint32_t *checked = &n->checked[group][node->uneven != NULL][node->op];
    if (*checked == node->root + 1)
        return true;
    *checked = node->root + 1;
    struct coll_shape shape = {
        .op = node->op, .bytes = text->bytes, .root = node->root, .uneven = node->uneven};
    return group_check(n->r, place, n->job, &g->schedule, shape, g->ranks);
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
        return read_copy(n, place, text, node);
    case WORD_SEND:
        node->kind = NODE_SEND;
        if (text->bytes == 0)
            return place_error(n->r->err, &bytes, "is required: a size like \"1MB\"") == 0;
        return read_peer(n, place, "to", &node->peer);
    case WORD_RECV:
        node->kind = NODE_RECV;
        return read_peer(n, place, "from", &node->peer);
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

// Keys that a node of this kind does not use are errors.
static void check_keys(struct nodes_reader *n, const struct place *place, int kind)
{
    static const struct {
        const char *key;
        uint32_t kinds; // bit set
    } of[] = {
        {"to", 1u << WORD_SEND | 1u << WORD_COPY},
        {"from", 1u << WORD_RECV | 1u << WORD_COPY},
        {"tag", 1u << WORD_SEND | 1u << WORD_RECV},
        {"time", 1u << WORD_COMPUTE | 1u << WORD_WAIT},
        {"bytes", 1u << WORD_SEND | 1u << WORD_RECV | 1u << WORD_COPY | 1u << WORD_COLLECTIVE},
        {"op", 1u << WORD_COLLECTIVE},
        {"measured", 1u << WORD_COLLECTIVE},
        {"group", 1u << WORD_COLLECTIVE},
        {"root", 1u << WORD_COLLECTIVE},
        {"vectors", 1u << WORD_COLLECTIVE}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct place at = place_key(place, of[i].key);
        if (at.json != NULL && (of[i].kinds >> kind & 1) == 0)
            place_error(n->r->err, &at, "a node of kind %s has no %s", node_words[kind], of[i].key);
    }
}

static void add_to_rank(struct nodes_reader *n, const struct place *place, uint32_t rank,
                        struct node node, bool numbered)
{
    node.id = numbered ? node.id : node_list_size(n->list, rank);
    // A rank that sends to itself needs no path; node_program_check() reports it.
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
    bool all = json_is_string(at.json) && strcmp(json_string_value(at.json), "all") == 0;
    if (!all && !ranks_expand(n->r, &at, n->n_ranks))
        return;
    const char *word = json_string_value(at.json);
    if (at.json == NULL || (word != NULL && strcmp(word, "all") != 0) ||
        (word == NULL && !json_is_integer(at.json) && !json_is_array(at.json))) {
        place_error(n->r->err, &at, "must be a rank, a list or range of ranks, or \"all\"");
        return;
    }
    if (word != NULL) {
        for (uint32_t rank = 0; rank < n->n_ranks; rank++)
            add_to_rank(n, place, rank, *node, numbered);
        return;
    }
    size_t count = json_is_array(at.json) ? json_array_size(at.json) : 1;
    if (count == 0)
        place_error(n->r->err, &at, "lists no rank");
    for (size_t i = 0; i < count; i++) {
        struct place item = json_is_array(at.json) ? place_item(&at, i) : at;
        json_int_t value = json_is_integer(item.json) ? json_integer_value(item.json) : -1;
        if (!rank_check(n->r, &item, n->job, value))
            return;
        add_to_rank(n, place, (uint32_t)value, *node, numbered);
    }
}

void program_node_read(struct nodes_reader *n, const struct place *place)
{
    struct keys keys = {0};
    struct node_text text = {0};
    size_t errors = n->r->err->n_errors;
    if (!read_object(n->r, place))
        return;
    params_default(node_rows, N_NODE_ROWS, &text);
    read_params(n->r, place, &keys, node_rows, N_NODE_ROWS, &text);
    keys_add(&keys, "rank");
    keys_add(&keys, "to");
    keys_add(&keys, "from");
    keys_add(&keys, "after");
    keys_add(&keys, "vectors");
    keys_check(n->r, place, &keys);
    if (n->r->err->n_errors == errors)
        check_keys(n, place, text.kind);
    if (n->r->err->n_errors > errors)
        return;
    struct node_program *p = program_of(n);
    struct node node = {.id = text.id,
                        .stream = read_stream(n, place, &text),
                        .priority = (int32_t)text.priority,
                        .takes_ps = text.takes_ps,
                        .measured_ps = text.measured_ps,
                        .bytes = text.bytes,
                        .tag = (uint32_t)text.tag,
                        .name = text.name[0] != '\0' ? text.name : NULL};
    if (text.layer[0] != '\0')
        node.layer = name_index(&p->layers, &p->n_layers, text.layer) + 1;
    if (p->n_layers > LAYERS_MOST)
        place_error(n->r->err, place, "a program has at most %d layers", LAYERS_MOST);
    if (!read_kind(n, place, &text, &node) || !read_after(n, place, &node) ||
        n->r->err->n_errors > errors)
        return;
    const char *use = text.use[0] != '\0'            ? text.use
                      : node.kind == NODE_COLLECTIVE ? n->group_use[node.group]
                      : node.kind == NODE_COPY       ? "memory"
                                                     : "point_to_point";
    if (node.kind >= NODE_SEND && node.kind != NODE_EMPTY)
        node.use = use_index(n, place, use);
    add_to_ranks(n, place, &node, text.id != PARAM_AUTO);
}

/* ---- schema ---- */

json_t *program_node_schema(void)
{
    json_t *node = schema_table(node_rows, N_NODE_ROWS);
    schema_key(node, "rank",
               json_pack("{s:[o,o,o]}", "anyOf", schema_integer(0), schema_ranks(),
                         schema_constant("all")),
               true);
    for (unsigned i = 0; i < 2; i++) // the rank of a message, or the tier of a copy
        schema_key(node, i == 0 ? "to" : "from",
                   json_pack("{s:[o,{s:s}]}", "anyOf", schema_integer(0), "type", "string"), false);
    schema_key(node, "after", schema_one_or_list(schema_integer(0)), false);
    json_t *vectors = schema_object();
    schema_key(vectors, "bytes", schema_list(schema_integer(0)), true);
    schema_key(vectors, "of", schema_words((const char *const[]){"senders", "receivers", NULL}),
               true);
    schema_key(node, "vectors", vectors, false);
    return node;
}
