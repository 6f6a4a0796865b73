// SPDX-License-Identifier: MIT
// What is known of a collective operation once it has run: times, phases, dimensions.
#pragma once

#include "workload/system.h"

// All chunks' phases of one operation along one dimension.
struct phase_record {
    uint8_t dim, op; // as in coll_phase
    const struct coll_algorithm *algorithm;
    ps_t start_ps, end_ps; // first start, last end; PS_NEVER = not yet
    uint32_t open;         // that run
    uint64_t bytes, messages;
    double queueing_ps; // sum over ranks and chunks of the time from ready to begun
    uint64_t waits;     // so many
    double network_ps;  // sum over messages of the time from post to delivery
};

struct dim_record {
    uint64_t bytes;
    double busy_ps; // mean over its groups of the time in which a phase ran
};

struct collective_record {
    uint32_t job, number; // number of the collective within its job
    const struct system_request *request;
    const struct coll_schedule *schedule;
    ps_t start_ps, end_ps; // first rank's start; last rank's last byte (PS_NEVER = not finished)
    uint32_t ranks_done;
    uint32_t n_phases, n_dims; // n_dims: of the schedule, and one for all ranks at once
    struct phase_record *phases;
    struct dim_record *dims;
};

// The place of a phase among the record's, made where it is new.
uint8_t record_phase(struct collective_record *r, const struct coll_phase *phase,
                     const struct coll_algorithm *algorithm);

// Adds bytes, messages and the sums of times.
void phase_record_add(struct phase_record *sum, const struct phase_record *p);

// Mean over ranks and chunks, over messages; 0 where there are none.
ps_t phase_record_queueing_ps(const struct phase_record *p);
ps_t phase_record_network_ps(const struct phase_record *p);

void record_free(struct collective_record *r);
