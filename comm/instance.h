// SPDX-License-Identifier: MIT
// A collective while it runs: the phases of its chunks, and where every rank is.
#pragma once

#include "collective/grid.h"
#include "collective/plan.h"
#include "comm/communicator.h"

struct phase_run;

struct busy { // a group in a dimension
    uint32_t running;
    ps_t since_ps;
};

struct instance {
    /* config */
    struct comm_request request;
    uint32_t number, opener; // of the communicator's collectives; the member that issued it first
    int64_t priority;
    ps_t start_ps;
    uint32_t n_chunks, n_phases; // of every chunk
    struct coll_phase *phases;   // [chunk * n_phases + i]
    uint8_t *record_phase;       // the same: of the record's phases
    uint32_t *first_run;         // the same: of its groups in `runs`
    uint32_t span;               // ranks that take part together
    size_t record;               // of the recorder's
    /* state */
    struct phase_run **runs; // NULL = not begun, or ended
    uint8_t *at;             // [chunk * ranks + rank] the phase it is in
    uint32_t *chunks_left;   // [rank]
    uint32_t *tickets;       // [rank] as issued
    uint32_t ranks_left, runs_open;
    struct busy *busy; // [first_group of dim + group]
};

// Plans all chunks; n_phases is 0 where there is nothing to do.
struct instance *instance_new(struct coll_planner *planner, const struct comm_request *request,
                              ps_t now);
void instance_free(struct instance *in);

// Chunk `c` as a range of the vector.
struct coll_range instance_chunk(const struct instance *in, uint32_t c);

// The program of phase `i` of a chunk in a group.
struct coll_shape instance_shape(const struct coll_schedule *s, const struct instance *in,
                                 uint32_t chunk, uint32_t i, uint32_t group);

static inline const struct coll_phase *instance_phase(const struct instance *in, uint32_t chunk,
                                                      uint32_t i)
{
    return &in->phases[(size_t)chunk * in->n_phases + i];
}

// Bytes that the ranks of a group send in a phase: the sum over its program, kept for the next phase
// that is alike. `kept`: [VOLUMES_KEPT], zeroed at first.
#define VOLUMES_KEPT 64
struct volume { // of a phase with the bytes of its vector
    struct coll_phase phase;
    uint64_t bytes;
};
uint64_t volume_of(const struct coll_schedule *s, const struct coll_phase *phase,
                   const struct coll_shape *shape, struct volume *kept);
