// SPDX-License-Identifier: MIT
// The GPUs that a communicator uses of one server, and all links among its devices: what the
// search of paths and channels works on. Private to the room.
//
// Vertices are numbered: GPUs, ports of NICs, CPUs, the NVSwitch, then PCIe switches and cards of
// NICs. A card and its port are two vertices, as the PCIe width of the card and the rate of the
// port are two limits. Rates are in MB/s of 1e6 bytes, integers, so that sums are exact.
#pragma once

#include "collective/nccl/nccl.h"
#include "collective/nccl/nccl_machine.h"

#define NCCL_ANY_RATE 5000000 // MB/s of a path inside one device

// Both directions of: PCIe and C2C of GPUs, pairs of GPUs, the NVSwitch, PCIe and ports of NICs,
// switches, pairs of CPUs.
#define NCCL_WIRING_LINKS                                                                          \
    (2 * (3 * NCCL_SERVER_GPUS + 2 * NCCL_SERVER_NICS + NCCL_SERVER_SWITCHES) +                    \
     NCCL_SERVER_GPUS * NCCL_SERVER_GPUS + NCCL_SERVER_CPUS * NCCL_SERVER_CPUS)
#define NCCL_WIRING_VERTICES                                                                       \
    (NCCL_SERVER_GPUS + 2 * NCCL_SERVER_NICS + NCCL_SERVER_CPUS + 1 + NCCL_SERVER_SWITCHES)
#define NCCL_NO_LINK UINT16_MAX

// One direction of a link. The other direction has the number with the lowest bit flipped. The type
// is a path's: NVL, C2C, PIX for PCIe, SYS, or LOC between a card and its port.
struct nccl_link {
    uint16_t from, to;
    uint16_t sibling; // the next link from the same vertex, or NCCL_NO_LINK
    uint8_t type;
    int32_t rate_mb;
};

struct nccl_wiring {
    enum nccl_version version;
    enum nccl_gpu gpu;
    enum nccl_cpu cpu;
    bool networked;                        // whether there are other servers
    uint32_t gpus, nics, cpus, nvswitches; // 0 or 1 NVSwitch
    uint32_t ends;                         // of paths: the vertices of these four kinds
    uint32_t vertices, links;
    uint8_t gpu_of_machine[NCCL_SERVER_GPUS]; // by vertex
    int32_t nvlink_mb;                        // of one NVLink
    int32_t port_mb[NCCL_SERVER_NICS];
    uint16_t first[NCCL_WIRING_VERTICES]; // link from a vertex, or NCCL_NO_LINK
    struct nccl_link link[NCCL_WIRING_LINKS];
};

static inline uint32_t nccl_nic_vertex(const struct nccl_wiring *w, uint32_t nic)
{
    return w->gpus + nic;
}

static inline uint32_t nccl_cpu_vertex(const struct nccl_wiring *w, uint32_t cpu)
{
    return w->gpus + w->nics + cpu;
}

static inline uint32_t nccl_nvswitch_vertex(const struct nccl_wiring *w)
{
    return w->gpus + w->nics + w->cpus;
}

static inline bool nccl_is_gpu(const struct nccl_wiring *w, uint32_t vertex)
{
    return vertex < w->gpus;
}

static inline bool nccl_is_cpu(const struct nccl_wiring *w, uint32_t vertex)
{
    return vertex >= nccl_cpu_vertex(w, 0) && vertex < nccl_cpu_vertex(w, w->cpus);
}

// The wiring of the GPUs in `gpus`, a set of bits. Before 2.30 the NICs of a single server are
// left out.
void nccl_wiring_init(struct nccl_wiring *wiring, const struct nccl_machine *machine,
                      enum nccl_version version, uint64_t gpus, bool networked);
