// SPDX-License-Identifier: MIT
// Direct collectives: everyone talks to everyone at once, in one step (two for an all-reduce).
//
// Reduce-scatter: rank r sends segment i to rank i, for all i. All-gather: rank r sends its segment
// to all. An all-reduce is the one after the other. The fewest steps and the largest incast: p - 1
// messages meet at every rank. Rank r begins with rank r + 1, so that the first packets of all
// ranks go to different places.
// Source: the "direct" algorithm of ASTRA-sim (Rashidi et al., ISPASS 2020); Thakur, Rabenseifner,
// Gropp, IJHPCA 2005.
#include "collective/collective.h"

static bool direct_supports(const struct coll_shape *shape, const char **why)
{
    if (shape->ranks > 0)
        return true;
    *why = "direct needs at least one rank";
    return false;
}

static uint32_t direct_steps(const struct coll_shape *shape)
{
    if (shape->ranks == 1)
        return 0;
    return shape->op == COLL_ALL_REDUCE ? 2 : 1;
}

static uint32_t direct_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)rank;
    (void)step;
    return shape->ranks - 1;
}

static struct coll_send direct_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                    uint32_t k)
{
    uint32_t peer = (uint32_t)(((uint64_t)rank + k + 1) % shape->ranks);
    bool gather = shape->op == COLL_ALL_GATHER || step == 1;
    uint32_t segment = gather ? rank : peer;
    uint64_t first = coll_segment(shape, segment);
    uint64_t bytes = coll_segment(shape, segment + 1) - first;
    bool exchange = shape->op == COLL_ALL_TO_ALL; // the peer's receive buffer has equal blocks
    return (struct coll_send){
        .peer = peer,
        .peer_step = step,
        .src_offset = first,
        .dst_offset = exchange ? rank * bytes : first,
        .bytes = bytes,
        .reduce = !gather && !exchange,
    };
}

extern const struct coll_algorithm coll_direct;
const struct coll_algorithm coll_direct = {
    .name = "direct",
    .doc = "everyone to everyone at once; the fewest steps, the largest incast",
    .source = "Rashidi et al., ISPASS 2020",
    .supports = direct_supports,
    .steps = direct_steps,
    .n_sends = direct_fan,
    .send = direct_send,
    .n_recvs = direct_fan,
};
