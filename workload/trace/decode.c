// SPDX-License-Identifier: MIT
// Messages of protobuf-c become a struct trace_node that points into them. A whole number may have
// any integer type of the schema, since writers differ in the types that they choose.
#include "workload/trace/decode_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "workload/trace/schema.pb-c.h"

#define TRACE_NAME(constant, name) name,
const char *const trace_attribute_names[] = {TRACE_ATTRIBUTES(TRACE_NAME)};
#undef TRACE_NAME
#define TRACE_LENGTH(constant, name) sizeof name - 1,
static const unsigned char name_lengths[] = {TRACE_ATTRIBUTES(TRACE_LENGTH)};
#undef TRACE_LENGTH

const char *const trace_type_names[] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                        "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                        "COMM_RECV_NODE", "COMM_COLL_NODE"};
const char *const trace_coll_names[] = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

/* ---- memory of protobuf-c ---- */

static void *wire_alloc(void *data, size_t n)
{
    (void)data;
    return memory_bytes(n);
}

static void wire_free(void *data, void *p)
{
    (void)data;
    free(p);
}

static ProtobufCAllocator wire_allocator(void)
{
    return (ProtobufCAllocator){.alloc = wire_alloc, .free = wire_free};
}

static void *unpack(const ProtobufCMessageDescriptor *d, const unsigned char *bytes, size_t n)
{
    ProtobufCAllocator allocator = wire_allocator();
    return protobuf_c_message_unpack(d, &allocator, n, bytes);
}

void decode_release(struct trace *t)
{
    ProtobufCAllocator allocator = wire_allocator();
    if (t->message != NULL)
        protobuf_c_message_free_unpacked(t->message, &allocator);
    t->message = NULL;
}

/* ---- values of attributes ---- */

enum value_kind { VALUE_NUMBER, VALUE_TEXT, VALUE_BOOLS, VALUE_NUMBERS, VALUE_LARGE, VALUE_OTHER };

struct value {
    enum value_kind kind;
    int64_t number;
    const char *text;
    const protobuf_c_boolean *bools;
    const uint64_t *numbers;
    size_t n;
};

static struct value number_value(int64_t number)
{
    return (struct value){.kind = VALUE_NUMBER, .number = number};
}

static struct value unsigned_value(uint64_t number)
{
    if (number > INT64_MAX)
        return (struct value){.kind = VALUE_LARGE};
    return number_value((int64_t)number);
}

static struct value real_value(double real)
{
    bool whole = real >= -9e15 && real <= 9e15 && (double)(int64_t)real == real;
    return whole ? number_value((int64_t)real) : (struct value){.kind = VALUE_OTHER};
}

static struct value value_of(const ChakraWire__Attribute *a)
{
    switch ((int)a->value_case) {
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_DOUBLE_VAL:
        return real_value(a->double_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_FLOAT_VAL:
        return real_value((double)a->float_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_INT32_VAL:
        return number_value(a->int32_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_INT64_VAL:
        return number_value(a->int64_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_UINT32_VAL:
        return number_value(a->uint32_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_UINT64_VAL:
        return unsigned_value(a->uint64_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_SINT32_VAL:
        return number_value(a->sint32_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_SINT64_VAL:
        return number_value(a->sint64_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_FIXED32_VAL:
        return number_value(a->fixed32_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_FIXED64_VAL:
        return unsigned_value(a->fixed64_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_SFIXED32_VAL:
        return number_value(a->sfixed32_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_SFIXED64_VAL:
        return number_value(a->sfixed64_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_BOOL_VAL:
        return number_value(a->bool_val);
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_BOOL_LIST:
        return (struct value){
            .kind = VALUE_BOOLS, .bools = a->bool_list->values, .n = a->bool_list->n_values};
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_UINT64_LIST:
        return (struct value){.kind = VALUE_NUMBERS,
                              .numbers = a->uint64_list->values,
                              .n = a->uint64_list->n_values};
    case CHAKRA_WIRE__ATTRIBUTE__VALUE_STRING_VAL:
        return (struct value){.kind = VALUE_TEXT, .text = a->string_val};
    default:
        return (struct value){.kind = VALUE_OTHER};
    }
}

// The types of the old schema are BOOL, FLOAT, UINT, INT, STRING, and lists of them.
static struct value old_value_of(const ChakraWire__OldAttribute *a)
{
    switch (a->type) {
    case 0:
        return number_value(a->b);
    case 1:
        return real_value((double)a->f);
    case 2:
        return unsigned_value(a->u);
    case 3:
        return number_value(a->i);
    case 4:
        return (struct value){.kind = VALUE_TEXT, .text = a->s};
    case 5:
        return (struct value){.kind = VALUE_BOOLS, .bools = a->bools, .n = a->n_bools};
    default:
        return (struct value){.kind = VALUE_OTHER};
    }
}

static unsigned attribute_find(const char *name)
{
    size_t length = strlen(name);
    for (unsigned i = 0; i < TRACE_ATTRIBUTE_COUNT; i++)
        if (name_lengths[i] == length && memcmp(name, trace_attribute_names[i], length) == 0)
            return i;
    return TRACE_ATTRIBUTE_COUNT;
}

static bool text_set(struct trace_node *node, unsigned attribute, const struct value *value)
{
    if (value->kind != VALUE_TEXT)
        return false;
    if (attribute == TRACE_PG_NAME)
        node->pg_name = value->text;
    else if (attribute == TRACE_USE)
        node->use = value->text;
    else
        node->layer = value->text;
    return true;
}

static bool dims_set(struct trace_node *node, const struct value *value)
{
    if (value->kind != VALUE_BOOLS)
        return false;
    node->dims = 0;
    for (size_t i = 0; i < value->n && i < 32; i++)
        node->dims |= (uint32_t)(value->bools[i] != 0) << i;
    return true;
}

static int attribute_set(const struct trace *t, struct trace_node *node, const char *name,
                         struct value value, const char *path, struct err *err)
{
    unsigned attribute = attribute_find(name);
    bool right = true;
    if (attribute == TRACE_ATTRIBUTE_COUNT)
        return 0;
    node->has |= UINT32_C(1) << attribute;
    if (attribute == TRACE_DIMS) {
        right = dims_set(node, &value);
    } else if (attribute == TRACE_UNEVEN) {
        right = value.kind == VALUE_NUMBERS;
        node->uneven = value.numbers;
        node->n_uneven = right ? value.n : 0;
    } else if (attribute >= TRACE_TEXTS) {
        right = text_set(node, attribute, &value);
    } else {
        right = value.kind == VALUE_NUMBER;
        node->number[attribute] = value.number;
    }
    if (right)
        return 0;
    const char *expected = attribute == TRACE_DIMS     ? "a list of booleans"
                           : attribute == TRACE_UNEVEN ? "a list of numbers"
                           : attribute >= TRACE_TEXTS  ? "a text"
                           : value.kind == VALUE_LARGE ? "a number below 2^63"
                                                       : "a whole number";
    return trace_error(t, node, path, err, "attribute %s must be %s", name, expected);
}

/* ---- metadata ---- */

void trace_program_free(struct trace_program *p)
{
    for (uint32_t i = 0; i < p->n_groups; i++)
        free(p->groups[i]);
    for (uint32_t i = 0; i < p->n_uses; i++)
        free(p->uses[i]);
    for (uint32_t i = 0; i < p->n_layers; i++)
        free(p->layers[i]);
    free(p->groups);
    free(p->uses);
    free(p->layers);
    free(p->inner);
    *p = (struct trace_program){0};
}

static void texts_copy(const ChakraWire__Attribute *a, char ***texts, uint32_t *n)
{
    if ((int)a->value_case != CHAKRA_WIRE__ATTRIBUTE__VALUE_STRING_LIST || *texts != NULL)
        return;
    *n = (uint32_t)a->string_list->n_values;
    *texts = memory_zeroed(*n + 1, sizeof **texts);
    for (uint32_t i = 0; i < *n; i++)
        (*texts)[i] = memory_text(a->string_list->values[i]);
}

static void program_attribute(struct trace_program *p, const ChakraWire__Attribute *a)
{
    struct value value = value_of(a);
    if (strcmp(a->name, "collwire_groups") == 0)
        texts_copy(a, &p->groups, &p->n_groups);
    else if (strcmp(a->name, "collwire_uses") == 0)
        texts_copy(a, &p->uses, &p->n_uses);
    else if (strcmp(a->name, "collwire_layers") == 0)
        texts_copy(a, &p->layers, &p->n_layers);
    else if (strcmp(a->name, "collwire_in_order") == 0 && value.kind == VALUE_NUMBER)
        p->in_order = value.number != 0;
    else if (strcmp(a->name, "collwire_idle_use") == 0 && value.kind == VALUE_NUMBER)
        p->idle_use = (uint32_t)value.number;
    else if (strcmp(a->name, "collwire_inner") == 0 && value.kind == VALUE_NUMBERS && !p->inner) {
        p->inner = memory_zeroed(value.n + 1, sizeof *p->inner);
        memcpy(p->inner, value.numbers, value.n * sizeof *p->inner);
        p->known = value.n == p->n_groups && p->n_uses > 0; // the last one that is written
    }
}

/* ---- records ---- */

int decode_metadata(struct trace *t, const unsigned char *bytes, size_t n, const char *path,
                    struct err *err)
{
    // Field 1 is a text in the new schema (bytes 0a, length, version), in older ones an attribute,
    // whose own first field begins with byte 0a.
    t->known = n >= 3 && bytes[0] == 0x0a && bytes[1] < 0x80 && bytes[2] != 0x0a;
    bool attributes = n > 0 && bytes[0] == 0x0a && !t->known;
    ChakraWire__Metadata *m = unpack(&chakra_wire__metadata__descriptor, bytes, n);
    bool right = m != NULL || attributes;
    for (size_t i = 0; m != NULL && i < m->n_attr; i++)
        program_attribute(&t->program, m->attr[i]);
    ProtobufCAllocator allocator = wire_allocator();
    chakra_wire__metadata__free_unpacked(m, &allocator);
    if (!right)
        return trace_error(t, NULL, path, err,
                           "is not the metadata of an execution trace: is this a Chakra trace?");
    return 0;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Add parents to those of the node, whose number becomes *n.
static void after_add(struct trace *t, size_t *n, const uint64_t *ids, size_t n_ids)
{
    for (size_t i = 0; i < n_ids; i++) {
        if (*n == t->cap_after)
            t->after = memory_grow(t->after, &t->cap_after, sizeof *t->after);
        t->after[(*n)++] = ids[i];
    }
}

// A parent may be listed twice, with data and as control: keep one.
static size_t after_sort(struct trace *t, size_t n)
{
    size_t kept = n > 0;
    if (n > 1)
        qsort(t->after, n, sizeof *t->after, compare_ids);
    for (size_t i = 1; i < n; i++)
        if (t->after[i] != t->after[kept - 1])
            t->after[kept++] = t->after[i];
    return kept;
}

static int bad_record(const struct trace *t, const char *path, struct err *err)
{
    return trace_error(t, NULL, path, err, "is not a node of an execution trace");
}

static int old_node(struct trace *t, const unsigned char *bytes, size_t n, struct trace_node *node,
                    const char *path, struct err *err)
{
    ChakraWire__OldNode *m = unpack(&chakra_wire__old_node__descriptor, bytes, n);
    int result = 0;
    t->message = m;
    if (m == NULL)
        return bad_record(t, path, err);
    node->id = m->id;
    node->name = m->name;
    node->type = (enum trace_type)m->type;
    node->inputs = m->inputs;
    after_add(t, &node->n_after, m->parent, m->n_parent);
    for (size_t i = 0; i < m->n_attribute; i++)
        if (attribute_set(t, node, m->attribute[i]->name, old_value_of(m->attribute[i]), path,
                          err) != 0)
            result = -1;
    if (trace_has(node, TRACE_RUNTIME) && node->number[TRACE_RUNTIME] > 0)
        node->duration_us = (uint64_t)node->number[TRACE_RUNTIME];
    if (trace_has(node, TRACE_COMM_TYPE)) {
        static const int64_t types[] = {TRACE_ALL_REDUCE, TRACE_ALL_TO_ALL, TRACE_ALL_GATHER,
                                        TRACE_REDUCE_SCATTER, TRACE_BROADCAST};
        int64_t type = node->number[TRACE_COMM_TYPE];
        node->number[TRACE_COMM_TYPE] = type >= 0 && type < 5 ? types[type] : TRACE_COLLS;
    }
    return result;
}

static int new_node(struct trace *t, const unsigned char *bytes, size_t n, struct trace_node *node,
                    const char *path, struct err *err)
{
    ChakraWire__Node *m = unpack(&chakra_wire__node__descriptor, bytes, n);
    int result = 0;
    t->message = m;
    if (m == NULL)
        return bad_record(t, path, err);
    node->id = m->id;
    node->name = m->name;
    node->type = (enum trace_type)m->type;
    node->duration_us = m->duration_micros;
    if (m->inputs != NULL)
        node->inputs = m->inputs->values;
    after_add(t, &node->n_after, m->data_deps, m->n_data_deps);
    after_add(t, &node->n_after, m->ctrl_deps, m->n_ctrl_deps);
    for (size_t i = 0; i < m->n_attr; i++)
        if (attribute_set(t, node, m->attr[i]->name, value_of(m->attr[i]), path, err) != 0)
            result = -1;
    return result;
}

static void generation_find(struct trace *t, const unsigned char *bytes, size_t n)
{
    ChakraWire__Node *m = unpack(&chakra_wire__node__descriptor, bytes, n);
    ProtobufCAllocator allocator = wire_allocator();
    t->old = m == NULL || m->base.n_unknown_fields > 0;
    t->known = t->old || m->n_attr > 0;
    chakra_wire__node__free_unpacked(m, &allocator);
}

int decode_node(struct trace *t, const unsigned char *bytes, size_t n, struct trace_node *node,
                const char *path, struct err *err)
{
    decode_release(t);
    *node = (struct trace_node){.name = "", .inputs = "", .pg_name = "", .use = "", .layer = ""};
    node->dims = UINT32_MAX;
    if (!t->known)
        generation_find(t, bytes, n);
    int result =
        t->old ? old_node(t, bytes, n, node, path, err) : new_node(t, bytes, n, node, path, err);
    node->after = t->after;
    node->n_after = after_sort(t, node->n_after);
    if (result == 0 && (unsigned)node->type >= TRACE_TYPES)
        result = trace_error(t, node, path, err, "has the unknown type %u", (unsigned)node->type);
    return result;
}
