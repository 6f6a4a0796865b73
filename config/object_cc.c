// SPDX-License-Identifier: MIT
// The `cc` object: a policy, a preset, and values that replace the preset's.
#include <string.h>

#include "cc/registry.h"
#include "config/objects.h"
#include "config/read.h"
#include "config/schema_parts.h"
#include "engine/assert.h"

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

// Set the policy of `dim`, with the defaults of a preset.
static void policy_set(struct dim_spec *dim, const struct cc_ops *ops,
                       const struct cc_preset *preset)
{
    if (ops->params_bytes > CC_PARAMS_BYTES_MAX)
        sim_assert_fail("the parameters of a policy fit", __FILE__, __LINE__, 0, -1);
    dim->cc = ops;
    dim->cc_preset = preset;
    memset(dim->cc_params, 0, sizeof dim->cc_params);
    cc_params_init(ops, preset->name, dim->cc_params);
}

static void cc_defaults(void *value)
{
    const struct cc_ops *none = cc_find("none");
    policy_set(value, none, &none->presets[0]);
}

// If a dimension gives neither `kind` nor `preset`, its values modify the global policy.
static void cc_read(struct reader *r, const struct place *place, void *value)
{
    struct dim_spec *dim = value;
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place kind = place_key(place, "kind"), preset_at = place_key(place, "preset");
    bool global = place->parent->parent == NULL;
    const struct cc_ops *ops = kind.json != NULL || global ? read_policy(r, &kind) : dim->cc;
    if (ops == NULL)
        return;
    if (kind.json != NULL || preset_at.json != NULL) {
        const struct cc_preset *preset = read_preset(r, &preset_at, ops);
        if (preset == NULL)
            return;
        policy_set(dim, ops, preset);
    }
    size_t errors = r->err->n_errors;
    keys_add(&keys, "kind");
    keys_add(&keys, "preset");
    read_params(r, place, &keys, ops->params, ops->n_params, dim->cc_params);
    keys_check(r, place, &keys);
    const char *why =
        ops->check != NULL && r->err->n_errors == errors ? ops->check(dim->cc_params) : NULL;
    if (why != NULL)
        place_error(r->err, place, "%s", why);
}

static json_t *cc_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct dim_spec *dim = value;
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(dim->cc->name));
    json_object_set_new(json, "preset", json_string(dim->cc_preset->name));
    write_params(json, dim->cc->params, dim->cc->n_params, dim->cc_params);
    return json;
}

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
    const struct cc_ops *ops = entry->kind;
    to->table(to->ctx, prefix, ops->params, ops->n_params);
}

// The object's struct is that of a dimension, which contains policy, preset and parameters.
const struct object cc_object = {
    .key = "cc",
    .doc = "congestion control policies",
    .shared = true,
    .offset = offsetof(struct scenario, base),
    .defaults = cc_defaults,
    .read = cc_read,
    .write = cc_write,
    .schema = cc_schema,
    .entry = cc_entry,
    .keys = cc_keys,
};
