// SPDX-License-Identifier: MIT
// The `transport` object.
#include <string.h>

#include "config/read.h"

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

void read_transport(struct reader *r, const struct place *place, struct transport_spec *transport)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place overhead = place_key(place, "wire_overhead");
    read_params(r, place, &keys, transport_params, n_transport_params, transport);
    read_overhead(r, &overhead, transport);
    keys_add(&keys, "wire_overhead");
    keys_check(r, place, &keys);
}
