// SPDX-License-Identifier: MIT
// Pools of memory that a fabric of their own joins to the GPUs, in closed form.
//
// All ranks of the job copy as much at the same time.
//
// The data of a copy goes in chunks through three stages, which work on successive chunks at once:
// the memories, the fabric, and the GPU's port. So it takes its latency, the first chunk's time in
// all stages, and for each further chunk the time of the slowest stage. What a rank has of a
// stage's bandwidth:
//   memories  their sum, divided by the ranks
//   fabric    hierarchical: the link of a server to the switches of the pool, divided by its ranks
//             ring:  a link, divided by floor(n^2/4) / (2n), the load of a link where each of n
//                    ranks uses the memories beside all of them alike, by the shorter way
//             mesh:  a link, divided by floor(k/2) ceil(k/2) / k, the load of the middle links of
//                    the longer side, of k ranks, by dimension-order routing
//   port      its rate
// Sources: pools with hierarchical switches, rings and meshes: Won et al., ISPASS 2023, section
// IV-D; loads of links: Dally and Towles, Principles and Practices of Interconnection Networks,
// section 3.3.
#pragma once

#include <stdint.h>

#include "engine/base/units.h"

enum pool_kind { POOL_NONE, POOL_HIERARCHICAL, POOL_RING, POOL_MESH };

struct pool {
    int kind;                      // enum pool_kind
    uint64_t memories, memory_bps; // of each
    uint64_t fabric_bps, port_bps; // UINT64_MAX = no limit
    uint64_t chunk_bytes;
    uint32_t ranks, server_ranks; // of the job; of a server
};

// Time of a copy of `bytes`, without the latency; PS_NEVER = more than 100000 s.
ps_t pool_copy_ps(const struct pool *pool, uint64_t bytes);
