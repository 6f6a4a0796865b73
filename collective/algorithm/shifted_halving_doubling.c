// SPDX-License-Identifier: MIT
// Halving and doubling for a distributed loop network: in every step the partner is one link away.
//
// Servers are connected as a ring with additional links to the servers 2, 4, .. further in both
// directions (topology kind `dln`); each has ranks_per_server consecutive ranks. All numbers are
// powers of two. A rank always exchanges with the rank whose number differs in one bit: a low bit
// gives a rank of the same server, high bit k a server at distance 2^k in one of the directions, so
// one link away.
// Halving takes the bits in some order and in each step sends the segments of all ranks that agree
// with the partner in the bits so far; doubling reverses the order and sends all it has. This is
// correct for any order of bits that both partners share. Bits of the server come first, so that
// each rank sends only its part of the vector to other servers. If all ranks of a server used the
// same distance at a time, they would share one link while the others are idle. So in a group of g
// ranks, rank i uses the distances from 2^i on, cyclically, and in each step g distances are in
// use. g is the largest of 1, 2, 4, 16, 256 (2^2^i) with g <= ranks per server and 2^g <= servers.
// The bytes are those of halving_doubling, (p-1)/p of the vector in each of halving and doubling (p
// = all ranks).
// Source of the exchange: Thakur, Rabenseifner, Gropp, IJHPCA 2005, section 4.5. The shifted order
// is that of the function allreduce_ntt_shd in the public repository
// TruongThaoNguyen/allreduce_simulate.
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"

extern const struct coll_algorithm coll_shifted_halving_doubling;

static const struct param shd_params[] = {
    PARAM_ROW("ranks_per_server", COUNT, offsetof(struct coll_shifted_params, ranks_per_server),
              .def = "auto", .min = "1", .can_auto = true,
              .help = "shifted_halving_doubling: consecutive ranks that share a server; auto = the "
                      "innermost dimension, 1 where there is but one"),
};

static bool power_of_two(uint32_t n) { return n > 0 && (n & (n - 1)) == 0; }

static uint32_t log2_of(uint32_t n)
{
    uint32_t log2 = 0;
    while (n >> (log2 + 1) != 0)
        log2++;
    return log2;
}

static uint32_t ranks_per_server(const struct coll_shape *shape)
{
    const struct coll_shifted_params *p = shape->params;
    if (p != NULL && p->ranks_per_server != PARAM_AUTO)
        return (uint32_t)p->ranks_per_server;
    return shape->inner > 0 ? shape->inner : 1;
}

static bool shd_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    if (shape->op != COLL_ALL_REDUCE && shape->op != COLL_REDUCE_SCATTER &&
        shape->op != COLL_ALL_GATHER)
        *why = "it halves and doubles: all_reduce, reduce_scatter and all_gather only";
    else if (!power_of_two(ranks_per_server(shape)))
        *why = "ranks_per_server must be a power of two";
    else if (shape->ranks % ranks_per_server(shape) != 0)
        *why = "ranks_per_server does not divide the ranks";
    else if (!power_of_two(shape->ranks))
        *why = "the servers must be a power of two";
    else
        return true;
    return false;
}

static uint32_t group_size(const struct coll_shape *shape)
{
    uint32_t local = ranks_per_server(shape), distances = log2_of(shape->ranks / local);
    uint32_t g = 1;
    for (uint32_t next = 2; next <= local && next <= distances; next *= next)
        g = next;
    return g;
}

// The bit in which the partner of halving step s differs, s < log2(ranks).
static uint32_t exchange_bit(const struct coll_shape *shape, uint32_t rank, uint32_t s)
{
    uint32_t local = ranks_per_server(shape), local_bits = log2_of(local);
    if (s < local_bits)
        return UINT32_C(1) << (local_bits - 1 - s);
    uint32_t shift = rank % local % group_size(shape);
    uint32_t distance = (s - local_bits + shift) % log2_of(shape->ranks / local);
    return UINT32_C(1) << (local_bits + distance);
}

static uint32_t shd_steps(const struct coll_shape *shape)
{
    return log2_of(shape->ranks) * (shape->op == COLL_ALL_REDUCE ? 2 : 1);
}

// One message in each direction in every step.
static uint32_t shd_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)shape;
    (void)rank;
    (void)step;
    return 1;
}

static bool is_halving(const struct coll_shape *shape, uint32_t step)
{
    return shape->op != COLL_ALL_GATHER && step < log2_of(shape->ranks);
}

// The halving step that this step is, or that this step of doubling reverses.
static uint32_t halving_of(const struct coll_shape *shape, uint32_t step)
{
    return is_halving(shape, step) ? step : shd_steps(shape) - 1 - step;
}

static struct coll_block shd_block(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                   uint32_t k, uint32_t b)
{
    (void)k;
    uint32_t s = halving_of(shape, step);
    uint32_t segment = is_halving(shape, step) ? rank ^ exchange_bit(shape, rank, s) : rank;
    for (uint32_t i = s + 1; i < log2_of(shape->ranks); i++, b /= 2) { // the bits not used so far
        uint32_t bit = exchange_bit(shape, rank, i);
        segment = b % 2 == 1 ? segment | bit : segment & ~bit;
    }
    return (struct coll_block){.segment = segment};
}

static struct coll_send shd_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                 uint32_t k)
{
    uint32_t s = halving_of(shape, step), n = log2_of(shape->ranks);
    struct coll_send send = {
        .peer = rank ^ exchange_bit(shape, rank, s),
        .peer_step = step,
        .blocks = UINT32_C(1) << (n - 1 - s),
        .reduce = is_halving(shape, step),
    };
    send.bytes =
        coll_blocks_bytes(&coll_shifted_halving_doubling, shape, rank, step, k, send.blocks);
    return send;
}

const struct coll_algorithm coll_shifted_halving_doubling = {
    .name = "shifted_halving_doubling",
    .doc = "halving and doubling over loop distances, in another order on each rank of a server",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .params = shd_params,
    .n_params = sizeof shd_params / sizeof *shd_params,
    .params_bytes = sizeof(struct coll_shifted_params),
    .supports = shd_supports,
    .steps = shd_steps,
    .n_sends = shd_fan,
    .send = shd_send,
    .n_recvs = shd_fan,
    .block = shd_block,
};
