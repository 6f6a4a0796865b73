// SPDX-License-Identifier: MIT
// What all collective algorithms share: names, segments, bus factor, the sum over a program.
#include "collective/collective.h"

#include <string.h>

static const char *const op_names[COLL_OPS] = {
    [COLL_ALL_REDUCE] = "all_reduce",
    [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_ALL_GATHER] = "all_gather",
    [COLL_ALL_TO_ALL] = "all_to_all",
};

const char *coll_op_name(enum coll_op op) { return op_names[op]; }

int coll_op_find(const char *name, enum coll_op *op)
{
    for (unsigned i = 0; i < COLL_OPS; i++) {
        if (strcmp(name, op_names[i]) == 0) {
            *op = (enum coll_op)i;
            return 0;
        }
    }
    return -1;
}

uint64_t coll_segment(const struct coll_shape *shape, uint32_t i)
{
    // floor(i * bytes / ranks) without the product, which may pass 64 bits.
    uint64_t whole = shape->bytes / shape->ranks, rest = shape->bytes % shape->ranks;
    return whole * i + rest * i / shape->ranks;
}

double coll_bus_factor(enum coll_op op, uint32_t ranks)
{
    double share = (double)(ranks - 1) / ranks;
    return op == COLL_ALL_REDUCE ? 2 * share : share;
}

uint64_t coll_bytes_sent(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t rank)
{
    uint64_t bytes = 0;
    uint32_t steps = a->steps(s);
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t n = a->n_sends(s, rank, step);
        for (uint32_t k = 0; k < n; k++)
            bytes += a->send(s, rank, step, k).bytes;
    }
    return bytes;
}
