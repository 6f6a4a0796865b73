// SPDX-License-Identifier: MIT
// Builds the graph of a network: switches, links, aggregators, routes.
#include <stdio.h>

#include "sim/fabric/fabric_internal.h"
#include "sim/fabric/port_patterns.h"

// Add switches and links to an empty graph, with room for aggregators.
static void build_dims(struct fabric *fabric, uint32_t aggregators)
{
    const struct spec *spec = fabric->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&fabric->graph, spec->n_dims, sizes);
    graph_reserve_aggregators(&fabric->graph, aggregators);
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        fabric->graph.dim_fabric[d] = dim->kind->fabric;
        fabric->graph.dim_share[d] = dim->ranks_per_port > 1 ? dim->ranks_per_port : 1;
        if (!fabric_is_analytical(fabric))
            dim->kind->build(&fabric->graph, d, dim->params, dim->links);
    }
}

struct rate_change {
    struct graph *graph;
    const struct rate_spec *spec;
};

static void set_rate(void *ctx, uint32_t port)
{
    const struct rate_change *change = ctx;
    struct graph_port *ports = change->graph->ports;
    ports[port].rate_bps = change->spec->rate_bps;
    if (!change->spec->one_way)
        ports[ports[port].peer].rate_bps = change->spec->rate_bps;
}

// Give the links that the scenario lists their rates; the last one that names a link counts.
static void change_rates(struct fabric *fabric, struct err *err)
{
    char place[32];
    for (size_t i = 0; i < fabric->spec->n_links; i++) {
        struct rate_change change = {&fabric->graph, &fabric->spec->links[i]};
        snprintf(place, sizeof place, "links[%zu].at", i);
        if (port_patterns_match(&fabric->graph, change.spec->at, set_rate, &change) == 0)
            port_patterns_unknown(&fabric->graph, change.spec->at, place, err);
    }
}

// Aggregators are numbered before switches, so the graph is built again once their number is known.
void fabric_build_graph(struct fabric *fabric, struct err *err)
{
    build_dims(fabric, 0);
    uint32_t aggregators = fabric_count_aggregators(fabric);
    if (aggregators > 0) {
        graph_free(&fabric->graph);
        build_dims(fabric, aggregators);
        fabric_add_aggregators(fabric);
    }
    graph_seal(&fabric->graph);
    fabric_add_latencies(fabric);
    if (fabric_is_analytical(fabric))
        return;
    change_rates(fabric, err);
    fabric_add_link_noise(fabric);
    fabric_nics_find(fabric, err);
    fabric_routes_build(fabric, err);
}
