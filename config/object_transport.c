// SPDX-License-Identifier: MIT
// The `transport` object.
#include <string.h>

#include "config/objects.h"
#include "config/read.h"
#include "config/schema_parts.h"

// ---- wire_overhead: a word, or bytes ----

static void overhead_defaults(void *value)
{
    struct transport_spec *transport = value;
    transport->overhead = OVERHEAD_ETHERNET;
}

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

// ---- the object ----

static const struct object overhead_object = {
    .key = "wire_overhead",
    .doc = "ethernet, none, or {data, ack}: bytes a packet costs beyond its payload",
    .type = "word or object",
    .def = "ethernet",
    .params = overhead_params, // into struct transport_spec, as the table of the transport
    .n_params = &n_overhead_params,
    .defaults = overhead_defaults,
    .read = overhead_read,
    .write = overhead_write,
    .schema = overhead_schema,
};

static const struct object *const transport_parts[] = {&overhead_object, NULL};

static bool transport_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    struct param kind = param_find(transport_params, n_transport_params, "kind");
    for (size_t k = 0; k <= i; k++)
        if (kind.choices[k] == NULL)
            return false;
    *out = (struct object_entry){.name = kind.choices[i], .doc = kind.help, .source = kind.source};
    return true;
}

const struct object transport_object = {
    .key = "transport",
    .doc = "transports",
    .shared = true,
    .params = transport_params,
    .n_params = &n_transport_params,
    .offset = offsetof(struct scenario, base.transport),
    .parts = transport_parts,
    .entry = transport_entry,
};
