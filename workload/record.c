// SPDX-License-Identifier: MIT
// Records grow with the kinds of phases that their chunks have.
#include "workload/record.h"

#include <stdlib.h>

#include "engine/memory.h"

uint8_t record_phase(struct collective_record *r, const struct coll_phase *phase,
                     const struct coll_algorithm *algorithm)
{
    uint32_t i = 0;
    while (i < r->n_phases && (r->phases[i].dim != phase->dim || r->phases[i].op != phase->op))
        i++;
    if (i == r->n_phases) {
        r->phases = memory_resize(r->phases, ++r->n_phases, sizeof *r->phases);
        r->phases[i] = (struct phase_record){.dim = phase->dim,
                                             .op = phase->op,
                                             .algorithm = algorithm,
                                             .start_ps = PS_NEVER,
                                             .end_ps = PS_NEVER};
    }
    return (uint8_t)i;
}

void record_free(struct collective_record *r)
{
    free(r->phases);
    free(r->dims);
}
