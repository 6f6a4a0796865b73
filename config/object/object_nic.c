// SPDX-License-Identifier: MIT
// The `nic` object: the name of a preset, or an object with values that replace the preset's, or a
// list of these.
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
static void bus_check(struct reader *r, const struct place *place, const struct nic_spec *nic)
{
    struct place rate = place_key(place, "bus_rate");
    if (place->json != NULL && nic->bus_rate_bps > 0 && nic->bus_rate_bps < 1000000)
        place_error(r->err, &rate, "must be 0bps (no limit) or at least 1Mbps");
}

static void nic_finish(struct reader *r, const struct place *place, void *value)
{
    const struct nic_kinds *nics = value;
    for (uint32_t k = 0; k <= nics->more; k++) {
        struct place item = json_is_array(place->json) ? place_item(place, k) : *place;
        bus_check(r, &item, &nics->list[k]);
    }
}

static void kind_read(struct reader *r, const struct place *place, struct nic_spec *nic)
{
    struct keys keys = {0};
    if (json_is_string(place->json)) {
        read_preset(r, place, nic);
        return;
    }
    if (!json_is_object(place->json)) {
        place_error(r->err, place, "must be the name of a preset or an object, not %s",
                    json_noun(place->json));
        return;
    }
    struct place preset = place_key(place, "preset");
    if (preset.json != NULL)
        read_preset(r, &preset, nic);
    keys_add(&keys, "preset");
    read_params(r, place, &keys, nic_params, n_nic_params, nic);
    keys_check(r, place, &keys);
}

// A list has the kinds that are in the network: a rank is in one at most, and the kind without
// `at`, if there is one, is that of all others.
static void list_read(struct reader *r, const struct place *place, struct nic_kinds *nics)
{
    size_t n = json_array_size(place->json), everywhere = 0;
    if (n < 1 || n > NIC_KINDS_MOST) {
        place_error(r->err, place, "must list 1 to %d kinds of NIC, not %zu", NIC_KINDS_MOST, n);
        return;
    }
    nics->more = (uint32_t)n - 1;
    for (size_t k = 0; k < n; k++) {
        struct place item = place_item(place, k);
        nic_defaults(&nics->list[k]);
        kind_read(r, &item, &nics->list[k]);
        if (nics->list[k].at[0] == '\0' && everywhere++ > 0)
            place_error(r->err, &item, "needs `at`: another kind is that of all other ranks");
    }
}

static void nic_read(struct reader *r, const struct place *place, void *value)
{
    struct nic_kinds *nics = value;
    if (place->json == NULL)
        return;
    if (json_is_array(place->json)) {
        list_read(r, place, nics);
        return;
    }
    nics->more = 0;
    kind_read(r, place, &nics->list[0]);
}

static json_t *kind_write(const struct nic_spec *nic)
{
    json_t *json = json_object();
    json_object_set_new(json, "preset", json_string(nic->preset->name));
    write_params(json, nic_params, n_nic_params, nic);
    return json;
}

static json_t *nic_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct nic_kinds *nics = value;
    if (nics->more == 0)
        return kind_write(&nics->list[0]);
    json_t *list = json_array();
    for (uint32_t k = 0; k <= nics->more; k++)
        json_array_append_new(list, kind_write(&nics->list[k]));
    return list;
}

static json_t *kind_schema(void)
{
    struct keys words = preset_words();
    json_t *nic = schema_object();
    schema_key(nic, "preset", schema_words(words.names), false);
    schema_params(nic, nic_params, n_nic_params);
    return json_pack("{s:[o,o]}", "anyOf", schema_words(words.names), nic);
}

static json_t *nic_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    json_t *kind = kind_schema(), *list = json_object_get(kind, "anyOf");
    json_array_append_new(list, schema_list(kind_schema()));
    return kind;
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
