// SPDX-License-Identifier: MIT
// Whole phases in closed form, as the collectives of ASTRA-sim 1.0 take them on its analytical
// network. There are n members. T is the time of the slowest message of a step, D the endpoint
// delay before each message and after the last, and M the time to reduce the bytes of a message:
//
//   ring              all-reduce      2(n-1) (T + D) + D + (n-1) M
//                     reduce-scatter  (n-1) (T + D + M) + D
//                     all-gather      (n-1) (T + D) + D
//                     all-to-all      n(n-1)/2 (T + D) + D
//   direct            all-reduce      2 T + 3 D + M
//                     reduce-scatter  T + 2 D + M
//                     all-gather, all-to-all   T + 2 D
//   in_network        2 D + L + (c + s)/B or more, as below; L is the latency to the switch's
//                     aggregator and back, s the bytes of a segment
//   halving_doubling  a step D + T_k, in halvings after the first also M_k; D after the last
//   double_binary_tree, alternating, n = 2^k
//                     all-reduce      2 (T_0 + .. + T_(k-1)) + (2k+1) D + (2k-1) M
//
// A message has floor(c/n) bytes of a chunk of c bytes (all-gather: c, the rank's own part), and
// floor(c/2^(k+1)) bytes in step k of a halving. The doublings of an all-gather send c, 2c, and so
// on; before the doublings of an all-reduce ASTRA-sim halves once more, so they send 2f, 4f, and so
// on with f = floor(c/2n). A message of a tree has all c bytes; T_j is the time to a member 2^j
// away. On the longest path of a tree, D counts once for the leaf before its first message, once
// for each of the k-1 inner nodes on the way up, once for the root, once for each inner node on the
// way down, and once for the leaf after the last message; the root and the inner nodes have M
// beside each of their D. The messages of a ring follow one another around it. If their times
// differ, T is the mean of those 2(n-1), n-1 or n(n-1)/2 messages in a row that take longest. All
// members start at once.
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/reduction.h"
#include "engine/base/memory.h"
#include "sim/analytical/analytical.h"

// ASTRA-sim reduces 500 kB of a message in 3 ns, and the remainder in no time.
#define ADDED_BYTES 500000
#define ADDED_NS 3

static ps_t add_ps(uint64_t bytes) { return (ps_t)(bytes / ADDED_BYTES) * ADDED_NS * PS_PER_NS; }

static uint64_t message_bytes(const struct coll_phase_call *call)
{
    return call->op == COLL_ALL_GATHER ? call->bytes : call->bytes / call->n;
}

// Products and sums of times, limited to ANALYTICAL_LONGEST_PS.
static ps_t times(uint64_t n, ps_t each)
{
    ps_t product;
    bool wraps = __builtin_mul_overflow(n, each, &product);
    return wraps || product > ANALYTICAL_LONGEST_PS ? ANALYTICAL_LONGEST_PS : product;
}

static ps_t plus(ps_t a, ps_t b) { return times(1, a + b); }

static ps_t plus3(ps_t a, ps_t b, ps_t c) { return plus(plus(a, b), c); }

/* ---- ring ---- */

// Returns the time of `steps` messages in a row around the ring, starting at the member for which
// it is longest. message_ps[i] is the time of a message of member i.
static ps_t around(const ps_t *message_ps, uint32_t n, uint64_t steps)
{
    ps_sum_t lap = 0, part = 0, most;
    uint64_t laps = steps / n, rest = steps % n;
    for (uint32_t i = 0; i < n; i++) {
        lap += message_ps[i];
        part += i < rest ? message_ps[i] : 0;
    }
    most = part;
    // The window of `rest` messages moves on by one member at a time.
    for (uint32_t i = 0; i + 1 < n; i++) {
        part += message_ps[(i + rest) % n] - message_ps[i];
        most = part > most ? part : most;
    }
    most += lap * (ps_sum_t)laps;
    return most < ANALYTICAL_LONGEST_PS ? (ps_t)most : ANALYTICAL_LONGEST_PS;
}

static bool ring_steps(const struct coll_phase_call *call, uint64_t *steps, uint64_t *reductions)
{
    uint64_t n = call->n;
    *reductions = call->op == COLL_ALL_REDUCE || call->op == COLL_REDUCE_SCATTER ? n - 1 : 0;
    switch (call->op) {
    case COLL_ALL_REDUCE:
        *steps = 2 * (n - 1);
        return true;
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_GATHER:
        *steps = n - 1;
        return true;
    case COLL_ALL_TO_ALL: // each hop of a message is a message to the neighbour
        *steps = n * (n - 1) / 2;
        return true;
    default:
        return false;
    }
}

static bool ring_phase(const struct analytical *a, const struct coll_phase_call *call,
                       struct coll_phase_cost *cost)
{
    uint64_t bytes = message_bytes(call), steps, reductions;
    ps_t delay = call->endpoint_ps;
    if (!ring_steps(call, &steps, &reductions))
        return false;
    ps_t *message_ps = memory_zeroed(call->n, sizeof *message_ps);
    for (uint32_t i = 0; i < call->n; i++) {
        message_ps[i] =
            analytical_message_ps(a, call->members[i], call->members[(i + 1) % call->n], bytes);
        cost->messages_ps += (ps_sum_t)message_ps[i] * (ps_sum_t)steps;
    }
    cost->messages = steps * call->n;
    cost->duration_ps = plus(plus3(around(message_ps, call->n, steps), times(steps, delay), delay),
                             times(reductions, add_ps(bytes)));
    free(message_ps);
    return true;
}

/* ---- direct ---- */

// True if all members send the same to the others: the members are all ranks, or evenly spaced
// along one dimension. Other groups (from a mapping or a list of ranks) need the full search.
static bool members_alike(const struct analytical *a, const struct coll_phase_call *call)
{
    const uint32_t *at = call->members;
    uint64_t ranks = 1, below = 1;
    for (uint32_t d = 0; d < a->n_dims; d++) {
        ranks *= a->dims[d].size;
        if (at[0] / (below * a->dims[d].size) != at[call->n - 1] / (below * a->dims[d].size))
            below *= a->dims[d].size;
    }
    bool even = at[1] > at[0] && (at[1] - at[0]) % below == 0;
    for (uint32_t i = 2; i < call->n && even; i++)
        even = at[i] > at[i - 1] && at[i] - at[i - 1] == at[1] - at[0];
    return even || call->n == ranks;
}

// Count a message of every pair, and return the time of the slowest.
static ps_t slowest_pair(const struct analytical *a, const struct coll_phase_call *call,
                         uint64_t bytes, struct coll_phase_cost *cost)
{
    const uint32_t *at = call->members;
    bool alike = members_alike(a, call);
    ps_t slowest = 0;
    for (uint32_t i = 0; i < (alike ? 1 : call->n); i++)
        for (uint32_t j = alike ? 1 : 0; j < call->n; j++) {
            ps_t time = i != j ? analytical_message_ps(a, at[i], at[j], bytes) : 0;
            slowest = ps_longer(slowest, time);
            cost->messages_ps += (ps_sum_t)time * (alike ? call->n : 1);
        }
    cost->messages = (uint64_t)call->n * (call->n - 1);
    return slowest;
}

static bool direct_phase(const struct analytical *a, const struct coll_phase_call *call,
                         struct coll_phase_cost *cost)
{
    uint64_t bytes = message_bytes(call);
    ps_t delay = call->endpoint_ps;
    const struct coll_direct_params *p = call->params;
    // The closed form has all messages on their way at once.
    if (p != NULL && p->in_flight < call->n - 1)
        return false;
    ps_t time = slowest_pair(a, call, bytes, cost);
    switch (call->op) {
    case COLL_ALL_REDUCE:
        cost->duration_ps = plus3(times(2, time), times(3, delay), add_ps(bytes));
        cost->messages *= 2;
        cost->messages_ps *= 2;
        return true;
    case COLL_REDUCE_SCATTER:
        cost->duration_ps = plus3(time, times(2, delay), add_ps(bytes));
        return true;
    case COLL_ALL_GATHER:
    case COLL_ALL_TO_ALL:
        cost->duration_ps = plus(time, times(2, delay));
        return true;
    default:
        return false;
    }
}

/* ---- halving and doubling ---- */

// Count a message of every member to the partner at `mask`, and return the time of the slowest.
static ps_t exchange_ps(const struct analytical *a, const struct coll_phase_call *call,
                        uint32_t mask, uint64_t bytes, struct coll_phase_cost *cost)
{
    ps_t slowest = 0;
    for (uint32_t i = 0; i < call->n; i++) {
        ps_t time = analytical_message_ps(a, call->members[i], call->members[i ^ mask], bytes);
        slowest = ps_longer(slowest, time);
        cost->messages_ps += time;
    }
    cost->messages += call->n;
    return slowest;
}

// The partners are those of collective/algorithm/halving_doubling.c, where the largest messages go
// to the most distant partners. ASTRA-sim does the opposite, but the sum is the same as long as a
// link's latency is a whole number of nanoseconds.
static bool halving_doubling_phase(const struct analytical *a, const struct coll_phase_call *call,
                                   struct coll_phase_cost *cost)
{
    uint32_t n = call->n;
    ps_t total = call->endpoint_ps;
    if ((n & (n - 1)) != 0 || call->op > COLL_ALL_GATHER)
        return false;
    uint64_t bytes = call->bytes;
    for (uint32_t mask = n / 2; call->op != COLL_ALL_GATHER && mask > 0; mask /= 2) {
        bytes /= 2;
        total = plus3(total, call->endpoint_ps, exchange_ps(a, call, mask, bytes, cost));
        total = plus(total, mask < n / 2 ? add_ps(bytes) : 0);
    }
    if (call->op == COLL_ALL_REDUCE)
        bytes = bytes / 2 * 2;
    for (uint32_t mask = 1; call->op != COLL_REDUCE_SCATTER && mask < n; mask *= 2)
        total = plus3(total, call->endpoint_ps, exchange_ps(a, call, mask, bytes * mask, cost));
    cost->duration_ps = total;
    return true;
}

/* ---- trees ---- */

// The children of tree level `level` send to their parents, 2^level members away, and get the same
// back. They are the positions from 1 whose lowest bit is 2^level; position p is member p - 1 if
// the last member is the root, else member p. The highest level has one child, whose parent is the
// root.
static ps_t level_ps(const struct analytical *a, const struct coll_phase_call *call, uint32_t level,
                     struct coll_phase_cost *cost)
{
    uint32_t bit = UINT32_C(1) << level, shift = call->chunk % 2 == 0 ? 1 : 0;
    uint32_t root = shift == 1 ? call->n - 1 : 0;
    ps_t slowest = 0;
    for (uint32_t p = bit; p < call->n; p += 2 * bit) {
        uint32_t parent = (p & 2 * bit) != 0 ? p - bit : p + bit;
        uint32_t to = bit == call->n / 2 ? root : parent - shift;
        uint32_t child = call->members[p - shift], above = call->members[to];
        ps_t up = analytical_message_ps(a, child, above, call->bytes),
             down = analytical_message_ps(a, above, child, call->bytes);
        slowest = ps_longer(slowest, up + down);
        cost->messages += 2;
        cost->messages_ps += up + down;
    }
    return slowest;
}

static bool tree_phase(const struct analytical *a, const struct coll_phase_call *call,
                       struct coll_phase_cost *cost)
{
    const struct coll_double_tree_params *p = call->params;
    if (p == NULL || !p->alternating || call->op != COLL_ALL_REDUCE ||
        (call->n & (call->n - 1)) != 0)
        return false;
    uint32_t levels = 0;
    for (; UINT32_C(1) << levels < call->n; levels++)
        cost->duration_ps = plus(cost->duration_ps, level_ps(a, call, levels, cost));
    cost->duration_ps = plus3(cost->duration_ps, times(2 * levels + 1, call->endpoint_ps),
                              times(2 * levels - 1, add_ps(call->bytes)));
    return true;
}

/* ---- reductions in the network ---- */

// Bytes that a rank sends or receives, whichever are more.
static uint64_t reduced_bytes(const struct coll_phase_call *call)
{
    uint64_t parts = call->op == COLL_ALL_GATHER ? call->n : 1;
    return call->op == COLL_BARRIER ? 0 : call->bytes * parts;
}

// A rank sends segments of s bytes at the rate B of its link while the aggregator's buffer of W
// segments has room: segment k + W may start when the result of segment k has arrived, `loop` = L +
// 2 s/B after the start of segment k. Number the segments q W + i with i < W: segment q W + i then
// starts at q max(W s/B, loop) + i s/B. The phase ends `loop` after the start of the last segment.
static bool in_network_phase(const struct analytical *a, const struct coll_phase_call *call,
                             struct coll_phase_cost *cost)
{
    const struct coll_reduction *r = call->reduction;
    uint32_t from = call->members[0], to = call->members[1];
    struct coll_shape shape = {.op = call->op,
                               .ranks = call->n,
                               .bytes = reduced_bytes(call),
                               .params = call->params,
                               .reduction = r};
    struct coll_segments segments = coll_reduction_segments(&shape);
    uint64_t rounds = (segments.n - 1) / segments.window, rest = (segments.n - 1) % segments.window;
    uint64_t each = segments.largest_bytes, window = each * segments.window;
    ps_t latency = plus(analytical_message_ps(a, from, to, 0), times(2, r->latency_ps));
    ps_t empty = analytical_message_ps(a, from, to, 0);
    ps_t loop = plus(latency, analytical_message_ps(a, from, to, 2 * each) - empty);
    ps_t round = ps_longer(loop, analytical_message_ps(a, from, to, window) - empty);
    ps_t last = plus(times(rounds, round), analytical_message_ps(a, from, to, rest * each) - empty);
    cost->duration_ps = plus(times(2, call->endpoint_ps), plus(last, loop));
    cost->messages = 2 * segments.n * call->n; // each a half of the way to the aggregator and back
    cost->messages_ps = (ps_sum_t)loop * (ps_sum_t)segments.n * call->n;
    return true;
}

bool analytical_phase(void *analytical, const struct coll_phase_call *call,
                      struct coll_phase_cost *cost)
{
    static const struct {
        const char *algorithm;
        bool (*phase)(const struct analytical *a, const struct coll_phase_call *call,
                      struct coll_phase_cost *cost);
    } forms[] = {
        {"ring", ring_phase},
        {"direct", direct_phase},
        {"halving_doubling", halving_doubling_phase},
        {"double_binary_tree", tree_phase},
        {"in_network", in_network_phase},
    };
    struct analytical *a = analytical;
    *cost = (struct coll_phase_cost){0};
    if (call->n < 2 || !call->algorithm)
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(call->algorithm->name, forms[i].algorithm) == 0 &&
            forms[i].phase(a, call, cost)) {
            a->n_phases++;
            return true;
        }
    return false;
}
