// SPDX-License-Identifier: MIT
// A receive does not know the size of its message; the sends of all ranks are read first.
#include "workload/chakra/write.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/trace/schema.pb-c.h"
#include "workload/trace/trace_node.h"

#define ATTRIBUTES_MAX 32

/* ---- sizes of messages ---- */

struct sent { // a message, in the order of its channel
    uint32_t src, dst, tag;
    uint64_t order, bytes, used;
};

struct writer {
    const struct node_program *p;
    const char *prefix;
    struct err *err;
    struct sent *sent;
    size_t n_sent, cap_sent;
    FILE *out;
    uint8_t *bytes;
    size_t cap;
};

static int compare_sent(const void *a, const void *b)
{
    const struct sent *x = a, *y = b;
    if (x->src != y->src)
        return x->src > y->src ? 1 : -1;
    if (x->dst != y->dst)
        return x->dst > y->dst ? 1 : -1;
    if (x->tag != y->tag)
        return x->tag > y->tag ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static int sent_read(struct writer *w)
{
    void *cursor = w->p->source->open(w->p->self);
    int result = 0;
    for (uint32_t r = 0; r < w->p->n_ranks && result >= 0; r++) {
        struct node node;
        while ((result = w->p->source->next(cursor, r, &node, w->err)) > 0) {
            if (node.kind != NODE_SEND)
                continue;
            if (w->n_sent == w->cap_sent)
                w->sent = memory_grow(w->sent, &w->cap_sent, sizeof *w->sent);
            w->sent[w->n_sent] = (struct sent){r, node.peer, node.tag, w->n_sent, node.bytes, 0};
            w->n_sent++;
        }
    }
    w->p->source->close(cursor);
    if (w->n_sent > 0)
        qsort(w->sent, w->n_sent, sizeof *w->sent, compare_sent);
    return result;
}

// The size of the next message from `src`; its entry is used up.
static uint64_t sent_take(struct writer *w, uint32_t src, uint32_t dst, uint32_t tag)
{
    // A receive does not state its size: the k-th receive from a rank with a tag takes the message
    // of the k-th send to it with that tag. Such sends are neighbours in the sorted list, in the
    // order in which they are issued. The search finds the first of them, and its `used` counts
    // the receives so far.
    const struct sent key = {src, dst, tag, 0, 0, 0};
    size_t low = 0, high = w->n_sent;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_sent(&w->sent[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == w->n_sent || w->sent[low].src != src || w->sent[low].dst != dst ||
        w->sent[low].tag != tag)
        return 0;                                  // the program has been checked
    size_t at = low + (size_t)w->sent[low].used++; // the channel's first entry counts
    return at < w->n_sent ? w->sent[at].bytes : 0;
}

/* ---- records ---- */

struct attributes {
    ChakraWire__Attribute items[ATTRIBUTES_MAX], *list[ATTRIBUTES_MAX];
    size_t n;
    ChakraWire__Uint64s numbers;
    ChakraWire__Bools bools;
    protobuf_c_boolean dims[COLL_MAX_DIMS];
};

static ChakraWire__Attribute *attribute_add(struct attributes *a, const char *name)
{
    ChakraWire__Attribute *item = &a->items[a->n];
    chakra_wire__attribute__init(item);
    item->name = (char *)(uintptr_t)name;
    a->list[a->n++] = item;
    return item;
}

static void number_add(struct attributes *a, enum trace_attribute attribute, int64_t value)
{
    ChakraWire__Attribute *item = attribute_add(a, trace_attribute_names[attribute]);
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_INT64_VAL;
    item->int64_val = value;
}

static void text_add(struct attributes *a, enum trace_attribute attribute, const char *text)
{
    ChakraWire__Attribute *item = attribute_add(a, trace_attribute_names[attribute]);
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_STRING_VAL;
    item->string_val = (char *)(uintptr_t)text;
}

static void bool_add(struct attributes *a, const char *name, bool value)
{
    ChakraWire__Attribute *item = attribute_add(a, name);
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_BOOL_VAL;
    item->bool_val = value;
}

static void record_write(struct writer *w, const ProtobufCMessage *message)
{
    size_t n = protobuf_c_message_get_packed_size(message);
    if (n > w->cap) {
        w->bytes = memory_resize(w->bytes, n, 1);
        w->cap = n;
    }
    protobuf_c_message_pack(message, w->bytes);
    // A record begins with its length as a varint of Protocol Buffers: groups of seven bits, the
    // lowest first, with the highest bit set on all but the last.
    for (size_t rest = n; rest >= 128; rest >>= 7)
        fputc((int)(rest & 0x7f) | 0x80, w->out);
    size_t last = n;
    while (last >= 128)
        last >>= 7;
    fputc((int)last, w->out);
    fwrite(w->bytes, 1, n, w->out);
}

static ChakraWire__Strings strings_of(char **texts, uint32_t n)
{
    ChakraWire__Strings s = CHAKRA_WIRE__STRINGS__INIT;
    s.n_values = n;
    s.values = texts;
    return s;
}

static void metadata_write(struct writer *w)
{
    const struct node_program *p = w->p;
    struct attributes a = {.n = 0};
    char **names = memory_zeroed(p->n_groups + 1, sizeof *names);
    uint64_t *inner = memory_zeroed(p->n_groups + 1, sizeof *inner);
    for (uint32_t g = 0; g < p->n_groups; g++) {
        names[g] = p->groups[g].name;
        inner[g] = p->groups[g].inner;
    }
    ChakraWire__Strings lists[] = {strings_of(names, p->n_groups), strings_of(p->uses, p->n_uses),
                                   strings_of(p->layers, p->n_layers)};
    static const char *const keys[] = {"collwire_groups", "collwire_uses", "collwire_layers"};
    for (size_t i = 0; i < 3; i++) {
        ChakraWire__Attribute *item = attribute_add(&a, keys[i]);
        item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_STRING_LIST;
        item->string_list = &lists[i];
    }
    bool_add(&a, "collwire_in_order", p->in_order);
    ChakraWire__Attribute *item = attribute_add(&a, "collwire_idle_use");
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_INT64_VAL;
    item->int64_val = p->idle_use;
    chakra_wire__uint64s__init(&a.numbers);
    a.numbers.n_values = p->n_groups;
    a.numbers.values = inner;
    item = attribute_add(&a, "collwire_inner");
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_UINT64_LIST;
    item->uint64_list = &a.numbers;
    ChakraWire__Metadata m = CHAKRA_WIRE__METADATA__INIT;
    char version[] = "0.0.4";
    m.version = version;
    m.attr = a.list;
    m.n_attr = a.n;
    record_write(w, &m.base);
    free(names);
    free(inner);
}

static void dims_add(struct attributes *a, uint32_t dims, uint32_t n)
{
    chakra_wire__bools__init(&a->bools);
    a->bools.n_values = n;
    a->bools.values = a->dims;
    for (uint32_t d = 0; d < n; d++)
        a->dims[d] = dims >> d & 1;
    ChakraWire__Attribute *item = attribute_add(a, trace_attribute_names[TRACE_DIMS]);
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_BOOL_LIST;
    item->bool_list = &a->bools;
}

static void collective_add(const struct writer *w, const struct node *node, struct attributes *a,
                           char *group)
{
    static const int types[] = {
        [COLL_ALL_REDUCE] = TRACE_ALL_REDUCE, [COLL_REDUCE_SCATTER] = TRACE_REDUCE_SCATTER,
        [COLL_ALL_GATHER] = TRACE_ALL_GATHER, [COLL_ALL_TO_ALL] = TRACE_ALL_TO_ALL,
        [COLL_BROADCAST] = TRACE_BROADCAST,   [COLL_REDUCE] = TRACE_REDUCE,
        [COLL_GATHER] = TRACE_GATHER,         [COLL_SCATTER] = TRACE_SCATTER,
        [COLL_SEND_RECV] = TRACE_COLLS,       [COLL_BARRIER] = TRACE_BARRIER};
    const struct coll_schedule *s = &w->p->groups[node->group].schedule;
    uint64_t bytes = node->bytes, ranks = coll_ranks(s), span = ranks;
    // With streams, a collective over some dimensions of the network has only the ranks along them.
    if (s->streams.enabled && !s->flat[node->op])
        span = coll_span(s, node->dims & s->op_dims[node->op]);
    // Chakra states the buffer that a rank contributes. A node has the largest buffer, which after
    // a gather is the sum of all contributions, so it is divided by the ranks that take part.
    bool parts = node->op == COLL_ALL_GATHER || node->op == COLL_GATHER;
    snprintf(group, 16, "%u", node->group + 1);
    number_add(a, TRACE_COMM_TYPE, types[node->op]);
    number_add(a, TRACE_COMM_SIZE, (int64_t)(parts ? bytes / span : bytes));
    number_add(a, TRACE_COMM_PRIORITY, node->priority > 0 ? node->priority : 0);
    text_add(a, TRACE_PG_NAME, group);
    number_add(a, TRACE_OP, node->op);
    number_add(a, TRACE_ROOT, node->root);
    number_add(a, TRACE_BYTES, (int64_t)bytes);
    number_add(a, TRACE_NODE_DIMS, node->dims);
    if (s->streams.enabled && s->n_dims > 1)
        dims_add(a, node->dims, s->n_dims);
    if (node->uneven == NULL)
        return;
    chakra_wire__uint64s__init(&a->numbers);
    a->numbers.n_values = (size_t)ranks;
    a->numbers.values = (uint64_t *)(uintptr_t)node->uneven->bytes;
    ChakraWire__Attribute *item = attribute_add(a, trace_attribute_names[TRACE_UNEVEN]);
    item->value_case = CHAKRA_WIRE__ATTRIBUTE__VALUE_UINT64_LIST;
    item->uint64_list = &a->numbers;
    number_add(a, TRACE_OF_RECEIVER, node->uneven->of_receiver);
}

static void message_add(struct writer *w, uint32_t rank, const struct node *node,
                        struct attributes *a)
{
    bool sends = node->kind == NODE_SEND;
    uint32_t src = sends ? rank : node->peer, dst = sends ? node->peer : rank;
    uint64_t bytes = sends ? node->bytes : sent_take(w, src, dst, node->tag);
    number_add(a, TRACE_COMM_SRC, src);
    number_add(a, TRACE_COMM_DST, dst);
    number_add(a, TRACE_COMM_SIZE, (int64_t)bytes);
    number_add(a, TRACE_COMM_TAG, node->tag);
    number_add(a, TRACE_TAG, node->tag);
}

static int node_write(struct writer *w, uint32_t rank, const struct node *node)
{
    static const uint32_t types[] = {
        [NODE_COMPUTE] = TRACE_COMP, [NODE_WAIT] = TRACE_COMP,       [NODE_EMPTY] = TRACE_COMP,
        [NODE_SEND] = TRACE_SEND,    [NODE_COLLECTIVE] = TRACE_COLL, [NODE_RECV] = TRACE_RECV};
    struct attributes a = {.n = 0};
    char group[16];
    // The two kinds below would have to be written as something else, and the file would not be
    // what the program does.
    if (node->kind == NODE_COLLECTIVE && node->op == COLL_SEND_RECV)
        return err_add(w->err, NULL,
                       "rank %u, node %" PRIu64 ": Chakra has no collective send_recv", rank,
                       node->id);
    if (node->kind == NODE_COPY)
        return err_add(w->err, NULL,
                       "rank %u, node %" PRIu64 ": Chakra has no copies between tiers of memory",
                       rank, node->id);
    // A reader of Chakra takes a node of the CPU for one that does not occupy the GPU.
    bool cpu = node->kind == NODE_WAIT || node->kind == NODE_EMPTY;
    bool_add(&a, trace_attribute_names[TRACE_IS_CPU_OP], cpu);
    if (node->kind == NODE_COLLECTIVE)
        collective_add(w, node, &a, group);
    else if (node->kind == NODE_SEND || node->kind == NODE_RECV)
        message_add(w, rank, node, &a);
    number_add(&a, TRACE_KIND, node->kind);
    number_add(&a, TRACE_TAKES_PS, node->takes_ps);
    number_add(&a, TRACE_STREAM, node->stream);
    number_add(&a, TRACE_PRIORITY, node->priority);
    if (node->measured_ps > 0)
        number_add(&a, TRACE_MEASURED_PS, node->measured_ps);
    if (node->shared > 0)
        number_add(&a, TRACE_SHARED, node->shared);
    if (w->p->n_uses > 0)
        text_add(&a, TRACE_USE, w->p->uses[node->use]);
    if (node->layer > 0)
        text_add(&a, TRACE_LAYER, w->p->layers[node->layer - 1]);
    ChakraWire__Node m = CHAKRA_WIRE__NODE__INIT;
    m.id = node->id;
    m.name = (char *)(uintptr_t)(node->name != NULL ? node->name : "");
    m.type = types[node->kind];
    m.data_deps = (uint64_t *)(uintptr_t)node->after;
    m.n_data_deps = node->n_after;
    // Chakra counts microseconds. The exact time is in an attribute above, which our own reader
    // prefers.
    m.duration_micros = (uint64_t)((node->takes_ps + PS_PER_US / 2) / PS_PER_US);
    m.attr = a.list;
    m.n_attr = a.n;
    record_write(w, &m.base);
    return 0;
}

/* ---- files ---- */

char *trace_file(const struct node_program *p, const char *prefix, uint32_t i)
{
    return i < p->n_ranks ? text_format("%s.%u.et", prefix, i)
                          : text_format("%s.groups.json", prefix);
}

// Files are written under this name and renamed when all of them are complete, so that an error
// leaves no set with missing ranks.
static char *part_name(const struct writer *w, uint32_t i)
{
    char *name = trace_file(w->p, w->prefix, i), *part = text_format("%s.part", name);
    free(name);
    return part;
}

static int file_open(struct writer *w, const char *name)
{
    w->out = fopen(name, "wb");
    return w->out != NULL ? 0 : err_add(w->err, name, "cannot be written: %s", strerror(errno));
}

static int file_close(struct writer *w, const char *name)
{
    bool failed = ferror(w->out) != 0;
    if (fclose(w->out) != 0 || failed)
        return err_add(w->err, name, "cannot be written: %s", strerror(errno));
    return 0;
}

static int rank_write(struct writer *w, void *cursor, uint32_t rank)
{
    char *name = part_name(w, rank);
    struct node node;
    int result = file_open(w, name);
    if (result == 0) {
        metadata_write(w);
        while ((result = w->p->source->next(cursor, rank, &node, w->err)) > 0)
            if (node_write(w, rank, &node) != 0) {
                result = -1;
                break;
            }
        if (file_close(w, name) != 0)
            result = -1;
    }
    free(name);
    return result;
}

static int groups_write(struct writer *w)
{
    json_t *root = json_object();
    for (uint32_t g = 0; g < w->p->n_groups; g++) {
        const struct node_group *group = &w->p->groups[g];
        uint32_t n = coll_ranks(&group->schedule);
        json_t *ranks = json_array();
        char id[16];
        for (uint32_t m = 0; m < n; m++)
            json_array_append_new(ranks, json_integer(group->ranks ? group->ranks[m] : m));
        snprintf(id, sizeof id, "%u", g + 1);
        json_object_set_new(root, id, ranks);
    }
    char *name = part_name(w, w->p->n_ranks), *text = json_dumps(root, JSON_COMPACT);
    int result = file_open(w, name);
    if (result == 0) {
        fprintf(w->out, "%s\n", text);
        result = file_close(w, name);
    }
    json_decref(root);
    free(name);
    free(text);
    return result;
}

int trace_write(const struct node_program *p, const char *prefix, struct err *err)
{
    struct writer w = {.p = p, .prefix = prefix, .err = err};
    int result = sent_read(&w);
    void *cursor = p->source->open(p->self);
    for (uint32_t r = 0; r < p->n_ranks && result >= 0; r++)
        result = rank_write(&w, cursor, r);
    if (result >= 0)
        result = groups_write(&w);
    p->source->close(cursor);
    free(w.sent);
    free(w.bytes);
    return result >= 0 ? 0 : -1;
}
