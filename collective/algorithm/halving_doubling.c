// SPDX-License-Identifier: MIT
// Recursive halving and doubling: log2(p) exchanges with partners at distances p/2, p/4, ... 1.
//
// Let q be the largest power of two <= p. The first 2(p - q) ranks form pairs (2i, 2i + 1): the odd
// rank sends its data to the even one ("fold"), takes no part, and gets the result afterwards. The
// even ranks and the ranks after the pairs are the q cores, numbered in rank order, so the data of
// consecutive cores is one contiguous range of the vector.
//   fold in    odd rank -> its core: its vector (its segment for an all-gather)
//   halving    core c and c ^ mask (mask = q/2 .. 1) exchange the half that the partner keeps, and
//              add
//   doubling   core c and c ^ mask (mask = 1 .. q/2) exchange all they have
//   fold out   core -> its odd rank: the vector (the odd rank's segment for a reduce-scatter)
// A reduce-scatter has no doubling, an all-gather no halving. For powers of two each rank sends
// (p-1)/p of the vector in halving and in doubling; a fold adds up to one vector before and after.
// An all-reduce cuts the vector into q equal ranges, the other operations into the p segments of
// the ranks. A barrier is an all-gather of empty messages.
// Source: Thakur, Rabenseifner, Gropp, IJHPCA 2005, sections 4.3 to 4.5.
#include "collective/algorithm/collective.h"

// True for operations in which a rank has only its own part at the start.
static bool only_gathers(const struct coll_shape *shape)
{
    return shape->op == COLL_ALL_GATHER || shape->op == COLL_BARRIER;
}

enum phase { PHASE_FOLD_IN, PHASE_HALVING, PHASE_DOUBLING, PHASE_FOLD_OUT };

static uint32_t cores_log2(const struct coll_shape *shape)
{
    uint32_t log2 = 0;
    while (shape->ranks >> (log2 + 1) != 0)
        log2++;
    return log2;
}

// p - q: the number of ranks that are folded.
static uint32_t folded(const struct coll_shape *shape)
{
    return shape->ranks - (UINT32_C(1) << cores_log2(shape));
}

static bool is_folded(const struct coll_shape *shape, uint32_t rank)
{
    return rank % 2 == 1 && rank < 2 * folded(shape);
}

static bool has_folded(const struct coll_shape *shape, uint32_t rank)
{
    return rank % 2 == 0 && rank < 2 * folded(shape);
}

static uint32_t core_of(const struct coll_shape *shape, uint32_t rank)
{
    uint32_t pairs = folded(shape);
    return rank < 2 * pairs ? rank / 2 : rank - pairs;
}

static uint32_t rank_of(const struct coll_shape *shape, uint32_t core)
{
    uint32_t pairs = folded(shape);
    return core < pairs ? 2 * core : core + pairs;
}

// First byte of the range of core c; c = q gives the end of the vector.
static uint64_t core_offset(const struct coll_shape *shape, uint32_t core)
{
    if (shape->op != COLL_ALL_REDUCE)
        return coll_segment(shape, rank_of(shape, core));
    struct coll_shape cores = {.ranks = UINT32_C(1) << cores_log2(shape), .bytes = shape->bytes};
    return coll_segment(&cores, core);
}

// The phase of a step; *mask is the distance to the partner in the exchanges.
static enum phase phase_of(const struct coll_shape *shape, uint32_t step, uint32_t *mask)
{
    uint32_t log2 = cores_log2(shape);
    *mask = 0;
    // Only rank counts that are no powers of two fold, before and after all exchanges.
    if (folded(shape) > 0) {
        if (step == 0)
            return PHASE_FOLD_IN;
        step--;
    }
    // Ranks with nothing but their own part have nothing to add, so they begin to double at once.
    if (!only_gathers(shape)) {
        if (step < log2) {
            *mask = UINT32_C(1) << (log2 - 1 - step);
            return PHASE_HALVING;
        }
        step -= log2;
    }
    if (shape->op != COLL_REDUCE_SCATTER && step < log2) {
        *mask = UINT32_C(1) << step;
        return PHASE_DOUBLING;
    }
    return PHASE_FOLD_OUT;
}

static bool hd_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    switch (shape->op) {
    case COLL_ALL_REDUCE:
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_GATHER:
    case COLL_BARRIER:
        return true;
    case COLL_ALL_TO_ALL:
        *why = "it never forwards blocks; use direct, ring or bruck";
        return false;
    default:
        *why = "all its ranks are alike and in pairs; use direct, ring or tree";
        return false;
    }
}

static uint32_t hd_steps(const struct coll_shape *shape)
{
    // An all-reduce halves and then doubles; the other operations do only one of the two.
    uint32_t exchanges = cores_log2(shape) * (shape->op == COLL_ALL_REDUCE ? 2 : 1);
    return exchanges + (folded(shape) > 0 ? 2 : 0);
}

static uint32_t hd_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t mask;
    switch (phase_of(shape, step, &mask)) {
    case PHASE_FOLD_IN:
        return is_folded(shape, rank);
    case PHASE_FOLD_OUT:
        return has_folded(shape, rank);
    default:
        return !is_folded(shape, rank);
    }
}

static uint32_t hd_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t mask;
    switch (phase_of(shape, step, &mask)) {
    case PHASE_FOLD_IN:
        return has_folded(shape, rank);
    case PHASE_FOLD_OUT:
        return is_folded(shape, rank);
    default:
        return !is_folded(shape, rank);
    }
}

static struct coll_send hd_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                uint32_t k)
{
    (void)k;
    uint32_t mask;
    // The fold steps have no mask, so `partner` has no meaning there.
    enum phase phase = phase_of(shape, step, &mask);
    uint32_t core = core_of(shape, rank), partner = core ^ mask;
    struct coll_send send = {.peer_step = step};
    uint64_t end = shape->op == COLL_BARRIER ? 0 : shape->bytes;

    switch (phase) {
    case PHASE_FOLD_IN:
    case PHASE_FOLD_OUT: {
        bool in = phase == PHASE_FOLD_IN;
        send.peer = in ? rank - 1 : rank + 1;
        send.reduce = in && !only_gathers(shape);
        // Before an all-gather an odd rank has only its own segment; after a reduce-scatter it
        // needs no other.
        if (shape->op == (in ? COLL_ALL_GATHER : COLL_REDUCE_SCATTER)) {
            uint32_t odd = in ? rank : send.peer;
            send.src_offset = coll_segment(shape, odd);
            end = coll_segment(shape, odd + 1);
        }
        break;
    }
    case PHASE_HALVING:
    case PHASE_DOUBLING: {
        bool halving = phase == PHASE_HALVING;
        // Ranges are aligned blocks of `mask` cores: in halving the half with the partner's core is
        // sent, in doubling the block that this core has completed.
        uint32_t first = (halving ? partner : core) & ~(mask - 1);
        send.peer = rank_of(shape, partner);
        send.reduce = halving;
        if (shape->op != COLL_BARRIER) {
            send.src_offset = core_offset(shape, first);
            end = core_offset(shape, first + mask);
        }
        break;
    }
    }
    send.dst_offset = send.src_offset;
    send.bytes = end - send.src_offset;
    return send;
}

extern const struct coll_algorithm coll_halving_doubling;
const struct coll_algorithm coll_halving_doubling = {
    .name = "halving_doubling",
    .doc = "log2(p) exchanges at halving, then doubling distances; other rank counts fold",
    .source = "Thakur, Rabenseifner, Gropp, IJHPCA 2005",
    .astra = "halvingDoubling",
    .supports = hd_supports,
    .steps = hd_steps,
    .n_sends = hd_n_sends,
    .send = hd_send,
    .n_recvs = hd_n_recvs,
};
