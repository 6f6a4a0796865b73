// SPDX-License-Identifier: MIT
// The state of a simulation: the rooms that it consists of, and how its run went.
#pragma once

#include "engine/loop.h"
#include "sim/delivery/delivery.h"
#include "sim/observe/captures.h"
#include "sim/observe/sample.h"
#include "sim/parallel/parallel.h"
#include "sim/sim.h"
#include "workload/workload.h"

#define SIM_LONGEST_PS (PS_NEVER / 4) // 26 days: sums of times stay in range

struct sim {
    const struct spec *spec;
    struct fabric fabric;
    struct ideals ideals;
    struct delivery delivery;
    struct workload workload;
    struct parallel parallel;
    struct captures *captures; // NULL = not opened
    struct sampler *sampler;   // NULL = none requested
    ps_t *start_jitter_ps;
    ps_t *start_noise_ps; // NULL = none
    /* the run */
    struct loop_requests requests;
    struct sim_timer stall;
    bool stalled, idle;
    bool left;                   // a watchdog has left the run within an event
    double began_s, began_cpu_s; // by the clocks of sim/run.c
    double wall_s, cpu_s;
    enum loop_end end;
    uint32_t lost_process; // 1 + number of one that did not answer at the end; 0 = none
};

// True if the result of this process is void: another one has it, or they could not share the
// simulation.
static inline bool sim_has_no_result(const struct sim *sim)
{
    const struct collwire_processes *all = sim->parallel.processes;
    return all && (all->rank > 0 || !sim->fabric.shards);
}
