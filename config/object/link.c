// SPDX-License-Identifier: MIT
// Links: reading, resolved form, schema.
#include "config/object/link.h"

#include <stdio.h>

#include "engine/text/schema_parts.h"

#define TABLE_END(t) const size_t n_##t = sizeof t / sizeof *t

// A receiver needs the whole codeword before it can correct it, and some 37 ns to encode and
// correct (the figure presented to IEEE P802.3dj). RS(544,514) has 5440 bits: at 400 Gb/s two
// codewords are interleaved and at 800 Gb/s four, 25.6 ns; at 100 Gb/s one takes 51.2 ns, as the
// 5280 bits of RS(528,514) do.
static const char *const codes[] = {"rs544", "63ns", "rs544_100g", "88ns", "rs528", "88ns", NULL};

const struct param link_params[] = {
    PARAM_ROW(
        "rate", RATE, offsetof(struct link_spec, rate_bps), .def = "100Gbps", .min = "1Mbps",
        .max = "100Tbps",
        .help =
            "line rate of each direction; beside `reverse` of the one away from the rank or the "
            "lower tier, to the next rank, or from a to b"),
    PARAM_ROW("delay", TIME, offsetof(struct link_spec, delay_ps), .def = "1us", .min = "0ns",
              .max = "1s",
              .help = "propagation delay of each direction; beside `reverse` of that direction"),
    PARAM_ROW(
        "fec", TIME, offsetof(struct link_spec, fec_ps), .def = "0ns", .min = "0ns", .max = "1ms",
        .choices = codes,
        .help = "forward error correction, added to the delay of either direction: a time, or that "
                "of a code (rs544 of 400 and 800 Gb/s 63 ns, rs544_100g and rs528 88 ns)",
        .source = "IEEE 802.3, clauses 91 and 119; docs/switches.md"),
};
TABLE_END(link_params);

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
