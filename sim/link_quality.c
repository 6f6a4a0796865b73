// SPDX-License-Identifier: MIT
// Measures the quality of links in intervals, in dimensions whose switches choose paths by it.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"
#include "switch/quality.h"

struct quality_timer {
    struct sim_timer timer;
    struct sim *sim;
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
    struct sim *sim = t->sim;
    struct link_quality *q = sim->switches.qualities[t->dim];
    sim->housekeeping--;
    quality_measure(q, &sim->switches, t->dim, e->now_ps);
    if (sim_only_housekeeping(sim))
        return;
    sim->housekeeping++;
    sim_timer_start(e, timer, e->now_ps + q->interval_ps);
}

const struct link_quality *sim_link_quality(const struct sim *sim, uint32_t dim)
{
    return sim->switches.qualities ? sim->switches.qualities[dim] : NULL;
}

static ps_t longest_link_ps(const struct sim *sim, uint32_t dim)
{
    ps_t longest = 0;
    for (uint32_t p = 0; p < sim->graph.n_ports; p++)
        if (sim->graph.ports[p].dim == dim && sim->graph.ports[p].delay_ps > longest)
            longest = sim->graph.ports[p].delay_ps;
    return longest;
}

void sim_link_quality_init(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct routing_spec *routing = &spec->dims[d].sw.routing;
        if (!measures(routing))
            continue;
        if (!sim->switches.qualities) {
            sim->switches.qualities = memory_zeroed(spec->n_dims, sizeof(struct link_quality *));
            sim->switches.n_qualities = spec->n_dims;
            sim->quality_timers = memory_zeroed(spec->n_dims, sizeof *sim->quality_timers);
        }
        sim->switches.qualities[d] =
            quality_new(sim->graph.n_ports, routing->state_interval_ps,
                        (uint32_t)routing->quality_bands, longest_link_ps(sim, d));
        struct quality_timer *t = &sim->quality_timers[d];
        *t = (struct quality_timer){.sim = sim, .dim = d};
        sim_timer_init(&sim->engine, &t->timer, sim->graph.n_nodes, on_interval, t);
        sim_timer_start(&sim->engine, &t->timer, routing->state_interval_ps);
        sim->housekeeping++;
    }
}
