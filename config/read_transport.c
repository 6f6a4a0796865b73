// SPDX-License-Identifier: MIT
// The `transport` object.
#include <string.h>

#include "config/read.h"
#include "transport/transport.h"

static void read_overhead(struct reader *r, const struct place *place,
                          struct transport_spec *transport)
{
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

// NULL with an error where there is none of this name.
static const struct transport_ops *read_kind(struct reader *r, const struct place *place,
                                             const struct transport_ops *inherited)
{
    const char *words[64] = {0};
    for (size_t i = 0; transport_registry[i] != NULL && i + 1 < sizeof words / sizeof *words; i++)
        words[i] = transport_registry[i]->name;
    if (place->json == NULL)
        return inherited;
    int word = read_word(r, place, "transport kind", words);
    return word < 0 ? NULL : transport_registry[word];
}

void read_transport(struct reader *r, const struct place *place, struct transport_spec *transport)
{
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
    read_params(r, place, &keys, transport_params, n_transport_params, transport);
    read_overhead(r, &overhead, transport);
    keys_add(&keys, "wire_overhead");
    keys_check(r, place, &keys);
}
