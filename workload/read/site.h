// SPDX-License-Identifier: MIT
// The network as the readers of jobs see it, before it is built. Readers get it from the scenario
// (config/object/object_workload.c), which this room does not know.
#pragma once

#include "collective/algorithm/phase.h"
#include "net/topology/graph.h"

struct nccl_machine;

struct site_dim {
    uint32_t size;
    bool fabric;  // one fabric joins all ranks; otherwise one group for each coordinate
    bool direct;  // ranks forward for others
    bool reduces; // its switches reduce (switch.reduction)
    uint64_t rate_bps;
    ps_t path_ps; // propagation between two of its ranks
};

struct site {
    struct graph ranks; // dimensions only, no links; n_ranks = 0 while unknown
    uint32_t n_dims;
    struct site_dim dims[COLL_MAX_DIMS];
    bool analytical;       // the network is in closed form
    bool analytical_links; // and its messages share links
    bool relays;           // ranks relay messages between dimensions
    uint64_t seed;
    uint64_t slowest_bps;                   // of all links
    uint64_t capacity_bytes, reserve_bytes; // of a GPU's memory; what training may not use
    const struct nccl_machine *machine;     // NULL = not described
};
