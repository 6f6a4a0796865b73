// SPDX-License-Identifier: MIT
// A server as NCCL sees it: GPUs, NICs, CPUs, PCIe switches and the links between them, as data.
//
// Not described: switches under switches, NUMA domains inside a socket, NICs with several ports,
// SHARP, and NVLink that leaves a server. Rates of NICs are in Gbit/s, all others in GB/s.
#pragma once

#include <stddef.h>

#include "collective/nccl/nccl.h"

#define NCCL_SERVER_GPUS 64
#define NCCL_SERVER_NICS 64
#define NCCL_SERVER_SWITCHES 32
#define NCCL_SERVER_CPUS 16

enum nccl_nvlink {
    NCCL_NVLINK_NONE,
    NCCL_NVLINK_SWITCH, // all GPUs on NVSwitches
    NCCL_NVLINK_PAIRS   // every GPU with every other one
};

struct nccl_pcie_switch {
    uint8_t cpu;
    double bw; // GB/s between the switch and its CPU
};

// Where a PCIe device is: under a switch, or directly under a CPU.
struct nccl_slot {
    bool at_cpu;
    uint8_t parent; // index of the switch or of the CPU
    double bw;      // GB/s between the device and its parent
};

struct nccl_machine {
    const char *name;
    const char *source; // public document of the machine
    const char *file;   // NCCL's topology that it was read from; NULL = none
    enum nccl_gpu gpu;  // or what NCCL's rules take it for
    bool gfx942;        // it is a GPU of AMD that RCCL has tables for
    enum nccl_cpu cpu;
    uint32_t gpus, nics, switches, cpus;
    struct nccl_pcie_switch pcie_switch[NCCL_SERVER_SWITCHES];
    struct nccl_slot gpu_slot[NCCL_SERVER_GPUS], nic_slot[NCCL_SERVER_NICS];
    double nic_gbps[NCCL_SERVER_NICS];
    enum nccl_nvlink nvlink;
    uint32_t nvlinks; // of a GPU (through switches), or between two GPUs (pairs)
    double nvlink_bw; // GB/s of one link; 0 = as NCCL counts the generation of the GPU
    double c2c_bw;    // GB/s between each GPU and the CPU of its own slot; 0 = none
    double cpu_bw;    // GB/s between two CPUs; 0 = as NCCL counts the vendor
};

// The machine of a name, or NULL.
const struct nccl_machine *nccl_machine_named(const char *name);

// Machine `i` of the table, or NULL at its end.
const struct nccl_machine *nccl_machine_at(uint32_t i);

// Whether the numbers of a machine are in range and every parent exists; if not, one sentence is
// written to `error`.
bool nccl_machine_valid(const struct nccl_machine *machine, char *error, size_t error_bytes);
