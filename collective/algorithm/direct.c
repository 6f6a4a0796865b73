// SPDX-License-Identifier: MIT
// Direct collectives: all ranks exchange with all ranks at once, in one step (two for an
// all-reduce).
//
// Reduce-scatter: rank r sends segment i to rank i, for all i. All-gather: rank r sends its segment
// to all. An all-reduce is a reduce-scatter and then an all-gather; a barrier is an all-gather of
// empty messages. This takes the fewest steps and causes the largest incast: p - 1 messages arrive
// at every rank at once. Rank r starts with rank r + 1, so that the first packets of different
// ranks have different destinations.
// Rooted operations: the root sends to all ranks, or all ranks to the root, in the order of the
// ranks after the root. Send_recv: one message to the next rank.
// A window of K splits the p - 1 messages into ceil((p-1)/K) steps of K; a rank leaves a step when
// it has received the step's K messages. In a rooted operation one side receives nothing, so the
// window only orders the messages.
// Source: the "direct" algorithm of ASTRA-sim (Rashidi et al., ISPASS 2020); Thakur, Rabenseifner,
// Gropp, IJHPCA 2005.
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"

static const struct param direct_params[] = {
    PARAM_ROW("in_flight", COUNT, offsetof(struct coll_direct_params, in_flight), .def = "auto",
              .min = "1", .max = "65536", .can_auto = true,
              .help = "direct: messages of a rank at once; auto = to all others",
              .source = "ASTRA-sim: direct-collective-window"),
};

static bool direct_supports(const struct coll_shape *shape, const char **why)
{
    return coll_shape_valid(shape, why);
}

// Number of messages per step.
static uint32_t direct_window(const struct coll_shape *shape)
{
    const struct coll_direct_params *p = shape->params;
    uint32_t all = shape->ranks - 1;
    // auto is larger than `all`
    return p == NULL || p->in_flight > all ? all : (uint32_t)p->in_flight;
}

// Number of steps in which a rank exchanges once with all others; ranks > 1.
static uint32_t round_steps(const struct coll_shape *shape)
{
    uint32_t window = direct_window(shape);
    return (shape->ranks - 1 + window - 1) / window;
}

static uint32_t direct_steps(const struct coll_shape *shape)
{
    if (shape->ranks == 1)
        return 0;
    if (shape->op == COLL_SEND_RECV)
        return 1;
    return round_steps(shape) * (shape->op == COLL_ALL_REDUCE ? 2 : 1);
}

// Number of messages in the steps before this one.
static uint32_t first_turn(const struct coll_shape *shape, uint32_t step)
{
    return step % round_steps(shape) * direct_window(shape);
}

// Number of messages in this step of a rank that exchanges with all others.
static uint32_t direct_fan(const struct coll_shape *shape, uint32_t step)
{
    if (shape->op == COLL_SEND_RECV)
        return 1;
    uint32_t window = direct_window(shape), left = shape->ranks - 1 - first_turn(shape, step);
    return left < window ? left : window;
}

// True if the root and this other rank exchange in this step.
static bool has_turn(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    // 1 = the rank after the root
    uint32_t behind = (rank + shape->ranks - shape->root) % shape->ranks;
    return behind > 0 && (behind - 1) / direct_window(shape) == step;
}

static uint32_t rooted_fan(const struct coll_shape *shape, uint32_t rank, uint32_t step, bool root)
{
    if (root)
        return rank == shape->root ? direct_fan(shape, step) : 0;
    return has_turn(shape, rank, step);
}

static uint32_t direct_n_sends(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    bool root_sends = shape->op == COLL_BROADCAST || shape->op == COLL_SCATTER;
    return coll_op_rooted(shape->op) ? rooted_fan(shape, rank, step, root_sends)
                                     : direct_fan(shape, step);
}

static uint32_t direct_n_recvs(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    bool root_receives = shape->op == COLL_REDUCE || shape->op == COLL_GATHER;
    return coll_op_rooted(shape->op) ? rooted_fan(shape, rank, step, root_receives)
                                     : direct_fan(shape, step);
}

static struct coll_send direct_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                    uint32_t k)
{
    uint32_t ahead = first_turn(shape, step) + k + 1;
    struct coll_send send = {
        .peer = (uint32_t)(((uint64_t)rank + ahead) % shape->ranks),
        .peer_step = step,
        .bytes = shape->bytes,
    };
    uint32_t segment = rank;
    switch (shape->op) {
    case COLL_REDUCE:
        send.peer = shape->root;
        send.reduce = true;
        return send;
    case COLL_BROADCAST:
    case COLL_SEND_RECV:
        return send;
    case COLL_BARRIER:
        send.bytes = 0;
        return send;
    case COLL_GATHER:
        send.peer = shape->root;
        break;
    case COLL_ALL_REDUCE:
        send.reduce = step < round_steps(shape);
        segment = send.reduce ? send.peer : rank;
        break;
    case COLL_REDUCE_SCATTER:
        send.reduce = true;
        segment = send.peer;
        break;
    case COLL_ALL_TO_ALL:
        return coll_exchange(shape, rank, send.peer, step);
    case COLL_SCATTER:
        segment = send.peer;
        break;
    default:
        break;
    }
    send.src_offset = coll_segment(shape, segment);
    send.bytes = coll_segment(shape, segment + 1) - send.src_offset;
    send.dst_offset = send.src_offset;
    return send;
}

extern const struct coll_algorithm coll_direct;
const struct coll_algorithm coll_direct = {
    .name = "direct",
    .doc = "everyone to everyone at once; the fewest steps, the largest incast",
    .source = "Rashidi et al., ISPASS 2020",
    .astra = "direct",
    .params = direct_params,
    .n_params = sizeof direct_params / sizeof *direct_params,
    .params_bytes = sizeof(struct coll_direct_params),
    .supports = direct_supports,
    .steps = direct_steps,
    .n_sends = direct_n_sends,
    .send = direct_send,
    .n_recvs = direct_n_recvs,
    .total = coll_total_by_segments,
};
