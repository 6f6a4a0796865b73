// SPDX-License-Identifier: MIT
// Nodes become calls with the keys of Kineto; then those of a rank are put in their order.
#include "cli/import/observer.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define CALL_NODE "record_param_comms"
#define COMM_STREAMS 200 // groups beyond share them; a stream of a node is a byte
#define GROUPS_MOST 1024 // whose waits for each other are noted
#define NONE UINT32_MAX

struct record { // a record_param_comms
    int64_t id, sequence;
    bool wait;
    struct call call; // its group is an index into the file's groups
};

struct observer {
    struct kineto_file f;
    struct record *records;
    size_t n_records, cap_records;
    int64_t unnamed_group; // of schema 1.0; -1 = none yet
    bool any_node;
};

/* ---- a node ---- */

// The operation and what stands around it: the integers of `values` in their order.
struct around {
    const char *word;    // the first text
    int64_t integers[3]; // number, process group (schema 1.0), rank
    size_t n_integers;
};

static const json_t *values_of(const json_t *node, const char *key)
{
    const json_t *list = json_object_get(node, key);
    return json_is_object(list) ? json_object_get(list, "values") : list;
}

static struct around around_of(const json_t *values)
{
    struct around a = {0};
    const json_t *value;
    size_t i;
    json_array_foreach(values, i, value)
    {
        if (json_is_string(value) && a.word == NULL)
            a.word = json_string_value(value);
        if (json_is_integer(value) && a.word == NULL && a.n_integers < 3)
            a.integers[a.n_integers++] = json_integer_value(value);
    }
    return a;
}

// Elements of a tensor [id, storage, offset, elements, bytes of an element, device], or the sum of
// a list of them; *bytes is set.
static json_int_t elements_of(const json_t *value, json_int_t *bytes)
{
    const json_t *item;
    json_int_t sum = 0;
    size_t i;
    if (json_is_integer(json_array_get(value, 3))) {
        *bytes = json_integer_value(json_array_get(value, 4));
        return json_integer_value(json_array_get(value, 3));
    }
    json_array_foreach(value, i, item) // a tensor of a list; deeper lists are none
    {
        json_int_t n = json_integer_value(json_array_get(item, 3));
        *bytes = json_integer_value(json_array_get(item, 4));
        sum = n >= 0 && sum < INT64_MAX / 2 && n < INT64_MAX / 2 ? sum + n : -1;
    }
    return sum;
}

// Schema 1.0: the keys of Kineto from inputs and outputs. To be released.
static json_t *args_of_inputs(struct observer *o, const json_t *node, const struct around *around,
                              uint64_t offset)
{
    static const char *const types[] = {[1] = "Byte", [2] = "Half", [4] = "Float", [8] = "Double"};
    const json_t *in = values_of(node, "inputs"), *out = values_of(node, "outputs");
    json_int_t bytes = 0, n_out, n_in = elements_of(json_array_get(in, 0), &bytes);
    n_out = elements_of(json_array_get(out, 0), &bytes);
    if (around->n_integers > 1 && o->unnamed_group < 0)
        o->unnamed_group = around->integers[1];
    if (around->n_integers > 1 && around->integers[1] != o->unnamed_group)
        kineto_error(&o->f, offset,
                     "a second process group, and schema 1.0 does not say which ranks are in one: "
                     "PyTorch 2.3 and later do");
    const char *type = bytes > 0 && bytes <= 8 ? types[bytes] : NULL;
    json_t *args =
        json_pack("{s:s,s:I,s:I,s:s,s:O*,s:O*}", "Collective name", around->word, "In msg nelems",
                  n_in, "Out msg nelems", n_out, "dtype", type != NULL ? type : "", "In split size",
                  json_array_get(in, 5), "Out split size", json_array_get(in, 6));
    if (args != NULL) // the name of a group is that of all ranks
        json_object_set_new(args, "Process Group Name", json_string("world"));
    return args;
}

static bool is_word_of_none(const char *word)
{
    static const char *const words[] = {"init", "startCoalescing", "endCoalescing", "coalesced",
                                        NULL};
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static void call_finish(struct observer *o, const struct around *around, struct call *call,
                        bool unnamed)
{
    struct kineto_file *f = &o->f;
    struct kineto_group *group = &f->groups[call->group];
    int64_t number = around->n_integers > 1 ? around->integers[unnamed ? 2 : 1] : -1;
    bool all =
        unnamed || (group->description != NULL && strcmp(group->description, "default_pg") == 0);
    if (unnamed && around->n_integers < 3)
        return;
    if (call->kind == CALL_COLLECTIVE && coll_op_rooted(call->op))
        call->root = number >= 0 && number < RANKS_MOST ? (uint32_t)number : 0;
    else if (call->kind == CALL_COLLECTIVE && all && number >= 0)
        f->number = number;
}

// The peer of a message, which is a member of its group until all groups are known.
static void peer_note(json_t *args, const struct around *around)
{
    int64_t peer = around->n_integers > 1 ? around->integers[around->n_integers - 1] : -1;
    json_object_set_new(args, "Dst Rank", json_integer(peer));
    json_object_set_new(args, "Src Rank", json_integer(peer));
}

static void call_note(struct observer *o, const json_t *node, uint64_t offset)
{
    const json_t *id = json_object_get(node, "id");
    json_int_t function;
    struct around around = around_of(values_of(node, "inputs"));
    json_t *args = kineto_graph_args(node, &function);
    const char *named = json_string_value(json_object_get(args, "Collective name"));
    const char *word = named != NULL ? named : around.word;
    struct record record = {.id = json_integer_value(id), .sequence = SEQUENCE_UNKNOWN};
    bool unnamed = named == NULL, good = word != NULL && json_is_integer(id);
    if (!good)
        kineto_error(&o->f, offset, "%s",
                     word == NULL ? "a " CALL_NODE " without an operation"
                                  : "id: must be a whole number");
    if (around.n_integers > 0)
        record.sequence = around.integers[0];
    record.wait = good && strcmp(word, "wait") == 0;
    if (good && !record.wait && is_word_of_none(word)) {
        recording_unused(o->f.recording, word, 0);
        good = false;
    }
    if (good && unnamed && !record.wait) {
        json_decref(args);
        args = args_of_inputs(o, node, &around, offset);
    }
    if (good && !record.wait) {
        peer_note(args, &around);
        good = kineto_call_read(&o->f, args, offset, &record.call) > 0;
    }
    if (good && !record.wait)
        call_finish(o, &around, &record.call, unnamed);
    json_decref(args);
    if (!good)
        return;
    if (o->n_records == o->cap_records)
        o->records = memory_grow(o->records, &o->cap_records, sizeof *o->records);
    o->records[o->n_records++] = record;
}

static void node_read(struct observer *o, const json_t *node, uint64_t offset)
{
    const char *name = json_string_value(json_object_get(node, "name"));
    const json_t *group;
    size_t i;
    if (name != NULL && strcmp(name, CALL_NODE) == 0)
        call_note(o, node, offset);
    json_t *groups = kineto_graph_groups(node);
    json_array_foreach(groups, i, group)
    {
        kineto_graph_group(&o->f, group);
        const char *use = json_string_value(json_object_get(group, "pg_desc"));
        json_int_t size = json_integer_value(json_object_get(group, "group_size"));
        if (use != NULL && strcmp(use, "default_pg") == 0 && size > 0 && size <= RANKS_MOST)
            o->f.world = size;
    }
    json_decref(groups);
}

/* ---- the program ---- */

// Peers as ranks: all groups are known.
static void peers_finish(struct observer *o)
{
    for (size_t i = 0; i < o->n_records; i++) {
        struct call *call = &o->records[i].call;
        if (o->records[i].wait || call->kind == CALL_COLLECTIVE)
            continue;
        const struct kineto_group *group = &o->f.groups[call->group];
        if (group->n_ranks == 0)
            continue;
        if (call->peer >= group->n_ranks)
            kineto_error(&o->f, call->offset, "a message with member %u of a group of %u",
                         call->peer, group->n_ranks);
        else
            call->peer = group->ranks[call->peer];
    }
}

static int by_id(const void *a, const void *b)
{
    const struct record *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static void after_add(struct rank_recording *rank, struct trace_node *node, uint32_t id)
{
    if (rank->n_after == rank->cap_after)
        rank->after = memory_grow(rank->after, &rank->cap_after, sizeof *rank->after);
    rank->after[rank->n_after++] = id;
    node->n_after++;
}

// Number the groups that are called: index[group] from 0 on, NONE for others. Returns how many.
static uint32_t groups_number(const struct observer *o, uint32_t *index)
{
    uint32_t n = 0;
    memset(index, 0xff, (o->f.n_groups + 1) * sizeof *index);
    for (size_t i = 0; i < o->n_records; i++) {
        uint32_t *own = &index[o->records[i].call.group];
        if (!o->records[i].wait && *own == NONE)
            *own = n++;
    }
    return n;
}

struct program {
    struct rank_recording *rank;
    const uint32_t *index; // [group of the file]
    uint32_t n;            // groups that are called
    uint32_t *waited;      // [n] the last call that the program has waited for
    uint32_t *seen;        // [n * n] group by group: of these, the last that a call comes after
};

// A call is a node of the stream of its group, after the last calls of other groups that the
// program has waited for, unless a call before it in its group is.
static void call_add(struct program *p, const struct record *record)
{
    struct rank_recording *rank = p->rank;
    uint32_t own = p->index[record->call.group];
    rank->nodes[rank->n_nodes++] =
        (struct trace_node){.kind = TRACE_CALL,
                            .call = (uint32_t)rank->n_calls,
                            .first_after = (uint32_t)rank->n_after,
                            .step = -1,
                            .stream = (uint8_t)(TRACE_STREAM_COMM + own % COMM_STREAMS)};
    for (uint32_t g = 0; g < p->n; g++) {
        uint32_t *seen = &p->seen[(size_t)own * p->n + g];
        if (g == own || p->waited[g] == *seen)
            continue;
        *seen = p->waited[g];
        after_add(rank, &rank->nodes[rank->n_nodes - 1], *seen);
    }
    struct call *call = rank_call(rank);
    *call = record->call;
    call->sequence = record->sequence;
}

// The wait is for the last call of its number: each group counts for itself, and a wait does not
// say of which it is.
static void wait_note(struct program *p, int64_t sequence)
{
    for (size_t c = p->rank->n_calls; c-- > 0;)
        if (p->rank->calls[c].sequence == sequence) {
            p->waited[p->index[p->rank->calls[c].group]] = (uint32_t)c;
            return;
        }
}

static void nodes_make(struct observer *o)
{
    struct rank_recording *rank = &o->f.rank;
    uint32_t *index = memory_bytes((o->f.n_groups + 1) * sizeof *index);
    struct program p = {.rank = rank, .index = index, .n = groups_number(o, index)};
    if (p.n > GROUPS_MOST) {
        kineto_error(&o->f, 0, "a rank calls more than %d process groups", GROUPS_MOST);
        o->n_records = p.n = 0;
    }
    size_t pairs = (size_t)p.n * p.n + 1;
    p.waited = memory_bytes((p.n + 1) * sizeof *p.waited);
    p.seen = memory_bytes(pairs * sizeof *p.seen);
    memset(p.waited, 0xff, (p.n + 1) * sizeof *p.waited);
    memset(p.seen, 0xff, pairs * sizeof *p.seen);
    rank->nodes = memory_zeroed(o->n_records + 1, sizeof *rank->nodes);
    for (size_t i = 0; i < o->n_records; i++) {
        if (o->records[i].wait)
            wait_note(&p, o->records[i].sequence);
        else
            call_add(&p, &o->records[i]);
    }
    rank->n_comm_streams = p.n < COMM_STREAMS ? p.n : COMM_STREAMS;
    for (size_t c = 0; c < rank->n_calls; c++) // those of other files count from elsewhere
        rank->calls[c].sequence = SEQUENCE_UNKNOWN;
    free(index);
    free(p.waited);
    free(p.seen);
}

/* ---- the file ---- */

static bool has(const struct piece *piece, const char *word)
{
    size_t length = strlen(word);
    for (size_t i = 0; i + length <= piece->n; i++) {
        const char *at = memchr(piece->text + i, word[0], piece->n - length + 1 - i);
        if (at == NULL)
            return false;
        i = (size_t)(at - piece->text);
        if (memcmp(at, word, length) == 0)
            return true;
    }
    return false;
}

static void pieces_read(struct observer *o)
{
    struct recording *r = o->f.recording;
    struct piece piece;
    while (!recording_is_full(r) && pieces_next(o->f.pieces, &piece, r->err) > 0) {
        bool node = piece.key != NULL && piece.element;
        o->any_node |= node;
        if (!node || piece.text == NULL ||
            (!has(&piece, CALL_NODE) && !has(&piece, "process_group:init")))
            continue;
        json_t *json = piece_json(o->f.pieces, &piece, r->err);
        if (json == NULL)
            break; // where values are wrong, so are their borders
        node_read(o, json, piece.offset);
        json_decref(json);
    }
}

// The process group of schema 1.0 is of all ranks.
static void unnamed_finish(struct observer *o)
{
    struct kineto_file *f = &o->f;
    if (o->unnamed_group < 0)
        return;
    if (f->recording->world == 0)
        kineto_error(f, 0,
                     "schema 1.0 does not say which ranks are in the process group: --ranks N says "
                     "of how many ranks the job is");
    f->world = f->recording->world;
    for (size_t g = 0; g < f->n_groups; g++)
        if (strcmp(f->groups[g].name, "world") == 0) {
            f->groups[g].world = true;
            f->groups[g].size = (uint32_t)f->world;
        }
    recording_assume(f->recording,
                     "the process group is all %u ranks of the job: schema 1.0 does not name its "
                     "ranks",
                     f->recording->world);
}

void observer_read(struct recording *r, const char *path)
{
    static const char *const lists[] = {"nodes", NULL};
    struct observer o = {.f = {.recording = r, .path = path, .number = -1, .world = -1},
                         .unnamed_group = -1};
    size_t errors = r->err->n_errors;
    o.f.rank.begin_ns = TIME_UNKNOWN;
    o.f.pieces = pieces_open(path, lists, r->err);
    if (o.f.pieces == NULL)
        return;
    pieces_read(&o);
    if (r->err->n_errors == errors && !o.any_node)
        err_add(r->err, path, "has no nodes");
    if (r->err->n_errors == errors)
        unnamed_finish(&o);
    peers_finish(&o);
    if (o.n_records > 1)
        qsort(o.records, o.n_records, sizeof *o.records, by_id);
    nodes_make(&o);
    r->no_times = true;
    recording_assume(r, "collectives wait for no computation: the graph has no durations, which a "
                        "trace of PyTorch's profiler (Kineto) of the same run in the folder has");
    kineto_file_end(&o.f, r->err->n_errors > errors);
    free(o.records);
    kineto_file_free(&o.f);
}
