// SPDX-License-Identifier: MIT
// The `transport` object.
#include <string.h>

#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "config/object/stacks.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"
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

static void transport_defaults(void *value)
{
    struct dim_spec *dim = value;
    dim->n_stacks = 1;
    transport_spec_init(&dim->transport, transport_registry[0]);
}

// The transport with this name; NULL with an error if there is none.
static const struct transport_ops *read_kind(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; transport_registry[i] != NULL; i++)
        keys_add(&words, transport_registry[i]->name);
    int word = read_word(r, place, "transport kind", words.names);
    return word < 0 ? NULL : transport_registry[word];
}

static void read_settings(struct reader *r, const struct place *place,
                          struct transport_spec *transport)
{
    const struct transport_ops *ops = transport->ops;
    struct keys keys = {0};
    struct place overhead = place_key(place, "wire_overhead");
    keys_add(&keys, "kind");
    keys_add(&keys, "name");
    read_params(r, place, &keys, ops->params, ops->n_params, transport->own);
    groups_read(r, place, &keys, transport);
    read_params(r, place, &keys, transport_params, n_transport_params, transport);
    object_read(r, &overhead, &overhead_object, transport);
    keys_add(&keys, "wire_overhead");
    keys_check_of(r, place, &keys, &transport_object);
}

// One object: it may change the kind.
static void read_single(struct reader *r, const struct place *place, struct stack_spec *stack)
{
    struct place kind = place_key(place, "kind");
    const struct transport_ops *inherited = stack->transport.ops;
    const struct transport_ops *ops = kind.json != NULL ? read_kind(r, &kind) : inherited;
    struct place name = place_key(place, "name");
    if (ops == NULL)
        return;
    // The settings are those of the inherited kind, and have no meaning for another one.
    if (ops != inherited) {
        transport_spec_init(&stack->transport, ops);
        // Where the scenario has no `cc`, the kind chooses the default policy.
        if (json_object_get(r->scenario->root, "cc") == NULL)
            stack_default_policy(r, stack);
    }
    if (name.json != NULL)
        place_error(r->err, &name, "is for lists of transports: there is one");
    read_settings(r, place, &stack->transport);
}

// Read a dimension's object with settings of one of the scenario's several transports.
static void read_override(struct reader *r, const struct place *place, struct dim_spec *dim)
{
    struct place kind = place_key(place, "kind"), name = place_key(place, "name");
    const struct place *called = name.json != NULL ? &name : &kind;
    struct keys words = stack_words(dim);
    int t =
        called->json != NULL ? read_word(r, called, "transport of the scenario", words.names) : 0;
    if (t >= 0)
        read_settings(r, place, &dim->stacks[t].transport);
}

// Clocks and the start of jobs are those of the ranks, whatever the transport.
static void check_common(struct reader *r, const struct place *place,
                         const struct transport_spec *transport, const struct transport_spec *first)
{
    struct place ppm = place_key(place, "clock_ppm"), jitter = place_key(place, "start_jitter");
    bool clocks =
        transport->clock_ppm < first->clock_ppm || transport->clock_ppm > first->clock_ppm;
    if (clocks)
        place_error(r->err, &ppm, "must be that of the first transport: ranks have one clock");
    if (transport->start_jitter_ps != first->start_jitter_ps)
        place_error(r->err, &jitter, "must be that of the first transport: it is one of the ranks");
}

// Read the name of a transport of the list for `cc` and jobs: its `name`, or its kind.
static void read_name(struct reader *r, const struct place *place, struct dim_spec *dim,
                      struct transport_spec *transport)
{
    struct place name = place_key(place, "name"), kind = place_key(place, "kind");
    const char *word = json_string_value(name.json);
    if (name.json != NULL && (word == NULL || word[0] == '\0'))
        place_error(r->err, &name, "must be a word");
    else if (word != NULL)
        transport->name = word;
    if (stack_find(dim, transport->name) != UINT32_MAX)
        place_error(r->err, word != NULL ? &name : &kind,
                    "transport %s is listed twice: give one of them a `name` of its own",
                    transport->name);
}

// An item of the scenario's list: the next transport.
static void read_item(struct reader *r, const struct place *place, struct dim_spec *dim, uint32_t t)
{
    struct place kind = place_key(place, "kind");
    if (!read_object_of(r, place, "kind"))
        return;
    const struct transport_ops *ops = read_kind(r, &kind);
    if (ops == NULL)
        return;
    struct transport_spec *transport = &dim->stacks[t].transport, *first = &dim->transport;
    dim->n_stacks = t; // the transports before this one
    transport_spec_init(transport, ops);
    read_name(r, place, dim, transport);
    if (t > 0) {
        transport->clock_ppm = first->clock_ppm;
        transport->start_jitter_ps = first->start_jitter_ps;
    }
    read_settings(r, place, transport);
    check_common(r, place, transport, first);
}

static void read_list_of(struct reader *r, const struct place *place, struct dim_spec *dim)
{
    size_t n = json_array_size(place->json);
    bool global = place_is_global(place);
    if (n == 0 || (global && n > SPEC_MAX_STACKS)) {
        place_error(r->err, place, "must have 1 to %d transports", SPEC_MAX_STACKS);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        struct place at = place_item(place, i);
        if (global)
            read_item(r, &at, dim, i);
        else if (read_object_of(r, &at, "kind"))
            read_override(r, &at, dim);
    }
    if (global) {
        dim->n_stacks = (uint32_t)n;
        r->scenario->transports_listed = true;
    }
}

static void transport_read(struct reader *r, const struct place *place, void *value)
{
    struct dim_spec *dim = value;
    if (json_is_array(place->json))
        read_list_of(r, place, dim);
    else if (!read_object_of(r, place, "kind"))
        return;
    else if (dim->n_stacks > 1)
        read_override(r, place, dim);
    else
        read_single(r, place, &dim->stacks[0]);
}

static json_t *settings_json(const struct scenario *s, const struct transport_spec *transport)
{
    const struct transport_ops *ops = transport->ops;
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(ops->name));
    if (strcmp(transport->name, ops->name) != 0)
        json_object_set_new(json, "name", json_string(transport->name));
    write_params(json, ops->params, ops->n_params, transport->own);
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object group = group_object(&ops->groups[g]);
        json_object_set_new(json, group.key, object_json(s, &group, transport->own));
    }
    write_params(json, transport_params, n_transport_params, transport);
    json_object_set_new(json, "wire_overhead", object_json(s, &overhead_object, transport));
    return json;
}

static json_t *transport_write(const struct scenario *s, const void *value)
{
    const struct dim_spec *dim = value;
    if (!s->transports_listed)
        return settings_json(s, &dim->transport);
    json_t *list = json_array();
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        json_array_append_new(list, settings_json(s, &dim->stacks[t].transport));
    return list;
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
    schema_key(object, "name",
               json_pack("{s:s,s:s}", "type", "string", "description",
                         "in a list: what `cc` and jobs call it; its kind by default"),
               false);
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
    static const struct own_key name = {
        "name", "text", "", "in a list: what `cc` and jobs call it; default = its kind"};
    const struct transport_ops *ops = entry->kind;
    struct own_key overhead = {overhead_object.key, overhead_object.type, overhead_object.def,
                               overhead_object.doc};
    to->own(to->ctx, &name);
    to->table(to->ctx, prefix, ops->params, ops->n_params);
    for (size_t g = 0; g < ops->n_groups; g++) {
        struct object group = group_object(&ops->groups[g]);
        object_keys(&group, NULL, group.key, to);
    }
    to->table(to->ctx, prefix, transport_params, n_transport_params);
    object_keys(&overhead_object, NULL, overhead.key, to);
    to->own(to->ctx, &overhead);
}

// The object's struct is that of a dimension, which contains the transports.
const struct object transport_object = {
    .key = "transport",
    .doc = "transports",
    .shared = true,
    .listable = true,
    .offset = offsetof(struct scenario, base),
    .defaults = transport_defaults,
    .read = transport_read,
    .write = transport_write,
    .schema = transport_schema,
    .entry = transport_entry,
    .keys = transport_keys,
};
