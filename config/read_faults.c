// SPDX-License-Identifier: MIT
// `faults`: links that lose packets, fail and come back. `routes`: those over the shortest.
#include "config/read.h"
#include "engine/memory.h"

static void check_times(struct reader *r, const struct place *item, const struct fault_spec *fault)
{
    char down[UNIT_TEXT], up[UNIT_TEXT];
    struct place at = place_key(item, "up");
    if (fault->up_ps == PARAM_AUTO_TIME)
        return;
    if (fault->down_ps == PARAM_AUTO_TIME)
        place_error(r->err, &at, "the link comes back, but has no time at which it goes down");
    else if (fault->up_ps <= fault->down_ps)
        place_error(r->err, &at, "%s is not after down %s", format_time(fault->up_ps, up),
                    format_time(fault->down_ps, down));
}

void read_faults(struct reader *r, const struct place *place)
{
    struct spec *spec = &r->scenario->spec;
    if (!read_list(r, place))
        return;
    spec->n_faults = json_array_size(place->json);
    spec->faults = memory_zeroed(spec->n_faults, sizeof *spec->faults);
    for (size_t i = 0; i < spec->n_faults; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i);
        if (!read_object(r, &item))
            continue;
        params_default(fault_params, n_fault_params, &spec->faults[i]);
        read_params(r, &item, &keys, fault_params, n_fault_params, &spec->faults[i]);
        keys_check(r, &item, &keys);
        check_times(r, &item, &spec->faults[i]);
    }
}

void read_routes(struct reader *r, const struct place *place)
{
    struct spec *spec = &r->scenario->spec;
    if (!read_list(r, place))
        return;
    spec->n_routes = json_array_size(place->json);
    spec->routes = memory_zeroed(spec->n_routes, sizeof *spec->routes);
    for (size_t i = 0; i < spec->n_routes; i++) {
        struct keys keys = {0};
        struct place item = place_item(place, i);
        if (!read_object(r, &item))
            continue;
        read_params(r, &item, &keys, route_params, n_route_params, &spec->routes[i]);
        keys_check(r, &item, &keys);
    }
}
