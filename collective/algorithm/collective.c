// SPDX-License-Identifier: MIT
// Functions shared by all collective algorithms: names, segments, bus factor, bytes sent.
#include "collective/algorithm/collective.h"

#include <string.h>

const char *const coll_op_names[COLL_OPS + 1] = {
    [COLL_ALL_REDUCE] = "all_reduce", [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_ALL_GATHER] = "all_gather", [COLL_ALL_TO_ALL] = "all_to_all",
    [COLL_BROADCAST] = "broadcast",   [COLL_REDUCE] = "reduce",
    [COLL_GATHER] = "gather",         [COLL_SCATTER] = "scatter",
    [COLL_SEND_RECV] = "send_recv",   [COLL_BARRIER] = "barrier",
};

const char *coll_op_name(enum coll_op op) { return coll_op_names[op]; }

int coll_op_find(const char *name, enum coll_op *op)
{
    for (unsigned i = 0; i < COLL_OPS; i++) {
        if (strcmp(name, coll_op_names[i]) == 0) {
            *op = (enum coll_op)i;
            return 0;
        }
    }
    return -1;
}

bool coll_op_rooted(enum coll_op op)
{
    return op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_GATHER || op == COLL_SCATTER;
}

bool coll_shape_valid(const struct coll_shape *shape, const char **why)
{
    if (shape->ranks == 0)
        *why = "there must be at least one rank";
    else if (shape->ranks > COLL_MAX_RANKS)
        *why = "more than 262144 ranks";
    else if (coll_op_rooted(shape->op) && shape->root >= shape->ranks)
        *why = "the root is not among the ranks";
    else
        return true;
    return false;
}

uint64_t coll_segment(const struct coll_shape *shape, uint32_t i)
{
    // floor(i * bytes / ranks), without computing the product, which may exceed 64 bits.
    uint64_t whole = shape->bytes / shape->ranks, rest = shape->bytes % shape->ranks;
    return whole * i + rest * i / shape->ranks;
}

static uint64_t uneven_bytes(const struct coll_shape *s, uint32_t rank, uint32_t peer)
{
    const struct coll_uneven *u = s->uneven;
    uint64_t whole = u->bytes[u->of_receiver ? peer : rank], chunks = s->chunks ? s->chunks : 1;
    uint64_t piece = whole / chunks; // the last chunk takes the remainder
    struct coll_shape own = {.ranks = s->ranks,
                             .bytes = s->chunk + 1 >= chunks ? whole - s->chunk * piece : piece};
    uint32_t segment = u->of_receiver ? rank : peer;
    return coll_segment(&own, segment + 1) - coll_segment(&own, segment);
}

struct coll_send coll_exchange(const struct coll_shape *shape, uint32_t rank, uint32_t peer,
                               uint32_t step)
{
    struct coll_send send = {.peer = peer, .peer_step = step};
    if (shape->uneven != NULL) {
        send.bytes = uneven_bytes(shape, rank, peer);
        return send;
    }
    send.src_offset = coll_segment(shape, peer);
    send.bytes = coll_segment(shape, peer + 1) - send.src_offset;
    send.dst_offset = rank * send.bytes; // the peer's receive buffer has equal blocks
    return send;
}

double coll_bus_factor(enum coll_op op, uint32_t ranks)
{
    // Factors of NCCL's tests: the share of the data that has to cross the link of each rank.
    double share = (double)(ranks - 1) / ranks;
    switch (op) {
    case COLL_ALL_REDUCE:
        return 2 * share;
    case COLL_BROADCAST:
    case COLL_REDUCE:
    case COLL_SEND_RECV:
        return 1;
    case COLL_BARRIER:
        return 0;
    default:
        return share;
    }
}

uint64_t coll_blocks_bytes(const struct coll_algorithm *a, const struct coll_shape *s,
                           uint32_t rank, uint32_t step, uint32_t k, uint32_t blocks)
{
    if (s->bytes % s->ranks == 0) // all segments are equal
        return blocks * (s->bytes / s->ranks);
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t segment = a->block(s, rank, step, k, b).segment;
        bytes += coll_segment(s, segment + 1) - coll_segment(s, segment);
    }
    return bytes;
}

uint32_t coll_members(const struct coll_algorithm *a, const struct coll_shape *shape)
{
    return a->members ? a->members(shape) : shape->ranks;
}

uint32_t coll_member_steps(const struct coll_algorithm *a, const struct coll_shape *shape,
                           uint32_t member)
{
    return a->member_steps ? a->member_steps(shape, member) : a->steps(shape);
}

uint64_t coll_bytes_sent(const struct coll_algorithm *a, const struct coll_shape *s, uint32_t rank)
{
    uint64_t bytes = 0;
    uint32_t steps = coll_member_steps(a, s, rank);
    for (uint32_t step = 0; step < steps; step++) {
        uint32_t n = a->n_sends(s, rank, step);
        for (uint32_t k = 0; k < n; k++)
            bytes += a->send(s, rank, step, k).bytes;
    }
    return bytes;
}

uint64_t coll_bytes_of_all(const struct coll_algorithm *a, const struct coll_shape *s)
{
    // The closed forms hold for equal parts only.
    uint64_t bytes = a->total && !s->uneven ? a->total(s) : COLL_SUM;
    if (bytes != COLL_SUM)
        return bytes;
    bytes = 0;
    for (uint32_t m = 0; m < coll_members(a, s); m++)
        bytes += coll_bytes_sent(a, s, m);
    return bytes;
}

uint64_t coll_total_by_segments(const struct coll_shape *shape)
{
    uint64_t others = shape->ranks - 1;
    switch (shape->op) {
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_GATHER:
    case COLL_ALL_TO_ALL:
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return others * shape->bytes;
    case COLL_ALL_REDUCE:
        return 2 * others * shape->bytes;
    default:
        return COLL_SUM;
    }
}
