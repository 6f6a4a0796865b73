// SPDX-License-Identifier: MIT
// All-reduce of sparse vectors, such as the largest gradients (top k): messages hold pairs of an
// index and a value, and the plain values where that is shorter.
//
// sparse_doubling: recursive doubling; in step k a rank exchanges all that it has with the rank 2^k
// away. Ranks beyond a power of two first send to a partner among the others, and receive the
// result at the end. Latency log2 p; for few or very sparse values.
// sparse_split: the index range is split among the ranks; every rank sends each other rank its
// values of that rank's part, which the rank adds; then an all-gather of the sums (Bruck's, log2 p
// steps). With sums that are no longer sparse it is the dense variant of the paper (DSAR), else
// SSAR.
//
// Sizes: a vector has n values, and each rank holds each of them with probability d (`density`),
// independently. The sum of m ranks then has K(m) = n (1 - (1 - d)^m) values on average. Messages
// have this size, or with `support_seed` one drawn for each sum from the normal distribution with
// this mean and the binomial variance n q (1 - q), q = K(m)/n. K values are sent as min(K (index +
// value), n value) bytes.
// `density` is that of the vectors with which the phase begins, in every dimension.
// Not modelled: supports that resemble each other or gather in some layers, the time to select the
// values and to merge lists (schedule.reduce_bps covers what is received), headers of the lists.
// Source: Renggli, Ashkboos, Aghagolzadeh, Alistarh, Hoefler, SC 2019 (SparCML), section 5.
#include <math.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "engine/base/rng.h"

#define FIELD(name) offsetof(struct coll_sparse_params, name)
static const struct param sparse_params[] = {
    PARAM_ROW("density", RATIO, FIELD(density), .def = "0.01", .min = "0.000001", .max = "1",
              .help = "sparse: share of the values that a rank sends", .source = "SparCML"),
    PARAM_ROW("value_bytes", COUNT, FIELD(value_bytes), .def = "4", .min = "1", .max = "8",
              .help = "sparse: bytes of a value"),
    PARAM_ROW("index_bytes", COUNT, FIELD(index_bytes), .def = "4", .min = "0", .max = "8",
              .help = "sparse: bytes of a value's index"),
    PARAM_ROW("support_seed", COUNT, FIELD(seed), .def = "0", .max = "4294967295",
              .help = "sparse: draw the number of values of each sum with this seed; 0 = the "
                      "expected ones"),
};

static const struct coll_sparse_params defaults = {
    .density = 0.01, .value_bytes = 4, .index_bytes = 4};

static bool sparse_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    if (shape->op == COLL_ALL_REDUCE)
        return true;
    *why = "only an all_reduce adds sparse vectors of all ranks";
    return false;
}

/* ---- sizes ---- */

static double power(double base, uint32_t exponent)
{
    double result = 1;
    for (; exponent > 0; exponent /= 2, base *= base)
        result *= exponent % 2 ? base : 1;
    return result;
}

// A draw of about a normal distribution with mean 0 and variance 1: a sum of 12 uniform ones.
static double normal(uint64_t seed, uint32_t of)
{
    struct rng rng = rng_init(seed, RNG_SUPPORT, of);
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += rng_unit(&rng);
    return sum;
}

// Bytes of a message with the sum of `ranks` ranks over `bytes` of the vector. `of` identifies the
// sum.
static uint64_t sum_bytes(const struct coll_shape *shape, uint64_t bytes, uint32_t ranks,
                          uint64_t of)
{
    const struct coll_sparse_params *p = shape->params ? shape->params : &defaults;
    uint64_t values = bytes / p->value_bytes + (bytes % p->value_bytes > 0);
    // A value is absent from the sum only if all ranks lack it.
    double n = (double)values, q = 1 - power(1 - p->density, ranks), k = n * q;
    if (p->seed > 0)
        k += sqrt(n * q * (1 - q)) * normal(p->seed, (uint32_t)hash_mix(of));
    // The normal distribution may yield fewer values than one or more than the vector has.
    k = k > 1 ? k : 1;
    uint64_t whole = k < n ? (uint64_t)(k + 0.5) : values;
    double listed = (double)whole * (double)(p->value_bytes + p->index_bytes);
    // A list of indices does not pay where most values are present; the plain values are sent then.
    return listed < (double)bytes ? (uint64_t)listed : bytes;
}

/* ---- sparse_doubling ---- */

static uint32_t log2_down(uint32_t n)
{
    uint32_t log2 = 0;
    while (n >> (log2 + 1) != 0)
        log2++;
    return log2;
}

static uint32_t doubling_steps(const struct coll_shape *shape)
{
    uint32_t log2 = log2_down(shape->ranks);
    return shape->ranks == UINT32_C(1) << log2 ? log2 : log2 + 2;
}

// The messages of a rank in a step.
struct doubling {
    uint32_t peer, ranks; // ranks: number of ranks whose values the message contains
    uint64_t of;
    bool sends, receives;
};

static struct doubling doubling_at(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t log2 = log2_down(shape->ranks), core = UINT32_C(1) << log2;
    uint32_t beyond = shape->ranks - core, last = log2 + 1;
    // Rank r beyond the power of two is folded into rank r - core.
    if (beyond > 0 && (step == 0 || step == last)) {
        bool out = rank >= core, has = out || rank < beyond, before = step == 0;
        return (struct doubling){.peer = out ? rank - core : rank + core,
                                 .ranks = before ? 1 : shape->ranks,
                                 .of = before ? rank : UINT64_MAX,
                                 .sends = has && out == before,
                                 .receives = has && out != before};
    }
    if (rank >= core)
        return (struct doubling){0};
    uint32_t k = beyond > 0 ? step - 1 : step, width = UINT32_C(1) << k;
    uint32_t first = rank / width * width;
    // Each of the first `beyond` ranks has also brought in the values of a folded rank.
    uint32_t extra = first >= beyond ? 0 : beyond - first < width ? beyond - first : width;
    return (struct doubling){.peer = rank ^ width,
                             .ranks = width + extra,
                             .of = (uint64_t)(k + 1) << 32 | first,
                             .sends = true,
                             .receives = true};
}

static uint32_t doubling_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    return doubling_at(shape, rank, step).sends;
}

static uint32_t doubling_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    return doubling_at(shape, rank, step).receives;
}

static struct coll_send doubling_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                      uint32_t k)
{
    (void)k;
    struct doubling d = doubling_at(shape, rank, step);
    // A message with the sum of all ranks replaces what its receiver has; all others are added.
    return (struct coll_send){.peer = d.peer,
                              .peer_step = step,
                              .bytes = sum_bytes(shape, shape->bytes, d.ranks, d.of),
                              .reduce = d.ranks < shape->ranks};
}

extern const struct coll_algorithm coll_sparse_doubling;
const struct coll_algorithm coll_sparse_doubling = {
    .name = "sparse_doubling",
    .doc = "sums of sparse vectors, exchanged with ranks 1, 2, 4 .. away",
    .source = "Renggli et al., SC 2019 (SSAR, recursive doubling)",
    .params = sparse_params,
    .n_params = sizeof sparse_params / sizeof *sparse_params,
    .params_bytes = sizeof(struct coll_sparse_params),
    .supports = sparse_supports,
    .steps = doubling_steps,
    .n_sends = doubling_n_sends,
    .send = doubling_send,
    .n_recvs = doubling_n_recvs,
};

/* ---- sparse_split ---- */

static uint64_t part_bytes(const struct coll_shape *shape, uint32_t part)
{
    return coll_segment(shape, part + 1) - coll_segment(shape, part);
}

static uint32_t split_steps(const struct coll_shape *shape)
{
    return shape->ranks == 1 ? 0 : 2 + log2_down(shape->ranks - 1);
}

static uint32_t split_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)rank;
    return step == 0 ? shape->ranks - 1 : 1;
}

// After the exchange a rank has the sum of its part, and passes on what it has as in Bruck's
// all-gather.
static struct coll_send split_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                   uint32_t k)
{
    uint32_t p = shape->ranks;
    struct coll_send send = {.peer_step = step, .reduce = step == 0};
    if (step == 0) {
        send.peer = (rank + k + 1) % p;
        send.bytes = sum_bytes(shape, part_bytes(shape, send.peer), 1,
                               (uint64_t)(rank + 1) << 32 | send.peer);
        return send;
    }
    // In the last step of Bruck's algorithm only the parts that are still missing are sent, if p is
    // no power of two.
    uint32_t hop = UINT32_C(1) << (step - 1), parts = hop < p - hop ? hop : p - hop;
    // Bruck's all-gather passes parts to lower ranks, so a rank always has those from its own part
    // upwards.
    send.peer = (rank + p - hop) % p;
    for (uint32_t i = 0; i < parts; i++)
        send.bytes += sum_bytes(shape, part_bytes(shape, (rank + i) % p), p, (rank + i) % p);
    return send;
}

extern const struct coll_algorithm coll_sparse_split;
const struct coll_algorithm coll_sparse_split = {
    .name = "sparse_split",
    .doc = "every rank adds the sparse vectors' values of its part; then all gather the sums",
    .source = "Renggli et al., SC 2019 (SSAR and DSAR, split all-gather)",
    .params = sparse_params,
    .n_params = sizeof sparse_params / sizeof *sparse_params,
    .params_bytes = sizeof(struct coll_sparse_params),
    .supports = sparse_supports,
    .steps = split_steps,
    .n_sends = split_fan,
    .send = split_send,
    .n_recvs = split_fan,
};
