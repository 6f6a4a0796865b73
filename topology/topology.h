// SPDX-License-Identifier: MIT
// The contract of a topology kind: adds one dimension's switches and links to a graph.
#pragma once

#include "engine/param.h"
#include "topology/graph.h"

struct link_spec {
    uint64_t rate_bps;
    ps_t delay_ps;
};

// How far two ranks of a group are apart, to networks in closed form: the links of the shorter way
// round, two to the switch and from it, or one.
enum topology_shape { SHAPE_OTHER, SHAPE_RING, SHAPE_SWITCH, SHAPE_FULLY_CONNECTED };

struct topology_kind {
    const char *name, *doc, *source;
    const struct param *params; // beside kind, size and link, which every dimension has
    size_t n_params, params_bytes;
    const char *const *links;  // names of further links ("trunk"), NULL-terminated; legal keys
    bool fabric;               // one fabric joins all ranks
    bool direct;               // links lead from rank to rank
    enum topology_shape shape; // SHAPE_OTHER: closed forms do not know it
    // Links of a rank that closed forms add up for a message; where there is a shape.
    uint64_t (*width)(const void *params, uint32_t size);
    // Is it possible? Adds errors at `path` ("topology.dims[1]"). `ranks` = product of all sizes.
    void (*check)(const void *params, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err);
    // Add dimension `dim` to the graph. links[0] is "link", the others as named.
    void (*build)(struct graph *g, uint32_t dim, const void *params, const struct link_spec *links);
};

#define TOPOLOGY_MAX_LINKS 3
#define TOPOLOGY_PARAMS_BYTES 64 // params_bytes of every kind is at most this

extern const struct topology_kind *const topology_registry[]; // NULL-terminated
const struct topology_kind *topology_find(const char *name);
