// SPDX-License-Identifier: MIT
// Routes given in the scenario: at a switch, packets for a rank (and for all ranks attached to the
// same switch as that rank) leave towards a neighbour, which forwards them or is the rank itself.
// Such routes replace the shortest paths and do not change when links fail.
#include <stdio.h>

#include "net/topology/weights.h"
#include "sim/fabric/fabric_internal.h"

static void set_route(struct fabric *fabric, size_t i, struct err *err)
{
    const struct route_spec *route = &fabric->spec->routes[i];
    const struct graph *g = &fabric->graph;
    uint32_t at = graph_node_called(g, route->at), dst = graph_node_called(g, route->dst);
    uint32_t via = graph_node_called(g, route->via);
    uint32_t port = at != GRAPH_NONE && via != GRAPH_NONE ? graph_port_to(g, at, via) : GRAPH_NONE;
    char place[64];
    snprintf(place, sizeof place, "routes[%zu]", i);
    // In a direct dimension ranks forward packets for others; elsewhere only switches do.
    if (at == GRAPH_NONE || at < g->n_ends)
        err_add(err, place, "no switch is called \"%s\"", route->at);
    else if (dst == GRAPH_NONE || dst >= g->n_ranks)
        err_add(err, place, "no rank is called \"%s\" (as in rank3)", route->dst);
    else if (port == GRAPH_NONE)
        err_add(err, place, "%s has no link to \"%s\"", route->at, route->via);
    else if (via < g->n_ends && via != dst && !g->dim_direct[g->nodes[at].dim])
        err_add(err, place, "%s is %s, and does not forward packets for %s", route->via,
                via < g->n_ranks ? "a rank" : "an aggregator", route->dst);
    else {
        struct routes *r = &fabric->routes;
        uint32_t group = r->group[(size_t)g->nodes[at].dim * r->n_ranks + dst];
        uint16_t *next = &r->next[(size_t)(at - r->n_ranks) * r->n_groups + group];
        // A switch with a link to the destination always takes it, so a route via another node
        // would have no effect.
        if (*next != ROUTE_HERE)
            *next = (uint16_t)port;
        else if (via != dst)
            err_add(err, place, "%s has a link to %s, and takes it", route->at, route->dst);
    }
}

void fabric_routes_build(struct fabric *fabric, struct err *err)
{
    // The routes of the start are kept for ideal times. Later ones replace each other.
    if (fabric->rerouted)
        routes_free(&fabric->routes);
    else if (fabric->routes.next) {
        fabric->first_routes = fabric->routes;
        fabric->rerouted = true;
    }
    bool built = routes_build(&fabric->routes, &fabric->graph) == 0;
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        if (built && fabric->spec->dims[d].sw.routing.weights == WEIGHTS_CAPACITY)
            built = routes_weigh(&fabric->routes, &fabric->graph, d) == 0;
    if (!built)
        err_add(err, "topology", "has more than %u different sets of equal next hops",
                ROUTE_MAX_SETS);
    if (fabric->routes.longest > ROUTE_MAX_HOPS)
        err_add(err, "topology", "two ranks are %u links apart, more than %d",
                fabric->routes.longest, ROUTE_MAX_HOPS);
    for (size_t i = 0; i < fabric->spec->n_routes; i++)
        set_route(fabric, i, err);
}

const struct routes *fabric_first_routes(const struct fabric *fabric)
{
    return fabric->rerouted ? &fabric->first_routes : &fabric->routes;
}
