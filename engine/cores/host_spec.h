// SPDX-License-Identifier: MIT
// The settings of hosts: their cores, and what the network stack costs them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

enum host_rdma { HOST_RDMA_DIRECT, HOST_RDMA_STAGED };
enum host_preset { HOST_NONE, HOST_LINUX };

// What a thread does for one direction of a connection.
struct host_stack {
    uint64_t rate_bps;      // of copies and all other costs per byte; 0 = no limit
    ps_t packet_ps;         // for each packet
    ps_t call_ps;           // for each segment: a system call, an interrupt
    uint64_t segment_bytes; // largest segment handled at once (GSO, GRO); 0 = one packet
};

struct host_spec {
    bool given;
    int preset;       // enum host_preset: defaults of the settings below
    uint64_t ranks;   // of a host
    uint64_t cores;   // of a host; 0 = one for each thread
    uint64_t threads; // of a rank in each direction, which its connections share; 0 = one for each
                      // connection
    bool compute;     // computations of ranks use the cores
    int rdma;         // enum host_rdma
    struct host_stack send, receive;
};

static inline bool host_stack_costs(const struct host_stack *s)
{
    return s->rate_bps > 0 || s->packet_ps > 0 || s->call_ps > 0;
}

// Time of a thread for `bytes` in packets of `packet_bytes`, at most a segment.
static inline ps_t host_stack_ps(const struct host_stack *s, uint64_t bytes, uint32_t packet_bytes)
{
    uint64_t packets = (bytes + packet_bytes - 1) / packet_bytes;
    ps_t copy_ps = s->rate_bps > 0 ? serialization_ps(bytes, s->rate_bps) : 0;
    return copy_ps + s->call_ps + (ps_t)packets * s->packet_ps;
}
