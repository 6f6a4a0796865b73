// SPDX-License-Identifier: MIT
// The settings of hosts: their cores, and what the network stack costs them.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/units.h"

enum host_rdma { HOST_RDMA_DIRECT, HOST_RDMA_STAGED };
enum host_threads { HOST_THREADS_OF_RANK, HOST_THREADS_OF_PEER };
enum host_preset { HOST_NONE, HOST_LINUX };

// What a thread does for one direction of a connection.
struct host_stack {
    uint64_t rate_bps;      // of copies and all other costs per byte; 0 = no limit
    ps_t packet_ps;         // for each packet
    ps_t segment_ps;        // for each segment: its way through the stack
    ps_t call_ps;           // for each call: a system call, an interrupt, a wake-up
    uint64_t segment_bytes; // largest segment (GSO, GRO); 0 = one packet
    uint64_t call_bytes;    // that a call takes at most, and at least a segment; 0 = a segment
};

struct host_spec {
    bool given;
    int preset;       // enum host_preset: defaults of the settings below
    uint64_t ranks;   // of a host
    uint64_t cores;   // of a host; 0 = one for each thread
    uint64_t threads; // of a rank, or of a rank for each peer, in each direction, which its
                      // connections share; 0 = one for each connection
    int threads_of;   // enum host_threads
    double spread;    // each thread is slower by a random share, at most this
    bool compute;     // computations of ranks use the cores
    int rdma;         // enum host_rdma
    struct host_stack send, receive;
};

static inline bool host_stack_costs(const struct host_stack *s)
{
    return s->rate_bps > 0 || s->packet_ps > 0 || s->segment_ps > 0 || s->call_ps > 0;
}

// Bytes that a call takes at most.
static inline uint64_t host_call_bytes(const struct host_stack *s)
{
    return s->call_bytes > s->segment_bytes ? s->call_bytes : s->segment_bytes;
}

// Time of a thread for a call that takes `bytes` in so many packets and segments.
static inline ps_t host_stack_ps(const struct host_stack *s, uint64_t bytes, uint64_t packets,
                                 uint64_t segments)
{
    ps_t copy_ps = s->rate_bps > 0 ? serialization_ps(bytes, s->rate_bps) : 0;
    return copy_ps + s->call_ps + (ps_t)packets * s->packet_ps + (ps_t)segments * s->segment_ps;
}
