// SPDX-License-Identifier: MIT
// Bruck's algorithms: ceil(log2 p) steps for any number of ranks; in step k messages go d = 2^k
// ranks far.
//
// All-gather: rank r has segments r .. r + d - 1 and sends them (in the last step only the missing
// ones) to rank r - d. All-to-all: a block with a distance of i = (destination - origin) mod p
// makes one hop for each bit set in i, lowest bit first: in step k rank r sends to rank r + d, in
// one message, its blocks whose i has bit k set; they come from origin r - (i mod d). These are
// about p/2 blocks per step, and each byte is sent about log2(p)/2 times: few messages with more
// bytes, which is good for small vectors. Barrier: an empty message to rank r + d (dissemination).
// The copying before and between the steps takes no time here.
// Sources: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8 (1997); the barrier: Hensgen, Finkel,
// Manber, Int. J. Parallel Programming 17 (1988).
#include "collective/algorithm/collective.h"

extern const struct coll_algorithm coll_bruck;

static bool bruck_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    if (shape->uneven != NULL) {
        *why = "blocks that it passes on must be alike; direct and ring take any";
        return false;
    }
    if (shape->op == COLL_ALL_GATHER || shape->op == COLL_ALL_TO_ALL || shape->op == COLL_BARRIER)
        return true;
    *why = "it only passes blocks on: all_gather, all_to_all and barrier";
    return false;
}

static uint32_t bruck_steps(const struct coll_shape *shape)
{
    uint32_t log2 = 0;
    while ((shape->ranks - 1) >> log2 != 0)
        log2++;
    return log2;
}

static uint32_t bruck_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)shape;
    (void)rank;
    (void)step;
    return 1;
}

// The number of integers below `ranks` that have this bit set.
static uint32_t with_bit(uint32_t ranks, uint32_t bit)
{
    uint32_t rest = ranks % (2 * bit);
    return ranks / (2 * bit) * bit + (rest > bit ? rest - bit : 0);
}

static struct coll_block bruck_block(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                     uint32_t k, uint32_t b)
{
    (void)k;
    uint32_t p = shape->ranks;
    if (shape->op == COLL_ALL_GATHER)
        return (struct coll_block){.segment = (rank + b) % p};
    uint32_t bit = UINT32_C(1) << step;
    uint32_t travelled = b % bit, to_go = b / bit * 2 * bit + bit; // distances; their sum is i
    return (struct coll_block){
        .segment = (rank + to_go) % p,
        .origin = (rank + p - travelled) % p,
    };
}

static struct coll_send bruck_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                   uint32_t k)
{
    uint32_t p = shape->ranks, hop = UINT32_C(1) << step;
    bool back = shape->op == COLL_ALL_GATHER;
    struct coll_send send = {.peer = (back ? rank + p - hop : rank + hop) % p, .peer_step = step};
    if (shape->op == COLL_BARRIER)
        return send;
    send.blocks = back ? (hop < p - hop ? hop : p - hop) : with_bit(p, hop);
    send.bytes = coll_blocks_bytes(&coll_bruck, shape, rank, step, k, send.blocks);
    return send;
}

const struct coll_algorithm coll_bruck = {
    .name = "bruck",
    .doc = "log2(p) hops of 1, 2, 4 .. ranks; few messages for more bytes in an all-to-all",
    .source = "Bruck et al., IEEE TPDS 8 (1997)",
    .supports = bruck_supports,
    .steps = bruck_steps,
    .n_sends = bruck_fan,
    .send = bruck_send,
    .n_recvs = bruck_fan,
    .block = bruck_block,
};
