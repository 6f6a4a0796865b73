// SPDX-License-Identifier: MIT
// A collective while it runs: the phases of its chunks, and where every rank is.
#pragma once

#include "collective/grid.h"
#include "collective/plan.h"
#include "workload/system.h"

struct phase_run;

struct busy { // a group in a dimension
    uint32_t running;
    ps_t since_ps;
};

struct instance {
    /* config */
    struct system_request request;
    uint32_t number;
    int64_t priority;
    ps_t start_ps;
    uint32_t n_chunks, n_phases; // of every chunk
    struct coll_phase *phases;   // [chunk * n_phases + i]
    uint8_t *record_phase;       // the same: of the record's phases
    uint32_t *first_run;         // the same: of its groups in `runs`
    uint32_t span;               // ranks that take part together
    size_t record;               // of the workload's
    /* state */
    struct phase_run **runs; // NULL = not begun, or ended
    uint8_t *at;             // [chunk * ranks + rank] the phase it is in
    uint32_t *chunks_left;   // [rank]
    uint32_t ranks_left, runs_open;
    struct busy *busy; // [first_group of dim + group]
};

// Plans all chunks. `ranks` of the job; n_phases is 0 where there is nothing to do.
struct instance *instance_new(struct coll_planner *planner, const struct system_request *request,
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
