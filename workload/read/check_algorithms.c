// SPDX-License-Identifier: MIT
// Checks that the algorithms of a job's collectives fit its ranks and the network.
#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "workload/read/algorithms.h"
#include "workload/read/job_ranks.h"

// The operations that the phases of a collective may run along one dimension. Returns their number.
static uint32_t phase_ops(const struct coll_schedule *s, enum coll_op op, uint32_t dim,
                          enum coll_op out[3])
{
    bool whole = s->by_operation && s->choice[op][dim].algorithm->never_splits;
    out[0] = op;
    if (op != COLL_ALL_REDUCE || whole || s->n_dims == 1 || s->flat[op] ||
        (s->phases == COLL_BASELINE && s->order != COLL_THEMIS))
        return 1;
    out[1] = COLL_REDUCE_SCATTER;
    out[2] = COLL_ALL_GATHER;
    return 3;
}

bool algorithm_supports(struct reader *r, const struct place *place, const struct coll_algorithm *a,
                        const struct coll_shape *shape)
{
    const char *why = "";
    if (a->supports(shape, &why))
        return true;
    place_error(r->err, place, "%s cannot run %s over %u ranks: %s", a->name,
                coll_op_name(shape->op), shape->ranks, why);
    return false;
}

bool algorithm_pairs(struct reader *r, const struct place *place, const struct job_spec *job,
                     const struct coll_algorithm *a, struct coll_shape shape,
                     const uint32_t *members)
{
    if (pairs_all_joined(r))
        return true;
    if (a->fallback) // where aggregators are missing; they reach all ranks of their dimension
        a = coll_find(a->fallback), shape.params = NULL;
    uint32_t steps = a->steps(&shape);
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t m = 0; m < shape.ranks; m++) {
            uint32_t n = a->n_sends(&shape, m, step);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t peer = a->send(&shape, m, step, k).peer;
                if (!pair_check(r, place, job, members ? members[m] : m,
                                members ? members[peer] : peer))
                    return false;
            }
        }
    return true;
}

static bool program_check(struct reader *r, const struct place *place, const struct job_spec *job,
                          const struct coll_schedule *s, const struct coll_choice *choice,
                          uint32_t dim, struct coll_shape shape)
{
    const struct coll_algorithm *a = choice->algorithm;
    struct place item = place_item(place, dim);
    shape.ranks = coll_group_size(s, dim);
    shape.params = choice->params;
    if (!algorithm_supports(r, json_is_array(place->json) ? &item : place, a, &shape))
        return false;
    uint32_t *members = memory_zeroed(shape.ranks, sizeof *members);
    bool good = true;
    for (uint32_t g = 0; g < coll_n_groups(s, dim) && good; g++) {
        for (uint32_t m = 0; m < shape.ranks; m++)
            members[m] = coll_rank_of(s, dim, g, m);
        good = algorithm_pairs(r, place->parent, job, a, shape, members);
    }
    free(members);
    return good;
}

bool algorithms_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct coll_schedule *s, uint32_t dims, const struct coll_shape *whole)
{
    enum coll_op ops[3];
    bool flat = s->flat[whole->op];
    for (uint32_t d = flat ? s->n_dims : 0; d < s->n_dims + flat; d++) {
        uint32_t n_ops = phase_ops(s, whole->op, d, ops);
        for (uint32_t o = 0; o < n_ops; o++) {
            struct coll_shape shape = *whole;
            struct coll_phase phase = {.dim = (uint8_t)d, .op = (uint8_t)ops[o]};
            shape.op = ops[o];
            if ((flat || dims >> d & 1) &&
                !program_check(r, place, job, s, coll_choice_at(s, whole->op, &phase), d, shape))
                return false;
        }
    }
    return true;
}
