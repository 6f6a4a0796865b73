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

void phase_record_add(struct phase_record *sum, const struct phase_record *p)
{
    sum->bytes += p->bytes;
    sum->messages += p->messages;
    sum->queueing_ps += p->queueing_ps;
    sum->waits += p->waits;
    sum->network_ps += p->network_ps;
}

ps_t phase_record_queueing_ps(const struct phase_record *p)
{
    return p->waits > 0 ? (ps_t)(p->queueing_ps / (double)p->waits) : 0;
}

ps_t phase_record_network_ps(const struct phase_record *p)
{
    return p->messages > 0 ? (ps_t)(p->network_ps / (double)p->messages) : 0;
}

void record_free(struct collective_record *r)
{
    free(r->phases);
    free(r->dims);
}
