// SPDX-License-Identifier: MIT
// Records of running collectives: their phases, the use of dimensions, and the timeline of the
// first ranks of a job.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "collective/communicator.h"
#include "engine/base/names.h"
#include "engine/critical_path.h"

// All phases of one operation along one dimension that have the same place in their chunk's order.
struct phase_record {
    uint8_t dim, op; // as in coll_phase
    uint8_t place;   // number of the chunk's phases before it
    const struct coll_algorithm *algorithm;
    ps_t start_ps, end_ps; // first start, last end; PS_NEVER = not known yet
    uint32_t open;         // phases now running
    uint64_t bytes, messages;
    ps_sum_t queueing_ps; // sum over ranks and chunks of the time from ready to start
    uint64_t waits;       // number of terms in queueing_ps
    ps_sum_t network_ps;  // sum over messages of the time from post to delivery
    uint64_t on_the_way;  // messages posted and not delivered; of them network_ps has only the post
    ps_sum_t running_ps;  // sum over phases that have ended of the time from their start
    uint64_t ended;       // number of terms in running_ps
    ps_t critical[PATH_CAUSES]; // of the collective's critical path
};

struct dim_record {
    uint64_t bytes;
    ps_sum_t busy_ps; // sum over groups of the time in which a phase ran
};

// The critical path of a collective: its time by cause, and the largest times by place. The parts
// add up to the whole time.
struct critical_record {
    bool known;
    ps_t parts[PATH_CAUSES];
    struct path_place *places; // [n_places] the largest first
    uint32_t n_places;
    ps_t elsewhere_ps, error_ps; // at other places; the most by which a time is too small
};
#define RECORD_PLACES 8

// What a library has chosen for a collective; `channels` 0 = no library has run it.
struct executor_record {
    bool exchanges;      // between pairs of ranks, by no algorithm
    bool xml;            // by the algorithm of a file
    bool mpi;            // by processes of Open MPI
    bool limited;        // struct executor_choice
    const char *library; // "NCCL" or "RCCL"
    const char *algorithm, *protocol;
    uint32_t channels, threads; // that have data; of a channel, 0 = not known
    uint32_t blocks;            // of a rank at most, of a file
    uint64_t chunk_bytes;       // of the first channel; of a file, of what a loop handles
};

struct collective_record {
    // numbers among the job's communicators and the communicator's collectives
    uint32_t job, comm, number;
    uint32_t opener;             // rank of the network that issued the collective first
    struct comm_request request; // its name belongs to the recorder
    const struct coll_schedule *schedule;
    const uint32_t *ranks; // [member] rank of the network; NULL = the same number
    // start of the first rank; last byte of the last rank (PS_NEVER = not finished)
    ps_t start_ps, end_ps;
    ps_t last_start_ps; // of the last rank, so far
    uint32_t ranks_done;
    struct critical_record critical;
    struct executor_record library;
    uint32_t n_phases, n_dims; // n_dims: those of the schedule plus one for all ranks at once
    struct phase_record *phases;
    struct dim_record *dims;
};

// Index of a phase among the record's phases; adds it if it is new.
uint8_t record_phase(struct collective_record *r, const struct coll_phase *phase, uint32_t place,
                     const struct coll_algorithm *algorithm);

// Sum the record's phases into `kinds`, which has one phase for each pair of an operation and a
// dimension; phases that differ only in their place are added up. The caller zeroes `kinds` before
// the first call and frees it with record_free().
void record_kinds(const struct collective_record *r, struct collective_record *kinds);

// Add bytes, messages and sums of times of `p` to `sum`.
void phase_record_add(struct phase_record *sum, const struct phase_record *p);

// Mean over ranks and chunks; mean over messages; 0 if there are none.
ps_t phase_record_queueing_ps(const struct phase_record *p);
ps_t phase_record_network_ps(const struct phase_record *p);

void record_free(struct collective_record *r);

// The records of all collectives of a run.
struct recorder {
    struct collective_record *records;
    size_t n, cap;
    struct name_pool names;
};
void recorder_free(struct recorder *recorder);

// Name flows by other handles (engine/critical_path.h).
void recorder_renumber(const struct recorder *recorder, const struct flow_numbers *numbers);

// Count messages that are still on their way from the start of the collective. To be called after
// the run.
void recorder_settle(const struct recorder *recorder);

// Sort the records by start, then by opener, job, communicator and number, so that the order does
// not depend on the order of simultaneous events. To be called after the run, since open
// collectives refer to records by index.
void recorder_sort(const struct recorder *recorder);

/* ---- dimensions in use: how much of each step of time their queues hold something ---- */

#define DIM_USE_STEP_PS (10 * PS_PER_US)
#define DIM_USE_STEPS (1u << 20) // beyond this the step length doubles

struct dim_use {
    /* config */
    uint32_t n_dims;
    uint32_t queues[COLL_MAX_DIMS + 1]; // [dim]
    /* state */
    ps_t step_ps;
    int64_t *busy_ps; // [step * n_dims + dim] sum over the queues of the dimension
    size_t n, cap;    // number of steps
};

// `queues`: number of queues of each dimension.
void dim_use_init(struct dim_use *u, uint32_t n_dims, const uint32_t *queues);
void dim_use_free(struct dim_use *u);

// Add the time [from, to], in which a queue of the dimension was not empty.
void dim_use_add(struct dim_use *u, uint32_t dim, ps_t from, ps_t to);

// Mean over the dimension's queues of the time within step `step` in which they were not empty, in
// ps.
double dim_use_ps(const struct dim_use *u, size_t step, uint32_t dim);

/* ---- timeline: phases and computations of the first ranks of a job ---- */

enum slice_kind { SLICE_COMPUTE, SLICE_WAIT, SLICE_PHASE, SLICE_COMMUNICATION };

struct timeline_slice {
    ps_t begin_ps, end_ps;
    const char *layer; // NULL: a wait for all open collectives
    uint32_t rank;     // index in the job
    uint8_t kind;      // enum slice_kind
    uint8_t part;      // enum training_part; unused for a phase
    uint8_t dim, op;   // for a phase, as in coll_phase
    uint32_t chunk;
};

#define TIMELINE_SLICES 1000000 // later slices are dropped

struct timeline {
    /* config */
    uint32_t n_ranks; // ranks recorded; 0 = none
    /* state */
    struct timeline_slice *slices;
    size_t n, cap;
};

static inline bool timeline_wants(const struct timeline *t, uint32_t rank)
{
    return t != NULL && rank < t->n_ranks;
}

// Add a slice of a recorded rank, in an event of the engine; slices of zero length are dropped. The
// slices are in the order of events, so the limit drops the same ones for any number of threads.
void timeline_add(struct engine *engine, struct timeline *t, const struct timeline_slice *slice);
// Add a slice in work that has been deferred already.
void timeline_keep(struct timeline *t, const struct timeline_slice *slice);
