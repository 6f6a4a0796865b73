// SPDX-License-Identifier: MIT
// An algorithm for tests: an all-reduce in which rank 0 receives the vectors of `fan` ranks at a
// time, then sends the sum to `fan` ranks at a time. With p ranks and t = ceil((p - 1) / fan) it
// has 2 t steps.
#include "collective/algorithm/collective.h"

struct star_params {
    uint64_t fan;
};

static const struct param params[] = {
    PARAM_ROW("fan", COUNT, offsetof(struct star_params, fan), .def = "1", .min = "1",
              .max = "1000", .help = "ranks that exchange with rank 0 at a time",
              .source = "this test"),
};

static uint32_t fan(const struct coll_shape *shape)
{
    const struct star_params *p = shape->params;
    return p ? (uint32_t)p->fan : 1;
}

static uint32_t turns(const struct coll_shape *shape)
{
    return (shape->ranks - 1 + fan(shape) - 1) / fan(shape);
}

static bool star_supports(const struct coll_shape *shape, const char **why)
{
    *why = "it only reduces and sends back: all_reduce";
    return coll_shape_valid(shape, why) && shape->op == COLL_ALL_REDUCE;
}

static uint32_t star_steps(const struct coll_shape *shape) { return 2 * turns(shape); }

// Number of ranks that exchange in a turn, from rank 1 + turn * fan on.
static uint32_t of_turn(const struct coll_shape *shape, uint32_t turn)
{
    uint32_t first = 1 + turn * fan(shape), left = shape->ranks - first;
    return left < fan(shape) ? left : fan(shape);
}

static bool has_turn(const struct coll_shape *shape, uint32_t rank, uint32_t turn)
{
    return rank > 0 && (rank - 1) / fan(shape) == turn;
}

static uint32_t star_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t t = turns(shape);
    if (step < t)
        return has_turn(shape, rank, step);
    return rank == 0 ? of_turn(shape, step - t) : 0;
}

static uint32_t star_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t t = turns(shape);
    if (step >= t)
        return has_turn(shape, rank, step - t);
    return rank == 0 ? of_turn(shape, step) : 0;
}

static struct coll_send star_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                  uint32_t k)
{
    bool in = rank > 0;
    uint32_t out = 1 + (step - turns(shape)) * fan(shape) + k;
    return (struct coll_send){
        .peer = in ? 0 : out, .peer_step = step, .bytes = shape->bytes, .reduce = in};
}

extern const struct coll_algorithm coll_star;
const struct coll_algorithm coll_star = {
    .name = "star",
    .doc = "everything through rank 0",
    .source = "a test",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct star_params),
    .supports = star_supports,
    .steps = star_steps,
    .n_sends = star_n_sends,
    .send = star_send,
    .n_recvs = star_n_recvs,
};
