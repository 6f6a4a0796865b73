// SPDX-License-Identifier: MIT
// A network in closed form: every message takes its own time, whatever else is under way. It repeats
// the analytical network of ASTRA-sim 1.0 to the nanosecond; implements net/transfer.h.
//
// A message of `bytes` over `hops` links takes T = trunc(hops * latency + bytes / bandwidth) ns. No
// contention, headers, acknowledgements, loss or congestion control.
// Source: Rashidi et al., ISPASS 2020; the analytical backend of ASTRA-sim 1.0.
#pragma once

#include "collective/phase.h"
#include "engine/timer.h"
#include "net/transfer.h"
#include "topology/topology.h"

struct analytical_dim {
    enum topology_shape shape; // not SHAPE_OTHER
    uint32_t size;             // ranks of a group
    ps_t latency_ps;           // of a link
    double bytes_per_ns;       // all links together that a message may use, > 0
};

// A message on its way, or a free slot.
struct analytical_message {
    struct sim_timer timer; // its arrival
    struct analytical *net;
    struct analytical_message *next_free;
    uint64_t id, token, bytes; // id: order of posting
    uint32_t job, src, dst;
    ps_t posted_ps, takes_ps;
    bool on_its_way;
};

struct analytical {
    /* config */
    struct engine *engine;
    struct analytical_dim dims[COLL_MAX_DIMS]; // innermost first
    uint32_t n_dims;
    struct transfer_client client;
    void (*ended)(void *ctx, const struct analytical_message *m); // has arrived; may be NULL
    void *ended_ctx;
    /* state */
    struct analytical_message **blocks; // of ANALYTICAL_BLOCK each: timers must not move
    size_t n_blocks;
    struct analytical_message *free_head;
    uint64_t n_running;
    /* counters */
    uint64_t n_messages, posted_bytes, delivered_bytes, n_phases;
};

#define ANALYTICAL_BLOCK 256
#define ANALYTICAL_LONGEST_PS (PS_NEVER / 4) // 26 days; what takes longer takes this

// The caller fills the configuration of a zeroed struct; nothing else to begin. Ends the timers.
void analytical_free(struct analytical *a);

// Links between two ranks: the sum over the dimensions in which their coordinates differ.
uint32_t analytical_hops(const struct analytical *a, uint32_t src, uint32_t dst);

// How long a message takes, whole nanoseconds in ps. Ranks that differ in several dimensions are
// reached through one after the other, at the slowest bandwidth of them (the original only sends
// along one).
ps_t analytical_message_ps(const struct analytical *a, uint32_t src, uint32_t dst, uint64_t bytes);

// Bytes per ns at which a message between two ranks moves, 0 where they are one.
double analytical_bandwidth(const struct analytical *a, uint32_t src, uint32_t dst);

// transfer.post: `delivered`, then `sent`, both when the message has arrived.
void analytical_post(void *analytical, const struct transfer_request *request, ps_t now);

// transfer.phase: how long all members together need for a phase that they begin at once.
bool analytical_phase(void *analytical, const struct coll_phase_call *call, ps_t *duration_ps);

// The transfer over this network.
struct transfer analytical_transfer(struct analytical *a);

// Calls `each` for every message on its way.
void analytical_each(const struct analytical *a, void *ctx,
                     void (*each)(void *ctx, const struct analytical_message *m));
