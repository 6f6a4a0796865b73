// SPDX-License-Identifier: MIT
// The elements of a topology of NCCL as lists, and the machine that they make.
#pragma once

#include "collective/nccl/nccl_machine.h"
#include "collective/nccl/xml/xml_pieces.h"

#define TOPOLOGY_BRIDGES_MAX 4096
#define TOPOLOGY_NVLINKS_MAX 4096
#define NO_BRIDGE UINT32_MAX
#define TOPOLOGY_OWN_SLOT 5000 // GB/s between a NIC without PCIe and its CPU, as NCCL counts it

// A PCIe device or bridge: an element <pci>.
struct topology_bridge {
    uint32_t parent; // NO_BRIDGE = a CPU
    uint32_t cpu;
    uint64_t busid;
    uint64_t kind;       // vendor, device, and both of the subsystem, 16 bits each
    double gbytes;       // GB/s of its link upwards
    uint32_t gpus, nics; // below it, in all
    bool switch_used;    // it is the PCIe switch of a device
    uint32_t switch_index;
};

struct topology_device {
    uint32_t bridge, cpu;
    unsigned long line;
    int64_t dev, rank; // -1 = not said
    int64_t sm;        // of a GPU
    double c2c;        // of a GPU, GB/s
    double gbps;       // of a NIC
};

struct topology_nvlink {
    uint32_t gpu; // in the order of the file
    bool to_switch;
    uint64_t target; // bus id of a GPU
    uint32_t count;
    unsigned long line;
};

struct topology_parts {
    struct topology_bridge bridges[TOPOLOGY_BRIDGES_MAX];
    struct topology_device gpus[NCCL_SERVER_GPUS], nics[NCCL_SERVER_NICS];
    struct topology_nvlink nvlinks[TOPOLOGY_NVLINKS_MAX];
    uint32_t n_bridges, n_gpus, n_nics, n_nvlinks, n_cpus;
    enum nccl_cpu cpu;
    double cpu_bw;
};

// The CPU of an architecture and vendor, and GB/s between two of them. Returns false for one that
// is not known.
bool topology_cpu(const char *arch, const char *vendor, int64_t family, int64_t model,
                  enum nccl_cpu *cpu, double *between);

// Fill in `machine` but for its names. Returns false after an error at `x`.
bool topology_machine(struct topology_parts *parts, struct xml_pieces *x,
                      struct nccl_machine *machine);
