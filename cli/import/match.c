// SPDX-License-Identifier: MIT
// The k-th collective of a group is the same for all its members, as NCCL requires.
#include "cli/import/match.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

#define NAMED_MOST 8

static bool is_present(const struct recording *r, uint32_t rank)
{
    return rank < r->n_ranks && r->ranks[rank].path != NULL;
}

uint32_t group_missing(const struct recording *r, const struct recorded_group *group)
{
    uint32_t n = 0;
    for (uint32_t m = 0; m < group->size; m++)
        n += !is_present(r, group->ranks[m]);
    return n;
}

/* ---- ranks ---- */

// "3, 5 and 12 more"
static char *missing_text(const struct recording *r)
{
    struct text text;
    FILE *out = text_open(&text);
    uint32_t n = 0;
    for (uint32_t rank = 0; rank < r->world; rank++) {
        if (is_present(r, rank))
            continue;
        if (n < NAMED_MOST)
            fprintf(out, "%s%u", n > 0 ? ", " : "", rank);
        n++;
    }
    if (n > NAMED_MOST)
        fprintf(out, " and %u more", n - NAMED_MOST);
    return text_close(out, &text);
}

static void missing_check(struct recording *r, bool *complete)
{
    uint32_t missing = 0;
    for (uint32_t rank = 0; rank < r->world; rank++)
        missing += !is_present(r, rank);
    *complete = missing == 0;
    for (size_t i = 0; i < r->n_ranks; i++)
        *complete = *complete && !r->ranks[i].broken;
    if (missing == 0)
        return;
    char *ranks = missing_text(r);
    err_add(r->err, NULL,
            "of %u ranks, %u are missing: %s; with --replicate they do what recorded ones did",
            r->world, missing, ranks);
    free(ranks);
    for (size_t g = 0; g < r->n_groups && !recording_is_full(r); g++) {
        const struct recorded_group *group = &r->groups[g];
        uint32_t n = group_missing(r, group);
        for (uint32_t m = 0; m < group->size && n > 0; m++)
            if (!is_present(r, group->ranks[m])) {
                err_add(r->err, NULL, "group %s has no recording of rank %u%s", group->name,
                        group->ranks[m], n > 1 ? " and of others" : "");
                break;
            }
    }
}

static void steps_check(struct recording *r)
{
    const struct rank_recording *first = NULL;
    uint32_t first_rank = 0;
    for (uint32_t i = 0; i < r->n_ranks && !recording_is_full(r); i++) {
        const struct rank_recording *rank = &r->ranks[i];
        if (rank->path == NULL || rank->broken)
            continue;
        if (first == NULL) {
            first = rank;
            first_rank = i;
            continue;
        }
        bool same = rank->n_steps == first->n_steps;
        for (size_t s = 0; s < rank->n_steps && same; s++)
            same = rank->steps[s].number == first->steps[s].number;
        if (same)
            continue;
        if (rank->n_steps == 0 || first->n_steps == 0)
            err_add(r->err, rank->path, "rank %u has %s iterations (ProfilerStep), rank %u has %s",
                    i, rank->n_steps > 0 ? "marks of" : "no marks of", first_rank,
                    first->n_steps > 0 ? "them" : "none");
        else
            err_add(r->err, rank->path,
                    "rank %u has %zu iterations from %" PRId64 ", rank %u has %zu from %" PRId64
                    ": the traces are of different steps",
                    i, rank->n_steps, rank->steps[0].number, first_rank, first->n_steps,
                    first->steps[0].number);
    }
}

/* ---- collectives ---- */

// The collectives of a group on a rank, in their order.
static const struct call **calls_of(const struct rank_recording *rank, uint32_t group, uint32_t *n)
{
    const struct call **list = memory_zeroed(rank->n_calls + 1, sizeof(const struct call *));
    *n = 0;
    for (size_t c = 0; c < rank->n_calls; c++)
        if (rank->calls[c].group == group && rank->calls[c].kind == CALL_COLLECTIVE)
            list[(*n)++] = &rank->calls[c];
    return list;
}

static bool sizes_equal(const struct call *a)
{
    return !a->uneven && !a->sent_only &&
           (a->op == COLL_ALL_REDUCE || a->op == COLL_REDUCE_SCATTER || a->op == COLL_ALL_GATHER ||
            a->op == COLL_ALL_TO_ALL);
}

// Compare a member's collectives with those of the first one. Only the first difference is named.
static void compare(struct recording *r, const struct recorded_group *group, uint32_t rank,
                    const struct call **own, uint32_t n, const struct call **first,
                    uint32_t n_first)
{
    uint32_t first_rank = group->ranks[0], least = n < n_first ? n : n_first;
    const char *path = r->ranks[rank].path;
    for (uint32_t k = 0; k < least; k++) {
        const struct call *a = own[k], *b = first[k];
        bool sequences = a->sequence != SEQUENCE_UNKNOWN && b->sequence != SEQUENCE_UNKNOWN;
        if (sequences && a->sequence != b->sequence) {
            err_add(r->err, path,
                    "byte %" PRIu64 ": collective %u of group %s has the sequence number %" PRId64
                    " on rank %u, and %" PRId64 " on rank %u: the traces are of different steps",
                    a->offset, k + 1, group->name, a->sequence, rank, b->sequence, first_rank);
            return;
        }
        if (a->op != b->op || (sizes_equal(a) && sizes_equal(b) && a->bytes != b->bytes)) {
            err_add(r->err, path,
                    "byte %" PRIu64 ": collective %u of group %s is %s of %" PRIu64
                    " B on rank %u, and %s of %" PRIu64 " B on rank %u",
                    a->offset, k + 1, group->name, coll_op_name(a->op), a->bytes, rank,
                    coll_op_name(b->op), b->bytes, first_rank);
            return;
        }
    }
    if (n != n_first)
        err_add(r->err, path,
                "rank %u has %u collectives of group %s, rank %u has %u: the traces do not cover "
                "the same steps",
                rank, n, group->name, first_rank, n_first);
}

// Note a member's collectives.
static void note(struct recorded_group *group, uint32_t member, const struct call **own, uint32_t n)
{
    for (uint32_t k = 0; k < n && k < group->n_collectives; k++) {
        uint64_t *of_members =
            group->received != NULL ? &group->received[(size_t)k * group->size] : NULL;
        if (own[k]->bytes > group->bytes[k])
            group->bytes[k] = own[k]->bytes;
        if (of_members != NULL)
            of_members[member] = own[k]->bytes;
        if (own[k]->uneven || (own[k]->sent_only && of_members[member] != of_members[0]))
            group->uneven[k] = true;
    }
}

static bool any_uneven(const struct recording *r, uint32_t g)
{
    for (uint32_t m = 0; m < r->groups[g].size; m++) {
        const struct rank_recording *rank = &r->ranks[r->groups[g].ranks[m]];
        for (size_t c = 0; c < rank->n_calls; c++)
            if (rank->calls[c].group == g && (rank->calls[c].uneven || rank->calls[c].sent_only))
                return true;
    }
    return false;
}

// True if all members were read.
static bool is_whole(const struct recording *r, const struct recorded_group *group)
{
    for (uint32_t m = 0; m < group->size; m++)
        if (!is_present(r, group->ranks[m]) || r->ranks[group->ranks[m]].broken)
            return false;
    return group->size > 0;
}

static void group_check(struct recording *r, uint32_t g)
{
    struct recorded_group *group = &r->groups[g];
    uint32_t n_first;
    const struct call **first = calls_of(&r->ranks[group->ranks[0]], g, &n_first);
    group->bytes = memory_zeroed(n_first + 1, sizeof *group->bytes);
    group->uneven = memory_zeroed(n_first + 1, sizeof *group->uneven);
    group->n_collectives = n_first;
    if (any_uneven(r, g))
        group->received = memory_zeroed((size_t)n_first * group->size + 1, sizeof(uint64_t));
    note(group, 0, first, n_first);
    for (uint32_t m = 1; m < group->size && !recording_is_full(r); m++) {
        uint32_t n, rank = group->ranks[m];
        const struct call **own = calls_of(&r->ranks[rank], g, &n);
        compare(r, group, rank, own, n, first, n_first);
        note(group, m, own, n);
        free(own);
    }
    free(first);
}

// A rank can only call what it is a member of.
static void members_check(struct recording *r)
{
    enum { UNKNOWN, MEMBER, OTHER };
    uint8_t *is = memory_zeroed(r->n_groups + 1, sizeof *is);
    for (uint32_t i = 0; i < r->n_ranks && !recording_is_full(r); i++) {
        const struct rank_recording *rank = &r->ranks[i];
        for (size_t c = 0; c < rank->n_calls && !recording_is_full(r); c++) {
            const struct recorded_group *group = &r->groups[rank->calls[c].group];
            uint8_t *own = &is[rank->calls[c].group];
            for (uint32_t m = 0; m < group->size && *own == UNKNOWN; m++)
                *own = group->ranks[m] == i ? MEMBER : UNKNOWN;
            if (*own == MEMBER)
                continue;
            *own = OTHER;
            err_add(r->err, rank->path,
                    "byte %" PRIu64 ": rank %u is no member of group %s, which it calls",
                    rank->calls[c].offset, i, group->name);
        }
        for (size_t c = 0; c < rank->n_calls; c++)
            is[rank->calls[c].group] = UNKNOWN;
    }
    free(is);
}

// Number the collectives of each rank in their groups.
static void calls_number(struct recording *r)
{
    uint32_t *next = memory_zeroed(r->n_groups + 1, sizeof *next);
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        struct rank_recording *rank = &r->ranks[i];
        for (size_t c = 0; c < rank->n_calls; c++)
            if (rank->calls[c].kind == CALL_COLLECTIVE)
                rank->calls[c].number = next[rank->calls[c].group]++;
        for (size_t c = 0; c < rank->n_calls; c++)
            next[rank->calls[c].group] = 0;
    }
    free(next);
}

/* ---- messages ---- */

struct pair {
    uint32_t src, dst, group;
    uint64_t bytes; // of its n-th message on either side
    uint32_t number, rank;
};

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static struct pair *pairs_of(const struct recording *r, enum call_kind kind, size_t *n)
{
    struct pair *list = NULL;
    size_t cap = 0;
    *n = 0;
    for (uint32_t i = 0; i < r->n_ranks; i++)
        for (size_t c = 0; c < r->ranks[i].n_calls; c++) {
            const struct call *call = &r->ranks[i].calls[c];
            if (call->kind != kind)
                continue;
            if (*n == cap)
                list = memory_grow(list, &cap, sizeof *list);
            bool send = kind == CALL_SEND;
            list[(*n)++] = (struct pair){.src = send ? i : call->peer,
                                         .dst = send ? call->peer : i,
                                         .group = call->group,
                                         .bytes = call->bytes,
                                         .number = (uint32_t)c};
        }
    if (*n > 1)
        qsort(list, *n, sizeof *list, by_pair);
    return list;
}

static int same_pair(const struct pair *x, const struct pair *y)
{
    struct pair a = *x, b = *y;
    a.number = b.number = 0;
    return by_pair(&a, &b);
}

// The n-th message of a pair of ranks and group is sent and received with the same size.
static void messages_check(struct recording *r)
{
    size_t n_sends, n_recvs, s = 0, t = 0;
    struct pair *sends = pairs_of(r, CALL_SEND, &n_sends),
                *recvs = pairs_of(r, CALL_RECV, &n_recvs);
    while ((s < n_sends || t < n_recvs) && !recording_is_full(r)) {
        int order = s == n_sends ? 1 : t == n_recvs ? -1 : same_pair(&sends[s], &recvs[t]);
        if (order == 0 && sends[s].bytes == recvs[t].bytes) {
            s++;
            t++;
            continue;
        }
        const struct pair *p = order <= 0 ? &sends[s] : &recvs[t];
        const char *group = r->groups[p->group].name;
        if (order == 0)
            err_add(r->err, r->ranks[p->src].path,
                    "rank %u sends %" PRIu64 " B to rank %u in group %s, which receives %" PRIu64
                    " B",
                    p->src, p->bytes, p->dst, group, recvs[t].bytes);
        else
            err_add(r->err, r->ranks[order < 0 ? p->src : p->dst].path,
                    "a message of %" PRIu64 " B from rank %u to rank %u in group %s is not %s",
                    p->bytes, p->src, p->dst, group, order < 0 ? "received" : "sent");
        struct pair of = *p; // once for a pair
        while (s < n_sends && same_pair(&sends[s], &of) == 0)
            s++;
        while (t < n_recvs && same_pair(&recvs[t], &of) == 0)
            t++;
    }
    free(sends);
    free(recvs);
}

void recording_match(struct recording *r)
{
    bool complete;
    missing_check(r, &complete);
    steps_check(r);
    members_check(r);
    for (uint32_t g = 0; g < r->n_groups && !recording_is_full(r); g++)
        if (is_whole(r, &r->groups[g]))
            group_check(r, g);
    calls_number(r);
    if (complete)
        messages_check(r);
}
