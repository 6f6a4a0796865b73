// SPDX-License-Identifier: MIT
// Ring collectives: every rank passes one segment per step to its neighbour.
//
// Reduce-scatter: in step s of p - 1, rank r sends segment r - s - 1 to rank r + 1, which adds it;
// rank r ends with the sum of segment r. All-gather: in step s rank r passes segment r - s on. An
// all-reduce is the one after the other. Each rank sends (p-1)/p of the vector in either.
// Bidirectional: every segment is halved; the lower half goes up the ring as above, the upper half
// goes down it (the mirror image), so that both directions of every link carry half.
// All-to-all does not forward: in step s rank r sends straight to rank r + s + 1 and hears from
// r - s - 1, the shifted exchange that NCCL makes of its point-to-point calls. It has no direction;
// `bidirectional` changes nothing there.
// Sources: Patarasuk, Yuan, JPDC 69 (2009), section 4; Thakur, Rabenseifner, Gropp, IJHPCA 2005.
#include "collective/collective.h"

static bool ring_supports(const struct coll_shape *shape, const char **why)
{
    if (shape->ranks > 0)
        return true;
    *why = "ring needs at least one rank";
    return false;
}

static uint32_t ring_steps(const struct coll_shape *shape)
{
    return (shape->ranks - 1) * (shape->op == COLL_ALL_REDUCE ? 2 : 1);
}

// Sends and receives per step alike: one each way round the ring.
static uint32_t ring_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)rank;
    (void)step;
    return shape->bidirectional && shape->op != COLL_ALL_TO_ALL ? 2 : 1;
}

// The rank `hops` (< p) further up the ring, or down it.
static uint32_t ring_walk(const struct coll_shape *shape, uint32_t rank, uint32_t hops, bool down)
{
    uint64_t up = down ? shape->ranks - hops : hops;
    return (uint32_t)((rank + up) % shape->ranks);
}

static struct coll_send shift_send(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t peer = ring_walk(shape, rank, step + 1, false);
    uint64_t own_bytes = coll_segment(shape, peer + 1) - coll_segment(shape, peer);
    return (struct coll_send){
        .peer = peer,
        .peer_step = step,
        .src_offset = coll_segment(shape, peer),
        .dst_offset = rank * own_bytes, // the peer's receive buffer has equal blocks
        .bytes = own_bytes,
    };
}

static struct coll_send ring_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                  uint32_t k)
{
    if (shape->op == COLL_ALL_TO_ALL)
        return shift_send(shape, rank, step);

    uint32_t p = shape->ranks;
    bool down = k == 1;
    bool reduce = shape->op != COLL_ALL_GATHER && step < p - 1;
    uint32_t behind = reduce ? step + 1 : shape->op == COLL_ALL_REDUCE ? step - (p - 1) : step;
    uint32_t segment = ring_walk(shape, rank, behind, !down);

    uint64_t first = coll_segment(shape, segment), last = coll_segment(shape, segment + 1);
    if (shape->bidirectional) {
        uint64_t middle = first + (last - first) / 2;
        first = down ? middle : first;
        last = down ? last : middle;
    }
    return (struct coll_send){
        .peer = ring_walk(shape, rank, 1, down),
        .peer_step = step,
        .src_offset = first,
        .dst_offset = first,
        .bytes = last - first,
        .reduce = reduce,
    };
}

extern const struct coll_algorithm coll_ring;
const struct coll_algorithm coll_ring = {
    .name = "ring",
    .doc = "one segment per step to the neighbour, one or both ways; all-to-all by shifts",
    .source = "Patarasuk, Yuan, JPDC 69 (2009)",
    .supports = ring_supports,
    .steps = ring_steps,
    .n_sends = ring_fan,
    .send = ring_send,
    .n_recvs = ring_fan,
};
