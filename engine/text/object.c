// SPDX-License-Identifier: MIT
// Generic operations on objects by their tables: defaults, reading, resolved form, schema, keys.
#include "engine/text/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

// ---- parts and items ----

static const struct object *const no_parts[] = {NULL};

static const struct object *const *parts_of(const struct object *o)
{
    return o->parts != NULL ? o->parts : no_parts;
}

static size_t n_params(const struct object *o) { return o->n_params != NULL ? *o->n_params : 0; }

// The struct of a part inside the struct `value` of the object.
static void *part_value(const struct object *part, void *value)
{
    return (char *)value + part->offset;
}

static const void *part_const(const struct object *part, const void *value)
{
    return (const char *)value + part->offset;
}

// The count of a list: a size_t at a fixed distance from the pointer to the items.
static size_t *list_count(const struct object *o, void *value)
{
    return (size_t *)(void *)((char *)value - o->offset + o->count_at);
}

static const char *list_items(const void *value)
{
    const char *items;
    memcpy(&items, value, sizeof items);
    return items;
}

// ---- defaults ----

static void keys_defaults(const struct object *o, void *value)
{
    params_default(o->params, n_params(o), value);
    for (const struct object *const *part = parts_of(o); *part != NULL; part++)
        object_defaults(*part, part_value(*part, value));
}

void object_defaults(const struct object *o, void *value)
{
    if (o->defaults != NULL)
        o->defaults(value);
    else if (o->item_bytes == 0) // a list is empty until items are read
        keys_defaults(o, value);
}

// ---- reading ----

static void read_part(struct reader *r, const struct place *place, struct keys *keys,
                      const struct object *part, void *value)
{
    struct place at = place_key(place, part->key);
    object_read(r, &at, part, part_value(part, value));
    keys_add(keys, part->key);
}

// The key for which a user may have given its value alone; NULL = none.
static const char *main_key(const struct object *o)
{
    static const char *const names[] = {"kind", "preset", ENABLED, NULL};
    for (const char *const *name = names; *name != NULL; name++)
        if (param_find(o->params, n_params(o), *name).name != NULL)
            return *name;
    return NULL;
}

static void read_keys(struct reader *r, const struct place *place, const struct object *o,
                      void *value)
{
    struct keys keys = {0};
    if (!read_object_of(r, place, main_key(o)))
        return;
    read_params(r, place, &keys, o->params, n_params(o), value);
    for (enum object_stage stage = STAGE_SETTINGS; stage <= STAGE_REST; stage++)
        for (const struct object *const *part = parts_of(o); *part != NULL; part++)
            if ((*part)->stage == stage)
                read_part(r, place, &keys, *part, value);
    keys_check(r, place, &keys);
}

static void read_items(struct reader *r, const struct place *place, const struct object *o,
                       void *value)
{
    if (!read_list(r, place))
        return;
    size_t n = json_array_size(place->json);
    char *items = memory_zeroed(n, o->item_bytes);
    memcpy(value, &items, sizeof items);
    *list_count(o, value) = n;
    for (size_t i = 0; i < n; i++) {
        struct place at = place_item(place, i);
        keys_defaults(o, items + i * o->item_bytes);
        read_keys(r, &at, o, items + i * o->item_bytes);
    }
}

void object_read(struct reader *r, const struct place *place, const struct object *o, void *value)
{
    if (o->read != NULL)
        o->read(r, place, value);
    else if (o->item_bytes > 0)
        read_items(r, place, o, value);
    else
        read_keys(r, place, o, value);
    if (o->finish != NULL)
        o->finish(r, place, value);
}

// ---- the resolved form ----

static json_t *keys_json(const struct scenario *s, const struct object *o, const void *value)
{
    json_t *json = params_json(o->params, n_params(o), value);
    for (const struct object *const *part = parts_of(o); *part != NULL; part++) {
        json_t *inner = object_json(s, *part, part_const(*part, value));
        if (inner != NULL)
            json_object_set_new(json, (*part)->key, inner);
    }
    return json;
}

static json_t *items_json(const struct scenario *s, const struct object *o, const void *value)
{
    json_t *list = json_array();
    const char *items = list_items(value);
    size_t n;
    memcpy(&n, (const char *)value - o->offset + o->count_at, sizeof n);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, keys_json(s, o, items + i * o->item_bytes));
    return list;
}

json_t *object_json(const struct scenario *s, const struct object *o, const void *value)
{
    if (o->write != NULL)
        return o->write(s, value);
    return o->item_bytes > 0 ? items_json(s, o, value) : keys_json(s, o, value);
}

// ---- the schema ----

json_t *object_schema(const struct object *o, const struct cc_catalogue *policies)
{
    if (o->schema != NULL)
        return o->schema(policies);
    json_t *json = schema_table(o->params, n_params(o));
    for (const struct object *const *part = parts_of(o); *part != NULL; part++) {
        const char *key = (*part)->key;
        json_t *inner = (*part)->shared ? schema_ref(key) : object_schema(*part, policies);
        if ((*part)->listable)
            inner = schema_one_or_list(inner);
        schema_key(json, key, inner, (*part)->required);
    }
    return o->item_bytes > 0 ? schema_list(json) : json;
}

// ---- memory ----

static void free_parts(const struct object *o, void *value)
{
    for (const struct object *const *part = parts_of(o); *part != NULL; part++)
        object_free(*part, part_value(*part, value));
}

static void free_items(const struct object *o, void *value)
{
    char *items = (char *)(uintptr_t)list_items(value);
    size_t n = *list_count(o, value);
    for (size_t i = 0; i < n; i++)
        free_parts(o, items + i * o->item_bytes);
    free(items);
}

void object_free(const struct object *o, void *value)
{
    if (o->free != NULL)
        o->free(value);
    if (o->item_bytes > 0)
        free_items(o, value);
    else
        free_parts(o, value);
}

// ---- keys for people ----

#define PREFIX_BYTES 64

void object_keys(const struct object *o, const struct object_entry *entry, const char *prefix,
                 const struct key_sink *to)
{
    if (o->keys != NULL) {
        o->keys(entry, prefix, to);
        return;
    }
    to->table(to->ctx, prefix, o->params, n_params(o));
    for (const struct object *const *part = parts_of(o); *part != NULL; part++) {
        char inner[PREFIX_BYTES];
        snprintf(inner, sizeof inner, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", (*part)->key);
        object_keys(*part, NULL, inner, to);
    }
    for (const struct object *const *part = parts_of(o); *part != NULL; part++) {
        struct own_key own = {(*part)->key, (*part)->type, (*part)->def, (*part)->doc};
        if (own.type != NULL)
            to->own(to->ctx, &own);
    }
}
