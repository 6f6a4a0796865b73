// SPDX-License-Identifier: MIT
// NCCL, the library that runs collectives of NVIDIA GPUs: its terms, and the facts about a cluster
// that its rules use.
//
// Rates are in GB/s of 1e9 bytes and times in us, the units in which NCCL ranks its choices. They
// are costs for its ranking, not times of the simulation.
//
// Source: the open source of NCCL 2.21.5, 2.27.7 and 2.30.7 (github.com/NVIDIA/nccl), read for its
// rules and constants; places are named as file and function of 2.27.7.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum nccl_version { NCCL_2_21_5, NCCL_2_27_7, NCCL_2_30_7, NCCL_VERSIONS };

enum nccl_function {
    NCCL_BROADCAST,
    NCCL_REDUCE,
    NCCL_ALL_GATHER,
    NCCL_REDUCE_SCATTER,
    NCCL_ALL_REDUCE,
    NCCL_FUNCTIONS
};

// In the order in which NCCL compares them: of equal costs the first wins.
enum nccl_algorithm {
    NCCL_TREE,
    NCCL_RING,
    NCCL_COLLNET_DIRECT,
    NCCL_COLLNET_CHAIN,
    NCCL_NVLS,
    NCCL_NVLS_TREE,
    NCCL_PAT,
    NCCL_ALGORITHMS
};

enum nccl_protocol { NCCL_LL, NCCL_LL128, NCCL_SIMPLE, NCCL_PROTOCOLS };

// Generations of GPUs, by compute capability.
enum nccl_gpu { NCCL_VOLTA, NCCL_AMPERE, NCCL_HOPPER, NCCL_BLACKWELL, NCCL_GPUS };

enum nccl_cpu { NCCL_CPU_INTEL, NCCL_CPU_AMD, NCCL_CPU_ARM };

// Distance between two devices of a server, the nearest first (graph/topo.h).
enum nccl_path {
    NCCL_PATH_LOC, // the same device
    NCCL_PATH_NVL, // NVLink
    NCCL_PATH_NVB, // NVLink through another GPU
    NCCL_PATH_C2C, // the link of a GPU and its CPU
    NCCL_PATH_PIX, // one PCIe switch
    NCCL_PATH_PXB, // several PCIe switches
    NCCL_PATH_P2C, // C2C, then PCIe
    NCCL_PATH_PXN, // NVLink to a GPU beside the NIC
    NCCL_PATH_PHB, // through the CPU
    NCCL_PATH_SYS, // between CPUs
    NCCL_PATHS
};

enum nccl_pattern {
    NCCL_PATTERN_RING,
    NCCL_PATTERN_TREE,          // parent and children at the first GPU of the chain
    NCCL_PATTERN_SPLIT_TREE,    // the children at the second GPU
    NCCL_PATTERN_BALANCED_TREE, // parent and one child at the first GPU, the other at the second
    NCCL_PATTERN_NVLS,
    NCCL_PATTERNS
};

// The result of a topology search for one pattern, before channels are copied.
struct nccl_graph {
    uint32_t channels;         // 0 = none was found
    double bw_intra, bw_inter; // of a channel, inside a server and between servers
    uint8_t pattern, type_intra, type_inter;
    uint8_t cross_nic;  // whether a channel may enter and leave a server by different NICs
    bool same_channels; // all channels visit the GPUs in the same order
};

// The facts about a cluster from which a communicator computes its table of costs.
struct nccl_cluster {
    enum nccl_version version;
    bool rccl;      // AMD's library, derived from that version
    bool rccl_mesh; // and whole servers of 8 MI300X, for which it has rings and costs of its own
    enum nccl_gpu gpu;
    enum nccl_cpu cpu;
    uint32_t nodes, ranks; // servers, and GPUs of all of them
    bool nvswitch;
    struct nccl_graph ring, tree, nvls;
    double nvlinks;                   // GB/s of NVLS inside a server, all heads, whatever its NICs
    uint32_t channels, nvls_channels; // after copying
    uint64_t buffer_bytes;            // of a connection under Simple; 0 = 4 MiB
};

// Names as in NCCL's own log ("AllReduce", "NVLSTree", "LL128"). The arguments are in range.
const char *nccl_library_name(bool rccl); // "NCCL" or "RCCL"
const char *nccl_version_name(enum nccl_version version);
const char *nccl_function_name(enum nccl_function function);
const char *nccl_algorithm_name(enum nccl_algorithm algorithm);
const char *nccl_protocol_name(enum nccl_protocol protocol);
