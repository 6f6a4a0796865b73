// SPDX-License-Identifier: MIT
#include "config/object/infragraph_link.h"

#include <string.h>

// The one value of {"choice": "us", "us": 5} in units of `scales`. Returns a negative number where
// there is none; `which` is its index.
static double read_choice(struct reader *r, const struct place *place, const char *const *units,
                          size_t *which)
{
    struct keys keys = {.names = {"choice"}, .n = 1};
    double value = -1;
    if (place->json == NULL || !read_object(r, place))
        return -1;
    for (size_t i = 0; units[i] != NULL; i++) {
        struct place at = place_key(place, units[i]);
        keys_add(&keys, units[i]);
        if (at.json == NULL)
            continue;
        double given = json_number_value(at.json);
        if (!json_is_number(at.json) || !(given >= 0 && given <= 1e9))
            place_error(r->err, &at, "must be a number from 0 to 1e9");
        else if (value >= 0)
            place_error(r->err, &at, "is a second value of one link");
        value = given;
        *which = i;
    }
    keys_check(r, place, &keys);
    return r->err->n_errors > 0 ? -1 : value;
}

static void read_link(struct reader *r, const struct place *place, struct component_link *link,
                      bool *transfers)
{
    static const char *const rates[] = {"gigabits_per_second", "gigabytes_per_second",
                                        "gigatransfers_per_second", NULL};
    static const char *const times[] = {"ms", "us", "ns", NULL};
    static const double scale[] = {1e9, 1e6, 1e3}; // ps
    struct keys keys = {.names = {"name", "description", "physical"}, .n = 3},
                physical_keys = {.names = {"bandwidth", "latency"}, .n = 2};
    struct place physical = place_key(place, "physical");
    size_t unit = 0;
    keys_check(r, place, &keys);
    if (physical.json == NULL || !read_object(r, &physical))
        return;
    keys_check(r, &physical, &physical_keys);
    struct place rate = place_key(&physical, "bandwidth"), time = place_key(&physical, "latency");
    double value = read_choice(r, &rate, rates, &unit);
    if (value >= 0 && unit == 2)
        *transfers = true;
    else if (value >= 0 && !(value >= 1e-3 && value <= 1e5))
        place_error(r->err, &rate, "is not from 0.001 to 100000 Gbit/s or GB/s");
    else if (value >= 0)
        link->rate_bps = (uint64_t)(value * (unit == 1 ? 8e9 : 1e9) + 0.5);
    value = read_choice(r, &time, times, &unit);
    if (value >= 0 && value * scale[unit] > 1e12)
        place_error(r->err, &time, "is longer than 1 s");
    else if (value >= 0)
        link->delay_ps = (ps_t)(value * scale[unit] + 0.5);
}

void infragraph_link_find(struct reader *r, const struct place *owner, const char *name,
                          const struct place *edge, struct component_link *link, bool *transfers)
{
    struct place links = place_key(owner, "links");
    *link = (struct component_link){{0, 0}, 0, -1};
    for (size_t i = 0; json_is_array(links.json) && i < json_array_size(links.json); i++) {
        struct place item = place_item(&links, i), key = place_key(&item, "name");
        if (json_is_string(key.json) && strcmp(json_string_value(key.json), name) == 0) {
            read_link(r, &item, link, transfers);
            return;
        }
    }
    place_error(r->err, edge, "has the link \"%.60s\", which does not exist here", name);
}
