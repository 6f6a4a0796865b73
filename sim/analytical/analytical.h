// SPDX-License-Identifier: MIT
// A network in closed form: the time of a message does not depend on other messages. It reproduces
// the analytical network of ASTRA-sim 1.0 to the nanosecond and implements net/transfer.h.
//
// A message of `bytes` over `hops` links takes T = trunc(hops * latency + bytes / bandwidth) ns.
// There is no contention, and there are no headers, acknowledgements, losses or congestion control.
// Source: Rashidi et al., ISPASS 2020; the analytical backend of ASTRA-sim 1.0.
#pragma once

#include "collective/algorithm/phase.h"
#include "engine/timer.h"
#include "net/topology/topology.h"
#include "net/transfer.h"

struct analytical_dim {
    enum topology_shape shape; // not SHAPE_OTHER
    uint32_t size;             // ranks of a group
    ps_t latency_ps;           // latency of one link; SHAPE_TIERED: of a rank
    double bytes_per_ns;       // bandwidth of all links together that a message may use, > 0
    /* SHAPE_TIERED */
    ps_t trunk_ps;                    // latency of a link between switches
    const struct topology_kind *kind; // computes the links between two ranks
    const void *params;               // of the kind
};

// A message in flight, or a free slot.
struct analytical_message {
    struct sim_timer timer; // fires at its arrival
    struct analytical *net;
    struct analytical_message *next_free;
    uint64_t id, token, bytes; // id: sequence number of the post
    uint32_t job, src, dst;
    uint32_t path;            // critical path up to the post
    ps_t posted_ps, takes_ps; // takes_ps: alone, if links serve one message at a time
    uint32_t at;              // then: the rank that it has reached, or that is before the switch
    bool in_switch;
    bool in_flight;
};

struct analytical {
    /* config */
    struct engine *engine;
    struct path_book *path_book;
    struct analytical_dim dims[COLL_MAX_DIMS]; // innermost first
    uint32_t n_dims;
    bool links; // links serve one message at a time (sim/analytical/analytical.c)
    // a message takes the first, or the last, dimension in which the ranks differ, and no other
    bool first_dim, last_dim;
    struct transfer_client client;
    void (*ended)(void *ctx, const struct analytical_message *m); // called when a message has
                                                                  // arrived; may be NULL
    void *ended_ctx;
    /* state */
    struct analytical_message **blocks; // blocks of ANALYTICAL_BLOCK messages, because timers must
                                        // not move
    size_t n_blocks;
    struct analytical_message *free_head;
    uint64_t n_running;
    ps_t *link_free_ps; // [link] end of the messages that it has to serve
    /* counters */
    uint64_t n_messages, posted_bytes, delivered_bytes, n_phases;
};

#define ANALYTICAL_BLOCK 256
#define ANALYTICAL_LONGEST_PS (PS_NEVER / 4) // 26 days; longer times are set to this

// Free everything and end the timers. A network is set up by filling the configuration of a zeroed
// struct.
void analytical_free(struct analytical *a);

// Returns the number of links between two ranks: the sum over the dimensions in which their
// coordinates differ.
uint32_t analytical_hops(const struct analytical *a, uint32_t src, uint32_t dst);

// Returns the time of a message in ps, a whole number of nanoseconds. Ranks that differ in several
// dimensions are reached through one dimension after the other, at the lowest of their bandwidths,
// unless first_dim (as in ASTRA-sim 2) or last_dim (as in ASTRA-sim 1.0).
ps_t analytical_message_ps(const struct analytical *a, uint32_t src, uint32_t dst, uint64_t bytes);

// Returns the bytes per ns that a rank sends in the innermost dimension in which two ranks differ,
// to all others at once; 0 if they are the same rank.
double analytical_bandwidth(const struct analytical *a, uint32_t src, uint32_t dst);

// The function transfer.post. When the message arrives, `delivered` is called, then `sent`.
void analytical_post(void *analytical, const struct transfer_request *request, ps_t now);

// The function transfer.phase: computes the cost of a phase that all members start at once. Returns
// false if it has no closed form.
bool analytical_phase(void *analytical, const struct coll_phase_call *call,
                      struct coll_phase_cost *cost);

// Returns the message interface of this network.
struct transfer analytical_transfer(struct analytical *a);

// Call `each` for every message in flight.
void analytical_each(const struct analytical *a, void *ctx,
                     void (*each)(void *ctx, const struct analytical_message *m));
