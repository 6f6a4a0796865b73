// SPDX-License-Identifier: MIT
// Whole phases in closed form, as the collectives of ASTRA-sim 1.0 take them on its analytical
// network. Of n members, with T the time of the slowest message of a step, D the endpoint delay
// before each message and after the last, and M the time to add what a message brought:
//
//   ring              all-reduce      2(n-1) T + (2(n-1) + 1) D + (n-1) M
//                     reduce-scatter  (n-1) (T + M) + n D
//                     all-gather      (n-1) T + n D
//                     all-to-all      n(n-1)/2 (T + D) + D
//   direct            all-reduce      2 T + 3 D + M
//                     reduce-scatter  T + 2 D + M
//                     all-gather, all-to-all   T + 2 D
//   halving_doubling  a step D + T_k, in halvings after the first also M_k; D after the last
//
// A message has floor(c/n) bytes of a chunk c (an all-gather's: c, the rank's own part), in step k of
// a halving floor(c/2^(k+1)). Doublings send c, 2c, .. of an all-gather; of an all-reduce the
// original halves once more before it doubles, so they send 2f, 4f, .. with f = floor(c/2n). All
// members begin at once.
#include <string.h>

#include "analytical/analytical.h"

// The original adds at one message of 500 kB in 3 ns, and what is left over for nothing.
#define ADDED_BYTES 500000
#define ADDED_NS 3

static ps_t add_ps(uint64_t bytes) { return (ps_t)(bytes / ADDED_BYTES) * ADDED_NS * PS_PER_NS; }

static uint64_t message_bytes(const struct coll_phase_call *call)
{
    return call->op == COLL_ALL_GATHER ? call->bytes : call->bytes / call->n;
}

static ps_t longer(ps_t a, ps_t b) { return a > b ? a : b; }

static bool ring_phase(const struct analytical *a, const struct coll_phase_call *call,
                       ps_t *duration_ps)
{
    uint64_t bytes = message_bytes(call);
    ps_t n = call->n, time = 0, delay = call->endpoint_ps, adding = add_ps(bytes);
    for (uint32_t i = 0; i < call->n; i++)
        time = longer(time, analytical_message_ps(a, call->members[i],
                                                  call->members[(i + 1) % call->n], bytes));
    switch (call->op) {
    case COLL_ALL_REDUCE:
        *duration_ps = 2 * (n - 1) * time + (2 * (n - 1) + 1) * delay + (n - 1) * adding;
        return true;
    case COLL_REDUCE_SCATTER:
        *duration_ps = (n - 1) * (time + adding) + n * delay;
        return true;
    case COLL_ALL_GATHER:
        *duration_ps = (n - 1) * time + n * delay;
        return true;
    case COLL_ALL_TO_ALL: // every hop of every message is a message to the neighbour
        *duration_ps = n * (n - 1) / 2 * (time + delay) + delay;
        return true;
    default:
        return false;
    }
}

// The members are an arithmetic progression, so what the first one sees stands for all.
static bool direct_phase(const struct analytical *a, const struct coll_phase_call *call,
                         ps_t *duration_ps)
{
    uint64_t bytes = message_bytes(call);
    ps_t time = 0, delay = call->endpoint_ps;
    if (call->window != 0 && call->window < call->n - 1)
        return false;
    for (uint32_t i = 1; i < call->n; i++)
        time = longer(time, analytical_message_ps(a, call->members[0], call->members[i], bytes));
    switch (call->op) {
    case COLL_ALL_REDUCE:
        *duration_ps = 2 * time + 3 * delay + add_ps(bytes);
        return true;
    case COLL_REDUCE_SCATTER:
        *duration_ps = time + 2 * delay + add_ps(bytes);
        return true;
    case COLL_ALL_GATHER:
    case COLL_ALL_TO_ALL:
        *duration_ps = time + 2 * delay;
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
        time = longer(time,
                      analytical_message_ps(a, call->members[i], call->members[i ^ mask], bytes));
    return time;
}

// Partners as in collective/halving_doubling.c: the largest messages go furthest. The original has
// them the other way round, which is the same sum as long as a link's latency is whole nanoseconds.
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
        total += call->endpoint_ps + exchange_ps(a, call, mask, bytes);
        total += mask < n / 2 ? add_ps(bytes) : 0;
    }
    if (call->op == COLL_ALL_REDUCE)
        bytes = bytes / 2 * 2;
    for (uint32_t mask = 1; call->op != COLL_REDUCE_SCATTER && mask < n; mask *= 2)
        total += call->endpoint_ps + exchange_ps(a, call, mask, bytes * mask);
    *duration_ps = total;
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
