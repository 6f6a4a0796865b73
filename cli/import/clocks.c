// SPDX-License-Identifier: MIT
// From group to group, beginning at the first rank.
#include "cli/import/clocks.h"

#include <stdlib.h>

#include "cli/import/match.h"
#include "engine/base/memory.h"

static bool ends_together(enum coll_op op)
{
    return op == COLL_ALL_REDUCE || op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER ||
           op == COLL_ALL_TO_ALL || op == COLL_BARRIER;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The ends of the group's collectives on a rank, TIME_UNKNOWN for other operations.
static int64_t *ends_of(const struct recording *r, uint32_t g, uint32_t rank)
{
    const struct rank_recording *from = &r->ranks[rank];
    int64_t *ends = memory_zeroed(r->groups[g].n_collectives + 1, sizeof *ends);
    for (size_t c = 0; c < from->n_calls; c++) {
        const struct call *call = &from->calls[c];
        if (call->kind == CALL_COLLECTIVE && call->group == g &&
            call->number < r->groups[g].n_collectives)
            ends[call->number] = ends_together(call->op) ? call->end_ns : TIME_UNKNOWN;
    }
    return ends;
}

// The rank's offset from the differences [n] of ends against a known rank.
static void settle(struct recording *r, uint32_t rank, uint32_t known, int64_t *own, uint32_t n,
                   struct clock_estimate *all)
{
    if (n > 0) {
        qsort(own, n, sizeof *own, by_value);
        int64_t median = own[n / 2];
        for (uint32_t k = 0; k < n; k++)
            own[k] = own[k] > median ? own[k] - median : median - own[k];
        qsort(own, n, sizeof *own, by_value);
        int64_t spread = own[(n - 1) * 9 / 10];
        struct rank_recording *to = &r->ranks[rank];
        if (__builtin_add_overflow(r->ranks[known].offset_ns, median, &to->offset_ns))
            to->offset_ns = median; // cannot be, since clocks_check() has compared all
        to->offset_known = true;
        all->n_ranks++;
        all->n_ends += n;
        all->spread_ns = spread > all->spread_ns ? spread : all->spread_ns;
        if (llabs(to->offset_ns) > llabs(all->worst_ns)) {
            all->worst_ns = to->offset_ns;
            all->worst_rank = rank;
        }
    }
}

static void estimate(struct recording *r, uint32_t g, uint32_t rank, uint32_t known,
                     struct clock_estimate *all)
{
    uint32_t n = 0, most = r->groups[g].n_collectives;
    int64_t *own = ends_of(r, g, rank), *other = ends_of(r, g, known);
    for (uint32_t k = 0; k < most; k++)
        if (own[k] != TIME_UNKNOWN && other[k] != TIME_UNKNOWN)
            own[n++] = own[k] - other[k];
    settle(r, rank, known, own, n, all);
    free(own);
    free(other);
}

// Returns true if an offset has become known.
static bool by_group(struct recording *r, uint32_t g, struct clock_estimate *all)
{
    const struct recorded_group *group = &r->groups[g];
    uint32_t known = UINT32_MAX;
    bool any = false;
    for (uint32_t m = 0; m < group->size && known == UINT32_MAX; m++)
        if (r->ranks[group->ranks[m]].offset_known)
            known = group->ranks[m];
    for (uint32_t m = 0; m < group->size && known != UINT32_MAX; m++) {
        uint32_t rank = group->ranks[m];
        if (r->ranks[rank].offset_known)
            continue;
        estimate(r, g, rank, known, all);
        any = any || r->ranks[rank].offset_known;
    }
    return any;
}

/* ---- messages ---- */

// The ends of a rank's messages of a kind to or from `peer`, in their order.
static int64_t *message_ends(const struct rank_recording *rank, enum call_kind kind, uint32_t peer,
                             uint32_t *n)
{
    int64_t *ends = memory_zeroed(rank->n_calls + 1, sizeof *ends);
    *n = 0;
    for (size_t c = 0; c < rank->n_calls; c++)
        if (rank->calls[c].kind == kind && rank->calls[c].peer == peer)
            ends[(*n)++] = rank->calls[c].end_ns;
    return ends;
}

// A message of the rank with one whose offset is known.
static const struct call *known_peer(const struct recording *r, uint32_t rank)
{
    for (size_t c = 0; c < r->ranks[rank].n_calls; c++) {
        const struct call *call = &r->ranks[rank].calls[c];
        if (call->kind != CALL_COLLECTIVE && r->ranks[call->peer].offset_known)
            return call;
    }
    return NULL;
}

// A rank that shares no collective: the kernels at both sides of a message end nearly together.
static bool by_messages(struct recording *r, struct clock_estimate *all)
{
    for (uint32_t rank = 0; rank < r->n_ranks; rank++) {
        const struct call *call = r->ranks[rank].offset_known ? NULL : known_peer(r, rank);
        if (call == NULL)
            continue;
        uint32_t n, m, peer = call->peer;
        bool send = call->kind == CALL_SEND;
        int64_t *own = message_ends(&r->ranks[rank], call->kind, peer, &n);
        int64_t *other = message_ends(&r->ranks[peer], send ? CALL_RECV : CALL_SEND, rank, &m);
        n = n < m ? n : m;
        for (uint32_t k = 0; k < n; k++)
            own[k] -= other[k];
        settle(r, rank, peer, own, n, all);
        free(own);
        free(other);
        if (r->ranks[rank].offset_known)
            return true;
    }
    return false;
}

struct clock_estimate clocks_estimate(struct recording *r)
{
    struct clock_estimate all = {0};
    if (r->n_ranks == 0)
        return all;
    r->ranks[0].offset_known = true;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t g = 0; g < r->n_groups; g++)
            if (group_missing(r, &r->groups[g]) == 0)
                again = by_group(r, g, &all) || again;
        again = again || by_messages(r, &all);
    }
    return all;
}
