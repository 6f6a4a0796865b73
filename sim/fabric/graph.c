// SPDX-License-Identifier: MIT
// Builds the graph of a network: switches, links, aggregators, routes.
#include "sim/fabric/fabric_internal.h"

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
    fabric_add_link_noise(fabric);
    fabric_nics_find(fabric, err);
    fabric_routes_build(fabric, err);
}
