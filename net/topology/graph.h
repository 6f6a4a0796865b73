// SPDX-License-Identifier: MIT
// A network as a plain graph: ranks 0 to n_ranks - 1, then aggregators up to n_ends - 1, then
// switches; ports in pairs; names of nodes and ports.
//
// An aggregator is an endpoint in a switch, which it has an internal link to: ranks and other
// aggregators send it the data to reduce. No other node is reached through it.
#pragma once

#include "engine/base/err.h"
#include "engine/base/units.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_NAME 48 // bytes of a node's name

enum node_role {
    NODE_RANK,
    NODE_SWITCH,
    NODE_LEAF,
    NODE_SPINE,
    NODE_EDGE,
    NODE_AGG,
    NODE_CORE,
    NODE_RAIL,
    NODE_ROUTER,
    NODE_AGGREGATOR,
};

struct graph_node {
    uint8_t role;   // enum node_role
    uint8_t dim;    // dimension of a switch or an aggregator
    uint32_t index; // unique with role, dimension and plane
    uint32_t plane;
    uint32_t first_port, n_ports; // filled by graph_seal
};

// A link between two nodes: its direction from the first node to the second, and the other one.
struct link_spec {
    uint64_t rate_bps;
    ps_t delay_ps;
    uint64_t reverse_rate_bps; // 0 = both directions are alike
    ps_t reverse_delay_ps;
    ps_t fec_ps; // beside the delay, of either direction
};

static inline ps_t link_delay_ps(const struct link_spec *link)
{
    return link->delay_ps + link->fec_ps;
}

static inline ps_t link_back_delay_ps(const struct link_spec *link)
{
    return link->fec_ps + (link->reverse_rate_bps > 0 ? link->reverse_delay_ps : link->delay_ps);
}

// One end of a link, with the link's direction that leaves it.
struct graph_port {
    uint32_t node, local; // local: index at its node, in order of linking
    uint32_t peer;        // global index of the port at the other end
    uint8_t dim;
    uint8_t cost; // cost of the link in shortest paths
    bool down;    // routes do not use the link in this direction
    uint64_t rate_bps;
    ps_t delay_ps;
};

struct graph {
    uint32_t n_ranks, n_ends, n_nodes, n_ports, n_dims; // n_ends: ranks and aggregators
    uint32_t *dim_size; // [n_dims] coordinate d of a rank is below dim_size[d]; dimension 0 is the
                        // innermost
    bool *dim_fabric;   // [n_dims] one fabric joins all ranks; otherwise one group for each
                        // combination of the other coordinates
    bool *dim_direct;   // [n_dims] ranks forward for others
    uint32_t
        *dim_share; // [n_dims] this many neighbouring ranks share the ports of the first of them
    struct graph_node *nodes;
    struct graph_port *ports; // sorted by (node, local) once sealed
    size_t cap_nodes, cap_ports;
};

void graph_init(struct graph *g, uint32_t n_dims, const uint32_t *dim_size);
void graph_free(struct graph *g);

uint32_t graph_add_switch(struct graph *g, enum node_role role, uint32_t dim, uint32_t index,
                          uint32_t plane);
// Add a link in both directions between two nodes, with cost 1.
void graph_add_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim,
                    const struct link_spec *link);
void graph_add_costly_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim,
                           const struct link_spec *link, uint8_t cost);
// Make room for aggregators, before the first switch is added; graph_add_aggregator() must follow
// for each.
void graph_reserve_aggregators(struct graph *g, uint32_t n);
// Link aggregator number `index` to a switch; `link` is the direction towards the switch.
void graph_add_aggregator(struct graph *g, uint32_t index, uint32_t sw,
                          const struct link_spec *link);
// Link every node of a row to every node of another row, each pair by `parallel` links.
void graph_add_trunks(struct graph *g, uint32_t first_a, uint32_t n_a, uint32_t first_b,
                      uint32_t n_b, uint32_t parallel, uint32_t dim, const struct link_spec *link);
// Sort the ports by node. Nothing may be added afterwards.
void graph_seal(struct graph *g);

// Returns the coordinate of a rank in dimension d.
uint32_t graph_coord(const struct graph *g, uint32_t rank, uint32_t d);

// Returns true if dimension d joins two different ranks.
bool graph_dim_joins(const struct graph *g, uint32_t a, uint32_t b, uint32_t d);

// Returns the rank whose ports a rank uses in dimension d: the rank itself, unless ranks share
// ports.
uint32_t graph_owner(const struct graph *g, uint32_t rank, uint32_t d);

// Returns the number of ports of a rank in dimension d. They are consecutive and start at *first,
// which is not changed if there are none.
uint32_t graph_ports_in(const struct graph *g, uint32_t rank, uint32_t d, uint32_t *first);

// Returns the innermost dimension that joins two ranks, or GRAPH_NONE. An aggregator is joined with
// all nodes by its own dimension.
uint32_t graph_joining_dim(const struct graph *g, uint32_t a, uint32_t b);

static inline bool graph_is_aggregator(const struct graph *g, uint32_t node)
{
    return node >= g->n_ranks && node < g->n_ends;
}

// Returns the switch of an aggregator. The graph must be sealed.
static inline uint32_t graph_switch_of(const struct graph *g, uint32_t aggregator)
{
    return g->ports[g->ports[g->nodes[aggregator].first_port].peer].node;
}

// Write the name of a node ("rank3", "leaf0", "dim0.sw5", "dim0.sw5.p1"; "dim1.leaf0" if there are
// several fabrics), or of the direction that leaves by a port ("leaf0->spine2"), and return `buf`.
const char *graph_node_name(const struct graph *g, uint32_t node, char buf[GRAPH_NAME]);

// Returns the node with this name, or GRAPH_NONE.
uint32_t graph_node_called(const struct graph *g, const char *name);

// Returns the first local port of `node` that leads to `neighbour`, or GRAPH_NONE.
uint32_t graph_port_to(const struct graph *g, uint32_t node, uint32_t neighbour);
const char *graph_port_name(const struct graph *g, uint32_t port, char buf[2 * GRAPH_NAME]);
