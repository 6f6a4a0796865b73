// SPDX-License-Identifier: MIT
// Noise of links and clocks.
#include "engine/base/rng.h"
#include "sim/fabric/fabric_internal.h"

// Cables and optics differ: each link is longer by a random delay, the same in both directions.
void fabric_add_link_noise(struct fabric *fabric)
{
    struct graph *g = &fabric->graph;
    ps_t most_ps = fabric->spec->noise.link_delay_ps;
    if (most_ps == 0 || !spec_has_noise(fabric->spec))
        return;
    for (uint32_t p = 0; p < g->n_ports; p++) {
        // Both ports of a link draw from the lower one's number, so that both directions get one
        // delay.
        uint32_t link = p < g->ports[p].peer ? p : g->ports[p].peer;
        struct rng rng = rng_init(fabric->spec->seed, RNG_NOISE_LINK, link);
        g->ports[p].delay_ps += (ps_t)rng_below(&rng, (uint64_t)most_ps + 1);
    }
}

// Returns the rate of a port; the clock of a NIC deviates by up to clock_ppm.
uint64_t fabric_port_rate(const struct fabric *fabric, uint32_t index)
{
    const struct graph_port *port = &fabric->graph.ports[index];
    double ppm = fabric->spec->dims[port->dim].transport.clock_ppm;
    // The dimension's own clock_ppm goes before the one for all dimensions.
    if (ppm <= 0 && fabric->spec->noise.clock_ppm > 0 && spec_has_noise(fabric->spec))
        ppm = fabric->spec->noise.clock_ppm;
    // Only NICs have deviating clocks; switches keep the nominal rate.
    if (port->node >= fabric->graph.n_ranks || ppm <= 0)
        return port->rate_bps;
    struct rng rng = rng_init(fabric->spec->seed, RNG_CLOCK, port->node);
    double off = ppm * 1e-6 * (2 * rng_unit(&rng) - 1);
    return (uint64_t)((double)port->rate_bps * (1 + off));
}
