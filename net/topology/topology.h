// SPDX-License-Identifier: MIT
// The contract of a topology kind, which adds the switches and links of one dimension to a graph.
#pragma once

#include "engine/base/param.h"
#include "net/topology/graph.h"

// The number of links between two ranks of a group, for networks in closed form: a ring has those
// of the shorter direction, a switch has two, a fully connected group has one.
enum topology_shape {
    SHAPE_OTHER,
    SHAPE_RING,
    SHAPE_SWITCH,
    SHAPE_FULLY_CONNECTED,
    SHAPE_TIERED // switches in tiers: the number of links depends on the pair of ranks
};

struct topology_kind {
    const char *name, *doc, *source;
    const struct param *params; // parameters other than kind, size and link, which every dimension
                                // has
    size_t n_params, params_bytes;
    const char *const *links;  // names of further links ("trunk"), NULL-terminated; they are legal
                               // keys
    bool fabric;               // one fabric joins all ranks
    bool direct;               // links lead from rank to rank
    enum topology_shape shape; // SHAPE_OTHER = not supported by closed forms
    // Returns the number of links of a rank whose rates closed forms add up for a message. Required
    // unless the shape is SHAPE_OTHER.
    uint64_t (*width)(const void *params, uint32_t size);
    // Returns the number of links on the way between two ranks of the network, with the link of
    // each rank. Required for SHAPE_TIERED.
    uint32_t (*hops)(const void *params, uint32_t ranks, uint32_t from, uint32_t to);
    // Checks the parameters and adds errors at `path` ("topology.dims[1]"). `ranks` is the product
    // of all sizes. May be NULL.
    void (*check)(const void *params, uint32_t size, uint32_t ranks, const char *path,
                  struct err *err);
    // Adds dimension `dim` to the graph. links[0] is "link"; the others follow in the order of
    // `links`.
    void (*build)(struct graph *g, uint32_t dim, const void *params, const struct link_spec *links);
};

#define TOPOLOGY_MAX_LINKS 3
#define TOPOLOGY_PARAMS_BYTES 64 // upper limit of params_bytes

extern const struct topology_kind *const topology_registry[]; // NULL-terminated
const struct topology_kind *topology_find(const char *name);
