// SPDX-License-Identifier: MIT
// GPUs become ranks, communicators groups.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_folder.h"
#include "cli/import/nsys.h"
#include "cli/import/nsys_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

uint32_t nsys_communicator_find(struct nsys *n, uint64_t id)
{
    size_t *place = table_pair(&n->communicator_of, id, 0);
    if (*place == 0) {
        if (n->n_communicators == n->cap_communicators)
            n->communicators =
                memory_grow(n->communicators, &n->cap_communicators, sizeof *n->communicators);
        n->communicators[n->n_communicators++] =
            (struct nsys_communicator){.id = id, .n_ranks = -1};
        *place = n->n_communicators;
    }
    return (uint32_t)(*place - 1);
}

struct nsys_member *nsys_member_find(struct nsys *n, uint32_t communicator, uint32_t gpu)
{
    struct nsys_communicator *c = &n->communicators[communicator];
    size_t *place = table_pair(&n->member_of, communicator, gpu);
    if (*place == 0) {
        if (c->n_members == c->cap_members)
            c->members = memory_grow(c->members, &c->cap_members, sizeof *c->members);
        c->members[c->n_members++] = (struct nsys_member){gpu, -1};
        *place = c->n_members;
    }
    return &c->members[*place - 1];
}

/* ---- numbers ---- */

// True if the members have the ranks from 0 to n - 1, each once.
static bool is_whole(const struct nsys_communicator *c, size_t n)
{
    bool whole = c->n_ranks == (int64_t)n && c->n_members == n;
    if (!whole)
        return false;
    bool *seen = memory_zeroed(n + 1, sizeof *seen);
    for (size_t m = 0; m < c->n_members && whole; m++) {
        int64_t rank = c->members[m].rank;
        whole = rank >= 0 && rank < (int64_t)n && !seen[rank];
        if (whole)
            seen[rank] = true;
    }
    free(seen);
    return whole;
}

// By the communicator of all GPUs, if it was recorded whole. Returns true if they are numbered.
static bool number_by_world(struct nsys *n)
{
    for (size_t c = 0; c < n->n_communicators; c++) {
        const struct nsys_communicator *world = &n->communicators[c];
        if (!is_whole(world, n->n_gpus))
            continue;
        for (size_t m = 0; m < world->n_members; m++)
            n->gpus[world->members[m].gpu].number = (uint32_t)world->members[m].rank;
        return true;
    }
    return false;
}

// By the names of files that have one GPU each and end at the number of GPUs.
static bool number_by_names(struct nsys *n)
{
    bool good = true, *seen = memory_zeroed(n->n_gpus + 1, sizeof *seen);
    for (size_t g = 0; g < n->n_gpus && good; g++) {
        int64_t rank = path_rank(n->gpus[g].path);
        good = rank >= 0 && rank < (int64_t)n->n_gpus && !seen[rank];
        if (good)
            seen[rank] = true;
        n->gpus[g].number = good ? (uint32_t)rank : 0;
    }
    free(seen);
    return good;
}

static int by_place(const void *a, const void *b)
{
    const struct nsys_gpu *const *x = a, *const *y = b;
    int path = strcmp((*x)->path, (*y)->path);
    if (path != 0)
        return path;
    if ((*x)->device != (*y)->device)
        return (*x)->device < (*y)->device ? -1 : 1;
    return ((*x)->pid > (*y)->pid) - ((*x)->pid < (*y)->pid);
}

static void number_by_place(struct recording *r, struct nsys *n)
{
    struct nsys_gpu **sorted = memory_zeroed(n->n_gpus + 1, sizeof(struct nsys_gpu *));
    for (size_t g = 0; g < n->n_gpus; g++)
        sorted[g] = &n->gpus[g];
    qsort(sorted, n->n_gpus, sizeof *sorted, by_place);
    for (size_t g = 0; g < n->n_gpus; g++)
        sorted[g]->number = (uint32_t)g;
    free(sorted);
    err_warn(r->err, NULL,
             "no ncclCommInitRank of all %zu GPUs was recorded, and no file has "
             "\"rank0\" in its name: ranks are numbered by file and device",
             n->n_gpus);
}

/* ---- groups ---- */

struct placed_member {
    int64_t rank; // in the communicator, or of the job where that is not known
    uint32_t number;
};

static int by_rank(const void *a, const void *b)
{
    const struct placed_member *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

// The members in the communicator's order. Returns false with an error if ranks are missing, or
// occur twice.
static bool members_place(struct recording *r, const struct nsys *n,
                          const struct nsys_communicator *c, struct placed_member *placed)
{
    bool known = c->n_ranks == (int64_t)c->n_members;
    if (c->n_ranks > (int64_t)c->n_members && !recording_is_full(r)) {
        err_add(r->err, NULL,
                "communicator 0x%" PRIx64 ": of %" PRId64 " ranks, %" PRId64 " are in no file",
                c->id, c->n_ranks, c->n_ranks - (int64_t)c->n_members);
        return false;
    }
    for (size_t m = 0; m < c->n_members; m++)
        known = known && c->members[m].rank >= 0;
    for (size_t m = 0; m < c->n_members; m++) {
        uint32_t number = n->gpus[c->members[m].gpu].number;
        placed[m] = (struct placed_member){known ? c->members[m].rank : (int64_t)number, number};
    }
    qsort(placed, c->n_members, sizeof *placed, by_rank);
    for (size_t m = 1; m < c->n_members; m++)
        if (placed[m].rank == placed[m - 1].rank) {
            if (!recording_is_full(r))
                err_add(r->err, NULL, "communicator 0x%" PRIx64 ": rank %" PRId64 " occurs twice",
                        c->id, placed[m].rank);
            return false;
        }
    return true;
}

static uint32_t group_make(struct recording *r, const struct nsys *n,
                           const struct nsys_communicator *c)
{
    struct placed_member *placed = memory_zeroed(c->n_members + 1, sizeof *placed);
    uint32_t *ranks = memory_zeroed(c->n_members + 1, sizeof *ranks), group = UINT32_MAX;
    if (members_place(r, n, c, placed)) {
        for (size_t m = 0; m < c->n_members; m++)
            ranks[m] = placed[m].number;
        char *name = text_format("0x%" PRIx64, c->id);
        group = recording_group(r, name, NULL, ranks, (uint32_t)c->n_members);
        free(name);
    }
    free(placed);
    free(ranks);
    return group;
}

static bool by_parts(enum coll_op op) // NCCL counts what one rank has of them
{
    return op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL ||
           op == COLL_GATHER || op == COLL_SCATTER;
}

static void call_finish(struct recording *r, const struct nsys_gpu *gpu, struct call *call,
                        uint32_t group)
{
    const struct recorded_group *g = &r->groups[group];
    call->group = group;
    if (call->kind == CALL_COLLECTIVE && by_parts(call->op))
        call->bytes *= g->size;
    uint32_t *other = call->kind == CALL_COLLECTIVE ? &call->root : &call->peer;
    if (*other >= g->size) {
        if (!recording_is_full(r))
            err_add(r->err, gpu->path, "a call at %" PRId64 " ns names rank %u of %u in group %s",
                    call->start_ns, *other, g->size, g->name);
        *other = 0;
    }
    if (call->kind != CALL_COLLECTIVE)
        call->peer = g->ranks[call->peer];
}

static void rank_make(struct recording *r, struct nsys_gpu *gpu, const uint32_t *groups)
{
    for (size_t c = 0; c < gpu->rank.n_calls; c++)
        call_finish(r, gpu, &gpu->rank.calls[c], groups[gpu->rank.calls[c].group]);
    struct rank_recording *rank = recording_rank(r, gpu->number);
    *rank = gpu->rank;
    rank->path = memory_text(gpu->path);
    gpu->rank = (struct rank_recording){0};
    recording_end_rank(r, gpu->number);
}

static void nsys_free(struct nsys *n)
{
    for (size_t g = 0; g < n->n_gpus; g++) {
        free(n->gpus[g].path);
        free(n->gpus[g].kernels);
        rank_free(&n->gpus[g].rank);
    }
    for (size_t c = 0; c < n->n_communicators; c++)
        free(n->communicators[c].members);
    table_free(&n->communicator_of);
    table_free(&n->member_of);
    free(n->gpus);
    free(n->communicators);
    free(n);
}

// GPUs that took part in nothing are no ranks.
static void gpus_drop_idle(struct nsys *n)
{
    uint32_t *moved = memory_zeroed(n->n_gpus + 1, sizeof *moved), kept = 0;
    for (size_t g = 0; g < n->n_gpus; g++) {
        moved[g] = kept;
        if (n->gpus[g].rank.n_calls > 0) {
            n->gpus[kept++] = n->gpus[g];
            continue;
        }
        free(n->gpus[g].path);
        free(n->gpus[g].kernels);
        rank_free(&n->gpus[g].rank);
        moved[g] = UINT32_MAX;
    }
    n->n_gpus = kept;
    for (size_t c = 0; c < n->n_communicators; c++) {
        struct nsys_communicator *of = &n->communicators[c];
        size_t left = 0;
        for (size_t m = 0; m < of->n_members; m++)
            if (moved[of->members[m].gpu] != UINT32_MAX)
                of->members[left++] =
                    (struct nsys_member){moved[of->members[m].gpu], of->members[m].rank};
        of->n_members = left;
    }
    free(moved);
}

static void ranks_make(struct recording *r, struct nsys *n)
{
    size_t errors = r->err->n_errors;
    uint32_t *groups = memory_zeroed(n->n_communicators + 1, sizeof *groups);
    if (!number_by_world(n) && !number_by_names(n))
        number_by_place(r, n);
    r->world = (uint32_t)n->n_gpus;
    for (size_t c = 0; c < n->n_communicators; c++)
        if (n->communicators[c].n_members > 0)
            groups[c] = group_make(r, n, &n->communicators[c]);
    for (size_t g = 0; g < n->n_gpus && r->err->n_errors == errors; g++)
        rank_make(r, &n->gpus[g], groups);
    free(groups);
}

void nsys_end(struct recording *r)
{
    struct nsys *n = r->reader;
    if (n == NULL)
        return;
    gpus_drop_idle(n);
    if (n->n_gpus > RANKS_MOST)
        err_add(r->err, NULL, "the files have %zu GPUs: at most %d can be ranks", n->n_gpus,
                RANKS_MOST);
    else if (n->n_gpus > 0 && !recording_is_full(r)) // else groups may be missing
        ranks_make(r, n);
    nsys_free(n);
    r->reader = NULL;
}
