// SPDX-License-Identifier: MIT
// A network as a pure graph: ranks 0..n_ranks-1, then switches; ports in pairs; names of places.
#pragma once

#include "engine/err.h"
#include "engine/units.h"

#define GRAPH_NONE UINT32_MAX
#define GRAPH_NAME 48 // bytes of a place's name

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
};

struct graph_node {
    uint8_t role;   // enum node_role
    uint8_t dim;    // dimension that built it (switches)
    uint32_t index; // within role and dimension (plane included)
    uint32_t plane;
    uint32_t first_port, n_ports; // filled by graph_seal
};

// One end of a link, and the direction that leaves by it.
struct graph_port {
    uint32_t node, local; // local index at its node: order of linking
    uint32_t peer;        // global index of the other end
    uint8_t dim;
    uint8_t cost; // of the link to a shortest path
    bool down;    // routes do not use it
    uint64_t rate_bps;
    ps_t delay_ps;
};

struct graph {
    uint32_t n_ranks, n_nodes, n_ports, n_dims;
    uint32_t *dim_size; // [n_dims]: ranks' coordinate d runs over dim_size[d]; 0 is innermost
    bool *dim_fabric; // [n_dims]: one fabric joins all ranks (else one group per other coordinates)
    bool *dim_direct; // [n_dims]: ranks forward for others
    uint32_t
        *dim_share; // [n_dims]: so many neighbouring ranks share the ports of the first of them
    struct graph_node *nodes;
    struct graph_port *ports; // sorted by (node, local) once sealed
    size_t cap_nodes, cap_ports;
};

void graph_init(struct graph *g, uint32_t n_dims, const uint32_t *dim_size);
void graph_free(struct graph *g);

uint32_t graph_add_switch(struct graph *g, enum node_role role, uint32_t dim, uint32_t index,
                          uint32_t plane);
// A link in both directions between two nodes, of cost 1.
void graph_add_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim, uint64_t rate_bps,
                    ps_t delay_ps);
void graph_add_costly_link(struct graph *g, uint32_t a, uint32_t b, uint32_t dim, uint64_t rate_bps,
                           ps_t delay_ps, uint8_t cost);
// Every node of a row to every node of another, by `parallel` links each.
void graph_add_trunks(struct graph *g, uint32_t first_a, uint32_t n_a, uint32_t first_b,
                      uint32_t n_b, uint32_t parallel, uint32_t dim, uint64_t rate_bps,
                      ps_t delay_ps);
// Sort the ports by node; after it nothing may be added.
void graph_seal(struct graph *g);

// Coordinate of a rank in dimension d.
uint32_t graph_coord(const struct graph *g, uint32_t rank, uint32_t d);

// Does a dimension join two different ranks?
bool graph_dim_joins(const struct graph *g, uint32_t a, uint32_t b, uint32_t d);

// The rank whose ports a rank uses in dimension d: its own, unless ranks share.
uint32_t graph_owner(const struct graph *g, uint32_t rank, uint32_t d);

// How many ports a rank has in dimension d; they follow one another from *first on (left as it is
// where there are none).
uint32_t graph_ports_in(const struct graph *g, uint32_t rank, uint32_t d, uint32_t *first);

// The innermost dimension that joins two ranks, or GRAPH_NONE.
uint32_t graph_joining_dim(const struct graph *g, uint32_t a, uint32_t b);

// Name of a node ("rank3", "leaf0", "dim0.sw5", "dim0.sw5.p1"; "dim1.leaf0" where two fabrics
// exist) and of the direction that leaves by a port ("leaf0->spine2"). Return `buf`.
const char *graph_node_name(const struct graph *g, uint32_t node, char buf[GRAPH_NAME]);
const char *graph_port_name(const struct graph *g, uint32_t port, char buf[2 * GRAPH_NAME]);
