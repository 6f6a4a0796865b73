// SPDX-License-Identifier: MIT
// A simulation on several threads: its nodes in shards (engine/shards.h), and for each shard the
// structs of network, switches and hosts that refer to it.
//
// State that crosses between shards or concerns all of them, and when it is handled:
//   packets, with their meta-data, PFC frames     by mail, at a window's end (net/crossing.h)
//   messages, steps of collectives, paths         each rank touches what is its own
//                                                 (delivery_shard), else under the lock
//   programs, libraries, ends of phases           under the lock: each rank touches its own
//   records, ends of collectives and jobs         deferred to the window's end, in event order
//   faults, routes, samples, the stall rule,      events of the common engine: the shards rest
//   measurements of links
//   the end of the run, programs that read on     windows in which they are possible run on one
//   when nothing is left to happen, failures      thread
// Any other feature that needs the order of events states so (fabric_needs_order()) and keeps the
// whole simulation on one thread.
#pragma once

#include "collwire/processes.h"
#include "engine/shards.h"
#include "sim/delivery/delivery.h"
#include "workload/workload.h"

struct parallel {
    struct fabric *fabric;
    struct delivery *delivery;
    struct workload *workload;
    const struct collwire_processes *processes; // NULL = there is one
    uint32_t threads;                           // requested of each process
    uint32_t tiles;       // requested of each thread; 0 = by the size of the network, 1 = none
    bool always_together; // however few events a window has
    char why[200];        // why there are fewer, or what they cost
    /* while the fabric is divided */
    ps_t ends_ps;               // a posted message does not end before this time; 0 = not known
    uint32_t witness;           // a flow that could not end within the window at the last check
    uint64_t frames_per_window; // most frames that all ports can send
    uint64_t look_at;           // number of events at which another witness is searched for
};

void parallel_init(struct parallel *parallel, struct delivery *delivery, struct workload *workload);

// Returns 0 if the processes can share the simulation, or -1 with the reason in parallel->why.
int parallel_check(struct parallel *parallel);

// Divide a simulation that has not begun among its threads, if there are several. parallel->why
// states what limits their number, if there are fewer than requested. Returns true if it is
// divided.
bool parallel_shard(struct parallel *parallel);

// Put the results of the shards together, and end the threads. Returns their processor time in
// seconds, beyond that of the caller's thread.
double parallel_unite(struct parallel *parallel);

// Returns counts and shares of the threads' work; to be called after parallel_unite().
struct threads_result parallel_result(const struct parallel *parallel);

// Returns the number of tiles that one thread divides a network of so many ports into at most.
uint32_t parallel_tiles_of(uint32_t n_ports);

// The cut of a graph into at most `n` parts, shards or tiles.
#define PARTS_MAX 4096
struct cut_result {
    uint32_t shards;
    ps_t lookahead_ps; // the least time that anything takes from one shard to another
    uint32_t longer;   // number of fewer shards that are at least longer_ps apart; 0 = none
    ps_t longer_ps;
};
// The parts are joined by the longest links at which there are at least `enough` of them.
struct cut_result parallel_cut(const struct fabric *fabric, uint32_t n, uint32_t enough,
                               uint16_t *part_of); // [n_nodes + 1]
