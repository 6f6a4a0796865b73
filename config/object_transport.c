// SPDX-License-Identifier: MIT
// The `transport` object.
#include <string.h>

#include "config/objects.h"
#include "config/read.h"
#include "config/schema_parts.h"
#include "transport/transport.h"

// ---- wire_overhead: a word, or bytes ----

static void overhead_read(struct reader *r, const struct place *place, void *value)
{
    struct transport_spec *transport = value;
    struct keys keys = {0};
    if (place->json == NULL)
        return;
    if (json_is_object(place->json)) {
        read_params(r, place, &keys, overhead_params, n_overhead_params, transport);
        keys_check(r, place, &keys);
        transport->overhead = OVERHEAD_CUSTOM;
        return;
    }
    if (!json_is_string(place->json)) {
        place_error(r->err, place,
                    "must be \"ethernet\", \"none\" or an object {data, ack}, not %s",
                    json_noun(place->json));
        return;
    }
    int word = read_word(r, place, "overhead", overhead_words);
    if (word >= 0)
        transport->overhead = word;
}

static json_t *overhead_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct transport_spec *transport = value;
    return transport->overhead == OVERHEAD_CUSTOM
               ? params_json(overhead_params, n_overhead_params, transport)
               : json_string(overhead_words[transport->overhead]);
}

static json_t *overhead_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return json_pack("{s:[o,o],s:s}", "anyOf", schema_words(overhead_words),
                     schema_table(overhead_params, n_overhead_params), "default",
                     overhead_words[0]);
}

static const struct object overhead_object = {
    .key = "wire_overhead",
    .doc = "ethernet, none, or {data, ack}: bytes a packet costs beyond its payload",
    .type = "word or object",
    .def = "ethernet",
    .params = overhead_params, // offsets in struct transport_spec
    .n_params = &n_overhead_params,
    .read = overhead_read,
    .write = overhead_write,
    .schema = overhead_schema,
};

// ---- objects among the settings of a kind ----

static struct object group_object(const struct transport_group *group)
{
    return (struct object){.key = group->key,
                           .doc = group->doc,
                           .params = group->params,
                           .n_params = &group->n_params};
}

static void groups_read(struct reader *r, const struct place *place, struct keys *keys,
                        struct transport_spec *transport)
{
    const struct transport_ops *ops = transport->ops;
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object object = group_object(&ops->groups[g]);
        struct place at = place_key(place, object.key);
        if (at.json != NULL)
            object_read(r, &at, &object, transport->own);
        keys_add(keys, object.key);
    }
}

// ---- the object: keys of the kind, then keys of all transports ----

static void transport_defaults(void *value) { transport_spec_init(value, transport_registry[0]); }

// The transport with this name; NULL with an error if there is none.
static const struct transport_ops *read_kind(struct reader *r, const struct place *place,
                                             const struct transport_ops *inherited)
{
    struct keys words = {0};
    for (size_t i = 0; transport_registry[i] != NULL; i++)
        keys_add(&words, transport_registry[i]->name);
    if (place->json == NULL)
        return inherited;
    int word = read_word(r, place, "transport kind", words.names);
    return word < 0 ? NULL : transport_registry[word];
}

static void transport_read(struct reader *r, const struct place *place, void *value)
{
    struct transport_spec *transport = value;
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place overhead = place_key(place, "wire_overhead"), kind = place_key(place, "kind");
    const struct transport_ops *ops = read_kind(r, &kind, transport->ops);
    if (ops == NULL)
        return;
    if (ops != transport->ops)
        transport_spec_init(transport, ops);
    keys_add(&keys, "kind");
    read_params(r, place, &keys, ops->params, ops->n_params, transport->own);
    groups_read(r, place, &keys, transport);
    read_params(r, place, &keys, transport_params, n_transport_params, transport);
    object_read(r, &overhead, &overhead_object, transport);
    keys_add(&keys, "wire_overhead");
    keys_check(r, place, &keys);
}

static json_t *transport_write(const struct scenario *s, const void *value)
{
    const struct transport_spec *transport = value;
    const struct transport_ops *ops = transport->ops;
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(ops->name));
    write_params(json, ops->params, ops->n_params, transport->own);
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object group = group_object(&ops->groups[g]);
        json_object_set_new(json, group.key, object_json(s, &group, transport->own));
    }
    write_params(json, transport_params, n_transport_params, transport);
    json_object_set_new(json, "wire_overhead", object_json(s, &overhead_object, transport));
    return json;
}

static json_t *kind_schema(const struct transport_ops *ops, const struct cc_catalogue *policies)
{
    const char *const name[] = {ops->name, NULL};
    json_t *object = schema_object(), *kind = schema_words(name);
    bool is_default = ops == transport_registry[0];
    if (is_default)
        json_object_set_new(kind, "default", json_string(ops->name));
    schema_key(object, "kind", kind, !is_default);
    json_object_set_new(object, "description", json_string(ops->doc));
    schema_params(object, ops->params, ops->n_params);
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object group = group_object(&ops->groups[g]);
        schema_key(object, group.key, object_schema(&group, policies), false);
    }
    schema_params(object, transport_params, n_transport_params);
    schema_key(object, "wire_overhead", object_schema(&overhead_object, policies), false);
    return object;
}

static json_t *transport_schema(const struct cc_catalogue *policies)
{
    json_t *kinds = json_array();
    for (size_t i = 0; transport_registry[i] != NULL; i++)
        json_array_append_new(kinds, kind_schema(transport_registry[i], policies));
    return json_pack("{s:o}", "anyOf", kinds);
}

static bool transport_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    const struct transport_ops *ops = transport_registry[i];
    if (ops == NULL)
        return false;
    *out = (struct object_entry){
        .name = ops->name, .doc = ops->doc, .source = ops->source, .kind = ops};
    return true;
}

static void transport_keys(const struct object_entry *entry, const char *prefix,
                           const struct key_sink *to)
{
    const struct transport_ops *ops = entry->kind;
    struct own_key overhead = {overhead_object.key, overhead_object.type, overhead_object.def,
                               overhead_object.doc};
    to->table(to->ctx, prefix, ops->params, ops->n_params);
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object group = group_object(&ops->groups[g]);
        object_keys(&group, NULL, group.key, to);
    }
    to->table(to->ctx, prefix, transport_params, n_transport_params);
    object_keys(&overhead_object, NULL, overhead.key, to);
    to->own(to->ctx, &overhead);
}

const struct object transport_object = {
    .key = "transport",
    .doc = "transports",
    .shared = true,
    .offset = offsetof(struct scenario, base.transport),
    .defaults = transport_defaults,
    .read = transport_read,
    .write = transport_write,
    .schema = transport_schema,
    .entry = transport_entry,
    .keys = transport_keys,
};
