// SPDX-License-Identifier: MIT
// The end of a run in several processes: process 0 gets the state of the network from the process
// that each part belongs to, so that it makes the result as if the run had one process. What is
// above the network (programs, messages, records, critical paths) all processes have.
#pragma once

#include "engine/parcel.h"
#include "sim/simulation.h"

// To be called once by all processes after the run, when the shards of each are united. In process
// 0 the flows of the others follow its own ones, process by process, and whatever refers to a flow
// has its new handle. Returns 0, or 1 + the number of a process that does not answer. It has no
// effect where the network is not divided among processes.
uint32_t sim_gather(struct sim *sim);

/* Its parts */

// The ranges of handles of each process's flows: those in the run, and in process 0 afterwards.
struct flow_range {
    uint32_t first, n; // in the run
    uint32_t at;       // afterwards
};
struct flow_ranges {
    struct flow_range *list; // [process]
    uint32_t n;
};

// Write the results of the nodes that this process simulates, or read those of another process.
void gather_network(struct parcel *p, struct sim *sim);
// Write the flows of this process and their series, or read those of another process; reading sets
// `range` to the flows read. The network must have been read before.
void gather_flows(struct parcel *p, struct sim *sim, struct flow_range *range);
// Let records and paths name flows by their handles afterwards.
void gather_renumber(struct sim *sim, const struct flow_ranges *ranges);
// Write how many bytes of unfinished messages have arrived, for those of the `n` flows that have a
// receiver in this process; `flows` are their handles in the run. The reader calls the second
// function, after it has read the flows of all processes.
void gather_write_receivers(struct parcel *p, struct sim *sim, const uint32_t *flows, size_t n);
void gather_read_receivers(struct parcel *p, struct sim *sim, const struct flow_ranges *ranges);
