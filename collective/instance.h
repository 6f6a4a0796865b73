// SPDX-License-Identifier: MIT
// A running collective: the phases of its chunks and the progress of every rank.
#pragma once

#include "collective/algorithm/grid.h"
#include "collective/algorithm/phase_plan.h"
#include "collective/communicator.h"

struct phase_run;

struct busy {                // use of a dimension by one group
    uint32_t running, begun; // phases
    ps_t since_ps;
};

struct instance {
    /* config */
    struct comm_request request;
    // index among the communicator's collectives; the member that issued it first
    uint32_t number, opener;
    int64_t priority;
    ps_t start_ps;
    uint64_t bytes;                        // of the request, as they are sent
    uint32_t n_chunks, n_phases;           // phases of each chunk
    struct coll_phase *phases;             // [chunk * n_phases + i]
    uint8_t *record_phase;                 // [same] index of the record's phase
    uint32_t *first_run;                   // [same] first of its groups in `runs`
    uint32_t phases_of[COLL_MAX_DIMS + 1]; // [dim] sum over all chunks
    uint32_t span;                         // ranks of a group that takes part together
    size_t record;                         // index in the recorder
    struct executor_run **libraries;       // [group of ranks]; NULL = phases or streams
    struct communicator *comm;             // of a library's collective
    /* state */
    struct phase_run **runs;                // NULL = not begun or ended
    uint8_t *at;                            // [chunk * ranks + rank] its current phase
    uint32_t *chunks_left;                  // [rank]
    uint32_t *tickets;                      // [rank] as issued
    uint32_t *members_begun, *members_over; // [as runs] ranks that have begun and ended the phase
    uint32_t ranks_left, runs_open;
    uint32_t n_issued, last_member;
    ps_t last_issue_ps; // by last_member
    struct busy *busy;  // [first_group of dim + group]
};

// Create a collective and plan all its chunks; n_phases is 0 if there is nothing to do.
struct instance *instance_new(struct coll_planner *planner, const struct comm_request *request,
                              ps_t now);
void instance_free(struct instance *in);

// Chunk `c` as a byte range of the vector.
struct coll_range instance_chunk(const struct instance *in, uint32_t c);

// The arguments of the algorithm for phase `i` of a chunk in a group.
struct coll_shape instance_shape(const struct coll_schedule *s, const struct instance *in,
                                 uint32_t chunk, uint32_t i, uint32_t group);

static inline const struct coll_phase *instance_phase(const struct instance *in, uint32_t chunk,
                                                      uint32_t i)
{
    return &in->phases[(size_t)chunk * in->n_phases + i];
}

// Bytes that the ranks of a group send in a phase: the sum over all steps, cached for later phases
// with the same arguments. `kept`: [VOLUMES_KEPT], zeroed at first.
#define VOLUMES_KEPT 64
struct volume { // a phase, the bytes of its vector and the result
    const struct coll_algorithm *algorithm;
    struct coll_phase phase;
    const struct coll_reduction *reduction;
    uint64_t bytes;
};
uint64_t volume_of(const struct coll_algorithm *a, const struct coll_phase *phase,
                   const struct coll_shape *shape, struct volume *kept);
