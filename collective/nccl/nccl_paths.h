// SPDX-License-Identifier: MIT
// Paths between the devices of a server: their type, their rate and the links that they use.
// Private to the room.
//
// GPUDirect RDMA is taken to work wherever NCCL allows it, and shared memory between all processes
// of a server.
#pragma once

#include "collective/nccl/environment.h"
#include "collective/nccl/wiring.h"

#define NCCL_ROUTE_LINKS 12

struct nccl_route {
    uint8_t type; // NCCL_PATHS = none
    uint8_t links;
    int32_t rate_mb;
    uint16_t link[NCCL_ROUTE_LINKS];
};

struct nccl_paths {
    struct nccl_wiring wiring;
    int32_t nic_gpu[NCCL_SERVER_NICS]; // the GPU that serves a NIC first, or -1
    struct nccl_route *route;          // owned; from every vertex to every end
};

static inline const struct nccl_route *nccl_route_of(const struct nccl_paths *p, uint32_t from,
                                                     uint32_t to)
{
    return &p->route[(size_t)from * p->wiring.ends + to];
}

// Finds all paths of a wiring that is made; false without memory.
bool nccl_paths_init(struct nccl_paths *paths, const struct nccl_settings *settings);
void nccl_paths_free(struct nccl_paths *paths);

// The ends among `count` from `base` with the fastest path from `from`, of these the nearest;
// returns how many were written to `nearest`.
uint32_t nccl_paths_nearest(const struct nccl_paths *paths, uint32_t from, uint32_t base,
                            uint32_t count, uint8_t *nearest);

// The NIC of a GPU on a channel, among its nearest ones; -1 without NICs.
int32_t nccl_paths_nic(const struct nccl_paths *paths, uint32_t gpu, uint32_t channel);

// The GPU that drives a NIC for `gpu`: another one under PXN.
uint32_t nccl_paths_relay(const struct nccl_paths *paths, uint32_t gpu, uint32_t nic);

// The widest type of path to a NIC that another GPU may use through its owner.
enum nccl_path nccl_paths_widest_relay(enum nccl_version version);
