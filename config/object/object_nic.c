// SPDX-License-Identifier: MIT
// The `nic` object: the name of a preset, or an object with values that replace the preset's.
#include <string.h>

#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

static struct keys preset_words(void)
{
    struct keys words = {0};
    for (const struct nic_preset *p = nic_presets; p->name != NULL; p++)
        keys_add(&words, p->name);
    return words;
}

static void nic_defaults(void *value) { nic_spec_init(value, &nic_presets[0]); }

static void read_preset(struct reader *r, const struct place *place, struct nic_spec *nic)
{
    struct keys words = preset_words();
    int word = read_word(r, place, "preset", words.names);
    if (word >= 0)
        nic_spec_init(nic, &nic_presets[word]);
}

// A slower bus than any link is a mistake; its times would not fit.
static void nic_finish(struct reader *r, const struct place *place, void *value)
{
    const struct nic_spec *nic = value;
    struct place rate = place_key(place, "bus_rate");
    if (place->json != NULL && nic->bus_rate_bps > 0 && nic->bus_rate_bps < 1000000)
        place_error(r->err, &rate, "must be 0bps (no limit) or at least 1Mbps");
}

static void nic_read(struct reader *r, const struct place *place, void *value)
{
    struct keys keys = {0};
    if (place->json == NULL)
        return;
    if (json_is_string(place->json)) {
        read_preset(r, place, value);
        return;
    }
    if (!json_is_object(place->json)) {
        place_error(r->err, place, "must be the name of a preset or an object, not %s",
                    json_noun(place->json));
        return;
    }
    struct place preset = place_key(place, "preset");
    if (preset.json != NULL)
        read_preset(r, &preset, value);
    keys_add(&keys, "preset");
    read_params(r, place, &keys, nic_params, n_nic_params, value);
    keys_check(r, place, &keys);
}

static json_t *nic_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct nic_spec *nic = value;
    json_t *json = json_object();
    json_object_set_new(json, "preset", json_string(nic->preset->name));
    write_params(json, nic_params, n_nic_params, nic);
    return json;
}

static json_t *nic_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    struct keys words = preset_words();
    json_t *nic = schema_object();
    schema_key(nic, "preset", schema_words(words.names), false);
    schema_params(nic, nic_params, n_nic_params);
    return json_pack("{s:[o,o]}", "anyOf", schema_words(words.names), nic);
}

static bool nic_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    const struct nic_preset *preset = &nic_presets[i];
    if (preset->name == NULL)
        return false;
    *out = (struct object_entry){
        .name = preset->name, .doc = preset->doc, .source = preset->source, .kind = preset};
    return true;
}

// Lists the keys of this kind of NIC; the default of each is its value in the preset.
static void nic_keys(const struct object_entry *entry, const char *prefix,
                     const struct key_sink *to)
{
    const struct nic_preset *preset = entry->kind;
    for (size_t i = 0; i < n_nic_params; i++) {
        struct param row = nic_params[i];
        for (const struct nic_value *v = preset->values; v->key != NULL; v++)
            if (strcmp(v->key, row.name) == 0)
                row.def = v->value;
        to->table(to->ctx, prefix, &row, 1);
    }
}

const struct object nic_object = {
    .key = "nic",
    .doc = "network adapters",
    .shared = true,
    .offset = offsetof(struct scenario, base.nic),
    .defaults = nic_defaults,
    .read = nic_read,
    .finish = nic_finish,
    .write = nic_write,
    .schema = nic_schema,
    .entry = nic_entry,
    .keys = nic_keys,
};
