// SPDX-License-Identifier: MIT
// Measures the quality of links in intervals, in dimensions whose switches choose paths by it.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/fabric/fabric_internal.h"
#include "switch/quality.h"

struct quality_timer {
    struct sim_timer timer;
    struct fabric *fabric;
    uint32_t dim;
};

static bool measures(const struct routing_spec *routing)
{
    return routing_by_quality(routing) && routing->state_interval_ps > 0;
}

static void on_interval(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct quality_timer *t = timer->data;
    struct fabric *fabric = t->fabric;
    struct link_quality *q = fabric->switches.qualities[t->dim];
    fabric->housekeeping--;
    quality_measure(q, &fabric->switches, t->dim, e->now_ps);
    if (fabric_only_housekeeping(fabric))
        return;
    fabric->housekeeping++;
    sim_timer_start(e, timer, e->now_ps + q->interval_ps);
}

const struct link_quality *fabric_link_quality(const struct fabric *fabric, uint32_t dim)
{
    return fabric->switches.qualities ? fabric->switches.qualities[dim] : NULL;
}

static ps_t longest_link_ps(const struct fabric *fabric, uint32_t dim)
{
    ps_t longest = 0;
    for (uint32_t p = 0; p < fabric->graph.n_ports; p++)
        if (fabric->graph.ports[p].dim == dim && fabric->graph.ports[p].delay_ps > longest)
            longest = fabric->graph.ports[p].delay_ps;
    return longest;
}

void fabric_link_quality_init(struct fabric *fabric)
{
    const struct spec *spec = fabric->spec;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct routing_spec *routing = &spec->dims[d].sw.routing;
        if (!measures(routing))
            continue;
        if (!fabric->switches.qualities) {
            fabric->switches.qualities = memory_zeroed(spec->n_dims, sizeof(struct link_quality *));
            fabric->switches.n_qualities = spec->n_dims;
            fabric->quality_timers = memory_zeroed(spec->n_dims, sizeof *fabric->quality_timers);
        }
        fabric->switches.qualities[d] =
            quality_new(fabric->graph.n_ports, routing->state_interval_ps,
                        (uint32_t)routing->quality_bands, longest_link_ps(fabric, d));
        struct quality_timer *t = &fabric->quality_timers[d];
        *t = (struct quality_timer){.fabric = fabric, .dim = d};
        sim_timer_init(&fabric->engine, &t->timer, fabric->graph.n_nodes, on_interval, t);
        sim_timer_start(&fabric->engine, &t->timer, routing->state_interval_ps);
        fabric->housekeeping++;
    }
}
