// SPDX-License-Identifier: MIT
// Whole phases in closed form, as the collectives of ASTRA-sim 1.0 take them on its analytical
// network. There are n members. T is the time of the slowest message of a step, D the endpoint
// delay before each message and after the last, and M the time to reduce the bytes of a message:
//
//   ring              all-reduce      2(n-1) T + (2(n-1) + 1) D + (n-1) M
//                     reduce-scatter  (n-1) (T + M) + n D
//                     all-gather      (n-1) T + n D
//                     all-to-all      n(n-1)/2 (T + D) + D
//   direct            all-reduce      2 T + 3 D + M
//                     reduce-scatter  T + 2 D + M
//                     all-gather, all-to-all   T + 2 D
//   in_network        2 D + L + (c + s)/B or more, as below; L is the latency to the switch's
//                     aggregator and back, s the bytes of a segment
//   halving_doubling  a step D + T_k, in halvings after the first also M_k; D after the last
//
// A message has floor(c/n) bytes of a chunk of c bytes (all-gather: c, the rank's own part), and
// floor(c/2^(k+1)) bytes in step k of a halving. The doublings of an all-gather send c, 2c, and so
// on; before the doublings of an all-reduce ASTRA-sim halves once more, so they send 2f, 4f, and so
// on with f = floor(c/2n). All members start at once.
#include <string.h>

#include "analytical/analytical.h"
#include "collective/reduction.h"
#include "collective/settings.h"

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

static bool ring_phase(const struct analytical *a, const struct coll_phase_call *call,
                       ps_t *duration_ps)
{
    uint64_t bytes = message_bytes(call);
    uint64_t n = call->n;
    ps_t time = 0, delay = call->endpoint_ps, adding = add_ps(bytes);
    for (uint32_t i = 0; i < call->n; i++)
        time = ps_longer(time, analytical_message_ps(a, call->members[i],
                                                     call->members[(i + 1) % call->n], bytes));
    switch (call->op) {
    case COLL_ALL_REDUCE:
        *duration_ps =
            plus3(times(2 * (n - 1), time), times(2 * (n - 1) + 1, delay), times(n - 1, adding));
        return true;
    case COLL_REDUCE_SCATTER:
        *duration_ps = plus(times(n - 1, plus(time, adding)), times(n, delay));
        return true;
    case COLL_ALL_GATHER:
        *duration_ps = plus(times(n - 1, time), times(n, delay));
        return true;
    case COLL_ALL_TO_ALL: // each hop of a message is a message to the neighbour
        *duration_ps = plus(times(n * (n - 1) / 2, plus(time, delay)), delay);
        return true;
    default:
        return false;
    }
}

// Returns the time of the slowest message of all pairs. If the members are all ranks, or evenly
// spaced along one dimension, the maximum over the first member's pairs equals the maximum over all
// pairs. Other groups (from a mapping or a list of ranks) need the full search.
static ps_t slowest_pair(const struct analytical *a, const struct coll_phase_call *call,
                         uint64_t bytes)
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
    bool alike = even || call->n == ranks;
    ps_t time = 0;
    for (uint32_t i = 0; i < (alike ? 1 : call->n); i++)
        for (uint32_t j = alike ? 1 : 0; j < call->n; j++)
            if (i != j)
                time = ps_longer(time, analytical_message_ps(a, at[i], at[j], bytes));
    return time;
}

static bool direct_phase(const struct analytical *a, const struct coll_phase_call *call,
                         ps_t *duration_ps)
{
    uint64_t bytes = message_bytes(call);
    ps_t delay = call->endpoint_ps;
    const struct coll_direct_params *p = call->params;
    if (p != NULL && p->in_flight < call->n - 1)
        return false;
    ps_t time = slowest_pair(a, call, bytes);
    switch (call->op) {
    case COLL_ALL_REDUCE:
        *duration_ps = plus3(times(2, time), times(3, delay), add_ps(bytes));
        return true;
    case COLL_REDUCE_SCATTER:
        *duration_ps = plus3(time, times(2, delay), add_ps(bytes));
        return true;
    case COLL_ALL_GATHER:
    case COLL_ALL_TO_ALL:
        *duration_ps = plus(time, times(2, delay));
        return true;
    default:
        return false;
    }
}

static ps_t exchange_ps(const struct analytical *a, const struct coll_phase_call *call,
                        uint32_t mask, uint64_t bytes)
{
    ps_t time = 0;
    for (uint32_t i = 0; i < call->n; i++)
        time = ps_longer(
            time, analytical_message_ps(a, call->members[i], call->members[i ^ mask], bytes));
    return time;
}

// The partners are those of collective/halving_doubling.c, where the largest messages go to the
// most distant partners. ASTRA-sim does the opposite, but the sum is the same as long as a link's
// latency is a whole number of nanoseconds.
static bool halving_doubling_phase(const struct analytical *a, const struct coll_phase_call *call,
                                   ps_t *duration_ps)
{
    uint32_t n = call->n;
    ps_t total = call->endpoint_ps;
    if ((n & (n - 1)) != 0 || call->op > COLL_ALL_GATHER)
        return false;
    uint64_t bytes = call->bytes;
    for (uint32_t mask = n / 2; call->op != COLL_ALL_GATHER && mask > 0; mask /= 2) {
        bytes /= 2;
        total = plus3(total, call->endpoint_ps, exchange_ps(a, call, mask, bytes));
        total = plus(total, mask < n / 2 ? add_ps(bytes) : 0);
    }
    if (call->op == COLL_ALL_REDUCE)
        bytes = bytes / 2 * 2;
    for (uint32_t mask = 1; call->op != COLL_REDUCE_SCATTER && mask < n; mask *= 2)
        total = plus3(total, call->endpoint_ps, exchange_ps(a, call, mask, bytes * mask));
    *duration_ps = total;
    return true;
}

// Bytes that a rank sends or receives, whichever are more.
static uint64_t reduced_bytes(const struct coll_phase_call *call)
{
    uint64_t parts = call->op == COLL_ALL_GATHER ? call->n : 1;
    return call->op == COLL_BARRIER ? 0 : call->bytes * parts;
}

// A rank sends segments of s bytes at the rate B of its link while the aggregator's buffer of W segments
// has room: segment k + W may start when the result of segment k has arrived, `loop` = L + 2 s/B after
// the start of segment k. Number the segments q W + i with i < W: segment q W + i then starts at
// q max(W s/B, loop) + i s/B. The phase ends `loop` after the start of the last segment.
static bool in_network_phase(const struct analytical *a, const struct coll_phase_call *call,
                             ps_t *duration_ps)
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
    *duration_ps = plus(times(2, call->endpoint_ps), plus(last, loop));
    return true;
}

bool analytical_phase(void *analytical, const struct coll_phase_call *call, ps_t *duration_ps)
{
    static const struct {
        const char *algorithm;
        bool (*phase)(const struct analytical *a, const struct coll_phase_call *call,
                      ps_t *duration_ps);
    } forms[] = {
        {"ring", ring_phase},
        {"direct", direct_phase},
        {"halving_doubling", halving_doubling_phase},
        {"in_network", in_network_phase},
    };
    struct analytical *a = analytical;
    if (call->n < 2 || !call->algorithm)
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(call->algorithm->name, forms[i].algorithm) == 0 &&
            forms[i].phase(a, call, duration_ps)) {
            a->n_phases++;
            return true;
        }
    return false;
}
