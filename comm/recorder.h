// SPDX-License-Identifier: MIT
// What is written down while collectives run: their records, the use of dimensions, and the timeline
// of the first ranks of a job.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "comm/communicator.h"

// All chunks' phases of one operation along one dimension.
struct phase_record {
    uint8_t dim, op; // as in coll_phase
    const struct coll_algorithm *algorithm;
    ps_t start_ps, end_ps; // first start, last end; PS_NEVER = not yet
    uint32_t open;         // that run
    uint64_t bytes, messages;
    ps_sum_t queueing_ps; // sum over ranks and chunks of the time from ready to begun
    uint64_t waits;       // so many
    ps_sum_t network_ps;  // sum over messages of the time from post to delivery
};

struct dim_record {
    uint64_t bytes;
    ps_sum_t busy_ps; // sum over its groups of the time in which a phase ran
};

struct collective_record {
    uint32_t job, comm, number; // of the job's communicators; of the communicator's collectives
    uint32_t opener;            // rank of the network that issued it first
    const struct comm_request *request;
    const struct coll_schedule *schedule;
    const uint32_t *ranks; // of the network by member; NULL = the same numbers
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

// The records of a run.
struct recorder {
    struct collective_record *records;
    size_t n, cap;
};
void recorder_free(struct recorder *recorder);

// Puts the records into an order that does not depend on that of simultaneous events: by start, then the
// rank that issued first, job, communicator and number. After the run: open collectives do not find
// their records any more.
void recorder_sort(const struct recorder *recorder);

/* ---- dimensions in use: how much of each step of time their queues hold something ---- */

#define DIM_USE_STEP_PS (10 * PS_PER_US)
#define DIM_USE_STEPS (1u << 20) // then steps become twice as long

struct dim_use {
    /* config */
    uint32_t n_dims;
    uint32_t queues[COLL_MAX_DIMS + 1]; // [dim]
    /* state */
    ps_t step_ps;
    int64_t *busy_ps; // [step * n_dims + dim] sum over the dimension's queues
    size_t n, cap;    // steps
};

// `queues`: how many each of the dimensions has.
void dim_use_init(struct dim_use *u, uint32_t n_dims, const uint32_t *queues);
void dim_use_free(struct dim_use *u);

// A queue of the dimension held something from `from` to `to`.
void dim_use_add(struct dim_use *u, uint32_t dim, ps_t from, ps_t to);

// The share of step `step` in which the dimension's queues held something, in picoseconds.
double dim_use_ps(const struct dim_use *u, size_t step, uint32_t dim);

/* ---- timeline: what the first ranks of a job did when ---- */

enum slice_kind { SLICE_COMPUTE, SLICE_WAIT, SLICE_PHASE };

struct timeline_slice {
    ps_t begin_ps, end_ps;
    const char *layer; // NULL: of a wait, for all that is on its way
    uint32_t rank;     // of the job
    uint8_t kind;      // enum slice_kind
    uint8_t part;      // enum training_part; not of a phase
    uint8_t dim, op;   // of a phase, as in coll_phase
    uint32_t chunk;
};

#define TIMELINE_SLICES 1000000 // those that come later are left out

struct timeline {
    /* config */
    uint32_t n_ranks; // recorded; 0 = nothing is
    /* state */
    struct timeline_slice *slices;
    size_t n, cap;
};

static inline bool timeline_wants(const struct timeline *t, uint32_t rank)
{
    return t != NULL && rank < t->n_ranks;
}

// Of a rank that is recorded; slices without length are left out.
void timeline_add(struct timeline *t, const struct timeline_slice *slice);
