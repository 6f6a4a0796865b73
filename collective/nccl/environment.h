// SPDX-License-Identifier: MIT
// What a user sets of NCCL, by the names of its environment variables.
#pragma once

#include "collective/nccl/nccl.h"

#define NCCL_CROSS_NIC_AUTO 2 // only where the search finds nothing without

struct nccl_settings {
    enum nccl_version version;
    bool rccl;                           // AMD's library, which is derived from that version
    unsigned algorithms, protocols;      // bit sets; ALGO, PROTO
    uint32_t min_channels, max_channels; // 0 = as found; MIN_NCHANNELS, MAX_NCHANNELS
    uint32_t min_ctas, max_ctas;         // the same, and of NVLS too; MIN_CTAS, MAX_CTAS
    uint64_t buffer_bytes;               // of a connection under Simple, 0 = default; BUFFSIZE
    uint32_t threads;                    // 0 = as chosen; NTHREADS
    uint32_t cross_nic;                  // 0 never, 1 allowed, NCCL_CROSS_NIC_AUTO; CROSS_NIC
    bool pxn;                  // a GPU may send by the NIC of another one; not PXN_DISABLE
    bool nvls;                 // NVLS and NVLSTree may be used; NVLS_ENABLE
    uint64_t p2p_chunk_bytes;  // of a message between servers; P2P_NET_CHUNKSIZE
    uint32_t p2p_net_channels; // of a peer and a NIC, 0 = by the version; NCHANNELS_PER_NET_PEER
    uint32_t queue_pairs;      // of a connection; IB_QPS_PER_CONNECTION
    bool split_on_queue_pairs; // each message, else in turn; IB_SPLIT_DATA_ON_QPS
    // With adaptive routing a larger message is a write and an empty write with the notice;
    // 0 = never. IB_ADAPTIVE_ROUTING, IB_AR_THRESHOLD
    uint64_t two_part_bytes;
};
