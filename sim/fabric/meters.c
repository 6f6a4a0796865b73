// SPDX-License-Identifier: MIT
// The meters of a scenario (switch/meter.h), and the ports that have them.
#include <stdio.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"

#define ALL_CLASSES ((1u << NET_DATA_CLASSES) - 1)

struct meter_place {
    struct switches *switches;
    const struct meter_spec *spec;
    size_t n, cap; // of switches->meters
    bool at_rank;  // a port leads from a rank to another one, where no switch meters
};

// The bucket that an arriving or a leaving packet passes after those that the port has already.
static void append(struct meter_place *place, uint32_t *first)
{
    struct switches *sw = place->switches;
    const struct meter_spec *spec = place->spec;
    uint32_t *last = first;
    if (place->n == place->cap)
        sw->meters = memory_grow(sw->meters, &place->cap, sizeof *sw->meters);
    sw->meters[place->n++] = (struct meter){
        .rate_bps = spec->rate_bps,
        .burst_ps = serialization_ps(spec->burst_bytes, spec->rate_bps),
        .classes = (uint8_t)(spec->cls == PARAM_AUTO ? ALL_CLASSES : 1u << spec->cls),
        .excess = (uint8_t)spec->excess,
    };
    while (*last > 0)
        last = &sw->meters[*last - 1].next;
    *last = (uint32_t)place->n;
}

// A port of a switch meters what leaves by it; a port of a rank names the switch behind it, which
// meters what arrives.
static void add_port(void *ctx, uint32_t port)
{
    struct meter_place *place = ctx;
    struct switches *sw = place->switches;
    uint32_t peer = sw->net->cold[port].peer;
    if (switch_of_port(sw, port))
        append(place, &sw->meter_at[port].out);
    else if (switch_of_port(sw, peer))
        append(place, &sw->meter_at[peer].in);
    else
        place->at_rank = true;
}

void fabric_meters_init(struct fabric *fabric, struct err *err)
{
    const struct spec *spec = fabric->spec;
    struct meter_place place = {.switches = &fabric->switches};
    char key[40];
    if (spec->n_meters == 0)
        return;
    fabric->switches.meter_at =
        memory_zeroed(fabric->net.n_ports, sizeof *fabric->switches.meter_at);
    for (size_t i = 0; i < spec->n_meters; i++) {
        place.spec = &spec->meters[i];
        place.at_rank = false;
        snprintf(key, sizeof key, "meters[%zu].at", i);
        if (port_patterns_match(&fabric->graph, place.spec->at, add_port, &place) == 0)
            port_patterns_unknown(&fabric->graph, place.spec->at, key, err);
        else if (place.at_rank)
            err_add(err, key, "names a link between two ranks; switches meter");
    }
    switches_extend(&fabric->switches);
}
