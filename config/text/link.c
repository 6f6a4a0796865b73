// SPDX-License-Identifier: MIT
// Links: reading, resolved form, schema.
#include "config/text/link.h"

#include <stdio.h>

#include "config/text/schema_parts.h"

// The direction from the second node to the first; "auto" = as the other direction.
static const struct param reverse_params[] = {
    PARAM_ROW("rate", RATE, offsetof(struct link_spec, reverse_rate_bps), .def = "auto",
              .min = "1Mbps", .max = "100Tbps", .can_auto = true,
              .help =
                  "line rate of the other direction: to the rank or the lower tier, to the rank "
                  "before, or from b to a; auto = as `rate`"),
    PARAM_ROW("delay", TIME, offsetof(struct link_spec, reverse_delay_ps), .def = "auto",
              .min = "0ns", .max = "1s", .can_auto = true,
              .help = "propagation delay of the other direction; auto = as `delay`"),
};
enum { N_REVERSE_PARAMS = sizeof reverse_params / sizeof *reverse_params };

void link_defaults(struct link_spec *link)
{
    *link = (struct link_spec){0};
    params_default(link_params, n_link_params, link);
}

static void reverse_read(struct reader *r, const struct place *place, struct link_spec *link)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    params_default(reverse_params, N_REVERSE_PARAMS, link);
    read_params(r, place, &keys, reverse_params, N_REVERSE_PARAMS, link);
    keys_check(r, place, &keys);
    if (link->reverse_rate_bps == PARAM_AUTO)
        link->reverse_rate_bps = link->rate_bps;
    if (link->reverse_delay_ps == PARAM_AUTO_TIME)
        link->reverse_delay_ps = link->delay_ps;
}

void link_read(struct reader *r, const struct place *place, struct keys *keys,
               struct link_spec *link)
{
    struct place reverse = place_key(place, "reverse");
    if (place_key(place, "rate").json != NULL || place_key(place, "delay").json != NULL)
        link->reverse_rate_bps = 0;
    read_params(r, place, keys, link_params, n_link_params, link);
    keys_add(keys, reverse.key);
    reverse_read(r, &reverse, link);
}

json_t *link_json(const struct link_spec *link)
{
    json_t *json = params_json(link_params, n_link_params, link);
    if (link->reverse_rate_bps > 0)
        json_object_set_new(json, "reverse", params_json(reverse_params, N_REVERSE_PARAMS, link));
    return json;
}

json_t *link_schema(void)
{
    json_t *json = schema_table(link_params, n_link_params);
    schema_key(json, "reverse", schema_table(reverse_params, N_REVERSE_PARAMS), false);
    return json;
}

void link_keys(const char *prefix, const struct key_sink *to)
{
    char inner[64];
    snprintf(inner, sizeof inner, "%s.reverse", prefix);
    to->table(to->ctx, prefix, link_params, n_link_params);
    to->table(to->ctx, inner, reverse_params, N_REVERSE_PARAMS);
}
