// SPDX-License-Identifier: MIT
// The descriptors of the schema say which fields there are and how each is encoded.
#include "workload/trace/trace_json.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "workload/trace/schema.pb-c.h"
#include "workload/trace/trace_node.h"

#define NAME_MOST 64
enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

static bool wrong(struct trace_json *j, const char *field, const char *what)
{
    snprintf(j->why, sizeof j->why, "%.40s %s", field, what);
    return false;
}

/* ---- bytes ---- */

static void put(struct trace_json *j, const void *bytes, size_t n)
{
    if (j->n + n > j->cap) {
        j->cap = (j->n + n) * 2 + 256;
        j->bytes = memory_resize(j->bytes, j->cap, 1);
    }
    if (n > 0)
        memcpy(j->bytes + j->n, bytes, n);
    j->n += n;
}

static void put_varint(struct trace_json *j, uint64_t number)
{
    unsigned char bytes[10];
    size_t n = 0;
    for (; number >= 0x80; number >>= 7)
        bytes[n++] = (unsigned char)(number | 0x80);
    bytes[n++] = (unsigned char)number;
    put(j, bytes, n);
}

static void put_tag(struct trace_json *j, const ProtobufCFieldDescriptor *field, unsigned wire)
{
    put_varint(j, (uint64_t)field->id << 3 | wire);
}

// The lowest bytes of a number, the least significant one first.
static void put_fixed(struct trace_json *j, uint64_t number, size_t n)
{
    unsigned char bytes[8];
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)(number >> (8 * i));
    put(j, bytes, n);
}

/* ---- values ---- */

// A whole number of 64 bits, negative ones as their complement.
static bool whole_read(const json_t *value, uint64_t *number)
{
    const char *text = json_string_value(value);
    char *end;
    if (json_is_integer(value)) {
        *number = (uint64_t)json_integer_value(value);
        return true;
    }
    if (text == NULL || (text[0] != '-' && !isdigit((unsigned char)text[0])))
        return false;
    errno = 0;
    *number = text[0] == '-' ? (uint64_t)strtoll(text, &end, 10) : strtoull(text, &end, 10);
    return errno == 0 && *end == '\0' && end != text + (text[0] == '-');
}

static bool type_read(const json_t *value, uint64_t *type)
{
    const char *text = json_string_value(value);
    for (size_t i = 0; text != NULL && i < TRACE_TYPES; i++)
        if (strcmp(text, trace_type_names[i]) == 0) {
            *type = i;
            return true;
        }
    return whole_read(value, type);
}

static bool put_message(struct trace_json *j, const ProtobufCMessageDescriptor *of,
                        const json_t *object);

static bool put_nested(struct trace_json *j, const ProtobufCFieldDescriptor *field,
                       const json_t *value)
{
    struct trace_json nested = {0};
    bool good = json_is_object(value) ? put_message(&nested, field->descriptor, value)
                                      : wrong(&nested, field->name, "must be an object");
    if (good) {
        put_tag(j, field, WIRE_BYTES);
        put_varint(j, nested.n);
        put(j, nested.bytes, nested.n);
    } else {
        memcpy(j->why, nested.why, sizeof j->why);
    }
    free(nested.bytes);
    return good;
}

static bool put_real(struct trace_json *j, const ProtobufCFieldDescriptor *field,
                     const json_t *value)
{
    const char *text = json_string_value(value); // "NaN", "Infinity"
    double real = text != NULL ? strtod(text, NULL) : json_number_value(value);
    float single = (float)real;
    uint64_t number = 0;
    uint32_t half;
    if (text == NULL && !json_is_number(value))
        return wrong(j, field->name, "must be a number");
    bool is_double = field->type == PROTOBUF_C_TYPE_DOUBLE;
    memcpy(&number, &real, sizeof real);
    memcpy(&half, &single, sizeof single);
    put_tag(j, field, is_double ? WIRE_64 : WIRE_32);
    put_fixed(j, is_double ? number : half, is_double ? 8 : 4);
    return true;
}

static bool put_whole(struct trace_json *j, const ProtobufCFieldDescriptor *field,
                      const json_t *value)
{
    uint64_t number;
    bool is_type = strcmp(field->name, "type") == 0;
    if (!(is_type ? type_read(value, &number) : whole_read(value, &number)))
        return wrong(j, field->name, is_type ? "is no type of node" : "must be a whole number");
    switch (field->type) {
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SINT64:
        put_tag(j, field, WIRE_VARINT);
        put_varint(j, number << 1 ^ (number >> 63 != 0 ? UINT64_MAX : 0));
        return true;
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
        put_tag(j, field, WIRE_32);
        put_fixed(j, number, 4);
        return true;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        put_tag(j, field, WIRE_64);
        put_fixed(j, number, 8);
        return true;
    default:
        put_tag(j, field, WIRE_VARINT);
        put_varint(j, number);
        return true;
    }
}

static bool put_value(struct trace_json *j, const ProtobufCFieldDescriptor *field,
                      const json_t *value)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return put_nested(j, field, value);
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_FLOAT:
        return put_real(j, field, value);
    case PROTOBUF_C_TYPE_BOOL:
        if (!json_is_boolean(value))
            return wrong(j, field->name, "must be true or false");
        put_tag(j, field, WIRE_VARINT);
        put_varint(j, json_is_true(value));
        return true;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        if (!json_is_string(value))
            return wrong(j, field->name, "must be a text");
        put_tag(j, field, WIRE_BYTES);
        put_varint(j, json_string_length(value));
        put(j, json_string_value(value), json_string_length(value));
        return true;
    default:
        return put_whole(j, field, value);
    }
}

/* ---- messages ---- */

// "dataDeps" -> "data_deps". Returns false for a name that no field has.
static bool field_name(const char *key, char name[NAME_MOST])
{
    size_t n = 0;
    for (; *key != '\0'; key++) {
        if (n + 3 > NAME_MOST)
            return false;
        if (isupper((unsigned char)*key))
            name[n++] = '_';
        name[n++] = (char)tolower((unsigned char)*key);
    }
    name[n] = '\0';
    return true;
}

static bool put_message(struct trace_json *j, const ProtobufCMessageDescriptor *of,
                        const json_t *object)
{
    const char *key;
    json_t *value, *item;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        char name[NAME_MOST];
        const ProtobufCFieldDescriptor *field =
            field_name(key, name) ? protobuf_c_message_descriptor_get_field_by_name(of, name)
                                  : NULL;
        size_t i;
        if (field == NULL || json_is_null(value))
            continue;
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            if (!put_value(j, field, value))
                return false;
            continue;
        }
        if (!json_is_array(value))
            return wrong(j, field->name, "must be a list");
        json_array_foreach(value, i, item) if (!put_value(j, field, item)) return false;
    }
    return true;
}

bool trace_json_convert(struct trace_json *j, const char *text, size_t n, bool metadata)
{
    json_error_t at;
    json_t *object = json_loadb(text, n, JSON_REJECT_DUPLICATES, &at);
    j->n = 0;
    bool good = object != NULL;
    if (!good)
        snprintf(j->why, sizeof j->why, "is no JSON: %.80s", at.text);
    if (good && metadata && json_object_get(object, "id") != NULL)
        good = wrong(j, "the first object", "must have the metadata, as {\"version\": \"0.0.4\"}");
    good = good && put_message(j,
                               metadata ? &chakra_wire__metadata__descriptor
                                        : &chakra_wire__node__descriptor,
                               object);
    json_decref(object);
    return good;
}
