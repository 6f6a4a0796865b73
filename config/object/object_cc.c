// SPDX-License-Identifier: MIT
// The `cc` object: a policy, a preset, and values that replace the preset's.
#include <string.h>

#include "cc/registry.h"
#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "config/object/stacks.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"
#include "transport/transport.h"

static const struct cc_ops *read_policy(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; i < r->policies->n; i++)
        keys_add(&words, r->policies->policies[i]->name);
    int word = read_word(r, place, "policy", words.names);
    return word >= 0 ? r->policies->policies[word] : NULL;
}

static const struct cc_preset *read_preset(struct reader *r, const struct place *place,
                                           const struct cc_ops *ops)
{
    struct keys words = {0};
    if (place->json == NULL)
        return &ops->presets[0];
    for (size_t i = 0; i < ops->n_presets; i++)
        keys_add(&words, ops->presets[i].name);
    int word = read_word(r, place, "preset", words.names);
    return word >= 0 ? &ops->presets[word] : NULL;
}

static void cc_defaults(void *value)
{
    struct dim_spec *dim = value;
    const struct cc_ops *none = cc_find("none");
    stack_set_policy(&dim->stacks[0], none, &none->presets[0]);
}

// The policy of one transport. If `inherits` and neither `kind` nor `preset` is given, the values
// modify the policy that is set.
static void read_one(struct reader *r, const struct place *place, struct stack_spec *stack,
                     bool inherits)
{
    struct keys keys = {0};
    struct place kind = place_key(place, "kind"), preset_at = place_key(place, "preset");
    // A dimension may change single values of the policy that it inherits.
    const struct cc_ops *ops = kind.json != NULL || !inherits ? read_policy(r, &kind) : stack->cc;
    if (ops == NULL)
        return;
    if (kind.json != NULL || preset_at.json != NULL) {
        const struct cc_preset *preset = read_preset(r, &preset_at, ops);
        if (preset == NULL)
            return;
        stack_set_policy(stack, ops, preset);
    }
    // The values are checked together only where each is valid by itself.
    size_t errors = r->err->n_errors;
    keys_add(&keys, "kind");
    keys_add(&keys, "transport");
    keys_add(&keys, "preset");
    read_params(r, place, &keys, ops->params, ops->n_params, stack->cc_params);
    keys_check_of(r, place, &keys, &cc_object);
    const char *why = r->err->n_errors == errors ? cc_check_params(ops, stack->cc_params) : NULL;
    if (why != NULL)
        place_error(r->err, place, "%s", why);
}

// Returns the number of the stack whose transport the key `transport` names, or -1 with an error.
// With only one transport, an object that stands alone may leave the key out.
static int read_transport(struct reader *r, const struct place *place, const struct dim_spec *dim,
                          bool listed)
{
    struct place transport = place_key(place, "transport");
    if (transport.json == NULL && !listed && dim->n_stacks == 1)
        return 0;
    struct keys words = stack_words(dim);
    return read_word(r, &transport, "transport of the scenario", words.names);
}

static void read_list_of(struct reader *r, const struct place *place, struct dim_spec *dim)
{
    bool taken[SPEC_MAX_STACKS] = {false}, global = place_is_global(place);
    for (size_t i = 0; i < json_array_size(place->json); i++) {
        struct place at = place_item(place, i), transport = place_key(&at, "transport");
        int t = read_object(r, &at) ? read_transport(r, &at, dim, true) : -1;
        if (t < 0)
            continue;
        if (taken[t])
            place_error(r->err, &transport, "transport %s has two policies",
                        dim->stacks[t].transport.name);
        taken[t] = true;
        read_one(r, &at, &dim->stacks[t], !global);
    }
    r->scenario->policies_listed |= global;
}

static void cc_read(struct reader *r, const struct place *place, void *value)
{
    struct dim_spec *dim = value;
    bool global = place_is_global(place);
    // Transports without an entry get the default policy of their kind.
    for (uint32_t t = 0; global && t < dim->n_stacks; t++)
        stack_default_policy(r, &dim->stacks[t]);
    if (json_is_array(place->json)) {
        read_list_of(r, place, dim);
        return;
    }
    int t = read_object_of(r, place, "kind") ? read_transport(r, place, dim, false) : -1;
    if (t >= 0)
        read_one(r, place, &dim->stacks[t], !global);
}

static json_t *policy_json(const struct stack_spec *stack, bool listed)
{
    json_t *json = json_object();
    if (listed)
        json_object_set_new(json, "transport", json_string(stack->transport.name));
    json_object_set_new(json, "kind", json_string(stack->cc->name));
    json_object_set_new(json, "preset", json_string(stack->cc_preset->name));
    write_params(json, stack->cc->params, stack->cc->n_params, stack->cc_params);
    return json;
}

static json_t *cc_write(const struct scenario *s, const void *value)
{
    const struct dim_spec *dim = value;
    if (!s->transports_listed && !s->policies_listed)
        return policy_json(&dim->stacks[0], false);
    json_t *list = json_array();
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        json_array_append_new(list, policy_json(&dim->stacks[t], true));
    return list;
}

// ---- another policy ----

// The transport that can run the policy, or -1 with an error if there is not exactly one.
static int only_transport(const struct dim_spec *dim, const struct cc_ops *ops, struct err *err)
{
    int found = -1;
    for (uint32_t t = 0; t < dim->n_stacks; t++) {
        if (!transport_runs(dim->stacks[t].transport.ops, ops))
            continue;
        if (found >= 0) {
            err_add(err, "--cc", "%s runs on %s and on %s: set `cc` of the one that is meant",
                    ops->name, dim->stacks[found].transport.name, dim->stacks[t].transport.name);
            return -1;
        }
        found = (int)t;
    }
    if (found < 0)
        err_add(err, "--cc", "%s runs on no transport of the scenario", ops->name);
    return found;
}

bool scenario_lists(const struct scenario *scenario)
{
    return scenario->transports_listed || scenario->policies_listed;
}

char *scenario_with_policy(const struct scenario *scenario, const struct cc_ops *ops,
                           const char *preset, struct err *err)
{
    const struct dim_spec *dim = &scenario->base;
    int t = only_transport(dim, ops, err);
    if (t < 0)
        return NULL;
    json_t *list = cc_write(scenario, dim);
    const struct stack_spec *stack = &dim->stacks[t];
    // A policy that the scenario has already keeps its settings there.
    if (preset != NULL || stack->cc != ops) {
        json_t *entry =
            json_pack("{s:s,s:s}", "transport", stack->transport.name, "kind", ops->name);
        if (preset != NULL)
            json_object_set_new(entry, "preset", json_string(preset));
        json_array_set_new(list, (size_t)t, entry);
    }
    char *text = json_text(list);
    json_decref(list);
    return text;
}

// ---- the schema ----

static json_t *cc_schema(const struct cc_catalogue *catalogue)
{
    json_t *policies = json_array();
    for (size_t i = 0; i < catalogue->n; i++) {
        const struct cc_ops *ops = catalogue->policies[i];
        struct keys presets = {0};
        for (size_t p = 0; p < ops->n_presets; p++)
            keys_add(&presets, ops->presets[p].name);
        json_t *policy = schema_object();
        schema_key(policy, "kind", schema_constant(ops->name), true);
        schema_key(policy, "transport", json_pack("{s:s}", "type", "string"), false);
        schema_key(policy, "preset", schema_words(presets.names), false);
        schema_params(policy, ops->params, ops->n_params);
        json_object_set_new(policy, "description", json_string(ops->doc));
        json_array_append_new(policies, policy);
    }
    return json_pack("{s:o}", "oneOf", policies);
}

static bool cc_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    if (i >= policies->n)
        return false;
    const struct cc_ops *ops = policies->policies[i];
    *out = (struct object_entry){
        .name = ops->name, .doc = ops->doc, .source = ops->paper, .policy = ops, .kind = ops};
    return true;
}

static void cc_keys(const struct object_entry *entry, const char *prefix, const struct key_sink *to)
{
    static const struct own_key transport = {
        "transport", "word", "", "where there are several: the transport whose flows it controls"};
    const struct cc_ops *ops = entry->kind;
    to->own(to->ctx, &transport);
    to->table(to->ctx, prefix, ops->params, ops->n_params);
}

// The object's struct is that of a dimension, which contains policies, presets and parameters.
const struct object cc_object = {
    .key = "cc",
    .doc = "congestion control policies",
    .shared = true,
    .listable = true,
    .offset = offsetof(struct scenario, base),
    .defaults = cc_defaults,
    .read = cc_read,
    .write = cc_write,
    .schema = cc_schema,
    .entry = cc_entry,
    .keys = cc_keys,
};
