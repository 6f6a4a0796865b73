// SPDX-License-Identifier: MIT
// Ring collectives: in each step every rank sends one segment to its neighbour.
//
// Reduce-scatter: in step s of p - 1, rank r sends segment r - s - 1 to rank r + 1, which adds it;
// rank r ends with the sum of segment r. All-gather: in step s rank r forwards segment r - s. An
// all-reduce is a reduce-scatter and then an all-gather. Each rank sends (p-1)/p of the vector in
// each of them.
// Rooted operations use the chain that results from cutting the ring at the root. For broadcast and
// scatter the root is its head, for reduce and gather its tail. The rank q hops from the head
// sends, for q < p - 1,
//   broadcast, reduce  piece s - q in step s: a pipeline of p - 1 + pieces - 1 steps
//   gather             its own segment in step 0, then what it has received, nearest first
//   scatter            from step q on the segment of the farthest rank, then the next nearer
// so gather and scatter take p - 1 steps of one segment at the root.
// Bidirectional: every segment or piece is halved; the lower half is sent up the ring as above, the
// upper half in the opposite direction (the mirror image), so that both directions of every link
// carry half.
// All-to-all does not forward: in step s rank r sends directly to rank r + s + 1 and receives from
// r - s - 1, the shifted exchange that NCCL uses for its point-to-point calls. The number of
// directions has no effect on it, nor on send_recv (one message to the next rank) and barrier: a
// token from rank 0 has visited all ranks after p - 1 hops, and p - 1 more hops release them.
// Sources: Patarasuk, Yuan, JPDC 69 (2009), section 4; Thakur, Rabenseifner, Gropp, IJHPCA 2005.
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"

#define FIELD(name) offsetof(struct coll_ring_params, name)
static const struct param ring_params[] = {
    PARAM_ROW("ring_directions", COUNT, FIELD(directions), .def = "1", .min = "1", .max = "2",
              .help = "2 = half of the vector each way round the ring"),
    {.include = coll_pieces_params, .offset = FIELD(pieces)},
};

static bool ring_supports(const struct coll_shape *shape, const char **why)
{
    return coll_shape_valid(shape, why);
}

static uint32_t ring_pieces(const struct coll_shape *shape)
{
    const struct coll_ring_params *p = shape->params;
    return p != NULL && p->pieces != PARAM_AUTO ? (uint32_t)p->pieces : shape->ranks;
}

static uint32_t ring_steps(const struct coll_shape *shape)
{
    uint32_t hops = shape->ranks - 1;
    if (hops == 0)
        return 0;
    switch (shape->op) {
    case COLL_ALL_REDUCE:
    case COLL_BARRIER:
        return 2 * hops;
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return hops + ring_pieces(shape) - 1;
    case COLL_SEND_RECV:
        return 1;
    default:
        return hops;
    }
}

// The rank `hops` (< p) up the ring, or down the ring.
static uint32_t ring_walk(const struct coll_shape *shape, uint32_t rank, uint32_t hops, bool down)
{
    uint64_t up = down ? shape->ranks - hops : hops;
    return (uint32_t)((rank + up) % shape->ranks);
}

static bool bidirectional(const struct coll_shape *shape)
{
    const struct coll_ring_params *p = shape->params;
    return p != NULL && p->directions == 2;
}

static bool ring_two_ways(const struct coll_shape *shape)
{
    return bidirectional(shape) && shape->op != COLL_ALL_TO_ALL && shape->op != COLL_SEND_RECV &&
           shape->op != COLL_BARRIER;
}

// Number of hops from the head of the chain.
static uint32_t chain_position(const struct coll_shape *shape, uint32_t rank, bool down)
{
    bool inward = shape->op == COLL_REDUCE || shape->op == COLL_GATHER;
    uint32_t head = inward ? ring_walk(shape, shape->root, 1, down) : shape->root;
    return down ? ring_walk(shape, head, rank, true) : ring_walk(shape, rank, head, true);
}

// True if the rank at position q sends in this step; its successor then receives.
static bool chain_sends(const struct coll_shape *shape, uint32_t q, uint32_t step)
{
    if (q == shape->ranks - 1)
        return false;
    if (shape->op == COLL_GATHER)
        return step <= q;
    return step >= q && (shape->op == COLL_SCATTER || step - q < ring_pieces(shape));
}

static bool way_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step, bool down)
{
    if (coll_op_rooted(shape->op))
        return chain_sends(shape, chain_position(shape, rank, down), step);
    return shape->op != COLL_BARRIER || rank == step % shape->ranks;
}

static bool way_receives(const struct coll_shape *shape, uint32_t rank, uint32_t step, bool down)
{
    uint32_t q = coll_op_rooted(shape->op) ? chain_position(shape, rank, down) : 0;
    if (coll_op_rooted(shape->op))
        return q > 0 && chain_sends(shape, q - 1, step);
    return shape->op != COLL_BARRIER || rank == (step + 1) % shape->ranks;
}

static uint32_t ring_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t n = way_sends(shape, rank, step, false);
    return ring_two_ways(shape) ? n + way_sends(shape, rank, step, true) : n;
}

static uint32_t ring_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    uint32_t n = way_receives(shape, rank, step, false);
    return ring_two_ways(shape) ? n + way_receives(shape, rank, step, true) : n;
}

static struct coll_send exchange_send(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    return coll_exchange(shape, rank, ring_walk(shape, rank, step + 1, false), step);
}

// The segment that a rank forwards in a step.
static uint32_t passed_segment(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                               bool reduce, bool down)
{
    uint32_t p = shape->ranks;
    if (shape->op == COLL_SCATTER)
        return ring_walk(shape, rank, p - 1 - step, down); // hops that the segment still has to go
    uint32_t behind = reduce ? step + 1 : shape->op == COLL_ALL_REDUCE ? step - (p - 1) : step;
    return ring_walk(shape, rank, behind, !down);
}

static struct coll_send ring_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                  uint32_t k)
{
    bool down = k == 1 || !way_sends(shape, rank, step, false);
    struct coll_send send = {.peer = ring_walk(shape, rank, 1, down), .peer_step = step};
    uint64_t last;
    switch (shape->op) {
    case COLL_ALL_TO_ALL:
        return exchange_send(shape, rank, step);
    case COLL_SEND_RECV:
        send.bytes = shape->bytes;
        return send;
    case COLL_BARRIER:
        return send;
    case COLL_BROADCAST:
    case COLL_REDUCE: {
        struct coll_shape pieces = {.ranks = ring_pieces(shape), .bytes = shape->bytes};
        uint32_t piece = step - chain_position(shape, rank, down);
        send.reduce = shape->op == COLL_REDUCE;
        send.src_offset = coll_segment(&pieces, piece);
        last = coll_segment(&pieces, piece + 1);
        break;
    }
    default: {
        send.reduce = shape->op == COLL_REDUCE_SCATTER ||
                      (shape->op == COLL_ALL_REDUCE && step < shape->ranks - 1);
        uint32_t segment = passed_segment(shape, rank, step, send.reduce, down);
        send.src_offset = coll_segment(shape, segment);
        last = coll_segment(shape, segment + 1);
        break;
    }
    }
    if (bidirectional(shape)) {
        uint64_t middle = send.src_offset + (last - send.src_offset) / 2;
        send.src_offset = down ? middle : send.src_offset;
        last = down ? last : middle;
    }
    send.dst_offset = send.src_offset;
    send.bytes = last - send.src_offset;
    return send;
}

extern const struct coll_algorithm coll_ring;
const struct coll_algorithm coll_ring = {
    .name = "ring",
    .doc = "one segment per step to the neighbour, one or both ways; all-to-all by shifts",
    .source = "Patarasuk, Yuan, JPDC 69 (2009)",
    .astra = "ring",
    .params = ring_params,
    .n_params = sizeof ring_params / sizeof *ring_params,
    .params_bytes = sizeof(struct coll_ring_params),
    .supports = ring_supports,
    .steps = ring_steps,
    .n_sends = ring_n_sends,
    .send = ring_send,
    .n_recvs = ring_n_recvs,
    .total = coll_total_by_segments,
};
