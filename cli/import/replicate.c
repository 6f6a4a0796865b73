// SPDX-License-Identifier: MIT
// Copies of recorded ranks, with groups and peers moved to the place of the copy.
#include "cli/import/replicate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define NODES_MOST UINT64_C(100000000) // of all copies

static bool is_recorded(const struct recording *r, size_t rank)
{
    return rank < r->n_ranks && r->ranks[rank].path != NULL;
}

/* ---- groups on a grid ---- */

struct grid {
    uint32_t size, distance; // members of a group, from one to the next
};

// The grid on which the group of rank `of` is; false if it is on none of r->world ranks.
static bool grid_find(const struct recording *r, const struct recorded_group *group,
                      struct grid *grid)
{
    uint32_t n = group->size;
    if (n == 0 || (n > 1 && group->ranks[1] <= group->ranks[0]))
        return false;
    uint32_t distance = n > 1 ? group->ranks[1] - group->ranks[0] : 1;
    for (uint32_t m = 1; m < n; m++)
        if (group->ranks[m] < group->ranks[m - 1] ||
            group->ranks[m] - group->ranks[m - 1] != distance)
            return false;
    *grid = (struct grid){n, distance};
    uint64_t block = (uint64_t)n * distance;
    return group->ranks[0] % block < distance && r->world % block == 0;
}

// The group of the same grid that rank `to` is a member of.
static uint32_t group_move(struct recording *r, uint32_t g, uint32_t to)
{
    struct grid grid;
    if (to < r->groups[g].size && r->groups[g].ranks[to] == to) // of all ranks
        return g;
    for (uint32_t m = 0; m < r->groups[g].size; m++)
        if (r->groups[g].ranks[m] == to)
            return g;
    if (!grid_find(r, &r->groups[g], &grid)) {
        err_add(r->err, NULL,
                "group %s cannot be replicated: its ranks are not equally far from each other, or "
                "such groups do not divide the %u ranks",
                r->groups[g].name, r->world);
        return UINT32_MAX;
    }
    uint32_t block = grid.size * grid.distance;
    uint32_t first = to / block * block + to % grid.distance;
    uint32_t *ranks = memory_zeroed(grid.size, sizeof *ranks);
    for (uint32_t m = 0; m < grid.size; m++)
        ranks[m] = first + m * grid.distance;
    uint32_t made = recording_group(r, r->groups[g].base_name, r->groups[g].use, ranks, grid.size);
    free(ranks);
    return made;
}

/* ---- a rank ---- */

#define COPY(field)                                                                                \
    to->field = memory_zeroed(from->n_##field + 1, sizeof *to->field);                             \
    for (size_t i = 0; i < from->n_##field; i++)                                                   \
        to->field[i] = from->field[i];                                                             \
    to->n_##field = to->cap_##field = from->n_##field

static void calls_move(struct recording *r, uint32_t from, uint32_t to)
{
    uint32_t *moved = memory_bytes((r->n_groups + 1) * sizeof *moved), n = (uint32_t)r->n_groups;
    memset(moved, 0xff, n * sizeof *moved);
    struct rank_recording *rank = &r->ranks[to];
    for (size_t c = 0; c < rank->n_calls && !recording_is_full(r); c++) {
        struct call *call = &rank->calls[c];
        if (moved[call->group] == UINT32_MAX)
            moved[call->group] = group_move(r, call->group, to);
        call->group = moved[call->group];
        if (call->group == UINT32_MAX)
            break;
        int64_t peer = (int64_t)call->peer + (int64_t)to - (int64_t)from;
        if (call->kind == CALL_COLLECTIVE)
            continue;
        if (peer < 0 || peer >= (int64_t)r->world) {
            err_add(r->err, rank->path,
                    "rank %u cannot do what rank %u did: its message would be with rank %" PRId64
                    " of %u",
                    to, from, peer, r->world);
            break;
        }
        call->peer = (uint32_t)peer;
    }
    free(moved);
}

static void rank_copy(struct recording *r, uint32_t of, uint32_t index)
{
    const struct rank_recording *from = &r->ranks[of];
    struct rank_recording *to = &r->ranks[index];
    *to = (struct rank_recording){.path = memory_text(from->path),
                                  .copied = true,
                                  .begin_ns = from->begin_ns,
                                  .end_ns = from->end_ns,
                                  .n_comm_streams = from->n_comm_streams};
    COPY(steps);
    COPY(calls);
    COPY(nodes);
    COPY(after);
    calls_move(r, of, index);
}

/* ---- all ---- */

static uint32_t recorded_count(const struct recording *r, bool *first_ones)
{
    uint32_t n = 0;
    *first_ones = true;
    for (uint32_t i = 0; i < r->n_ranks && i < r->world; i++)
        if (is_recorded(r, i))
            *first_ones = n++ == i && *first_ones;
    return n;
}

static bool size_check(struct recording *r, uint32_t n)
{
    uint64_t nodes = 0;
    for (size_t i = 0; i < r->n_ranks; i++)
        nodes += r->ranks[i].n_nodes;
    if (nodes / n <= NODES_MOST / r->world)
        return true;
    err_add(r->err, NULL,
            "%u ranks like those that were recorded have more than %" PRIu64 " operations",
            r->world, NODES_MOST);
    return false;
}

void recording_replicate(struct recording *r)
{
    bool first_ones;
    uint32_t n = recorded_count(r, &first_ones), last = 0;
    if (n == 0 || n >= r->world || !size_check(r, n))
        return;
    recording_rank(r, (int64_t)r->world - 1);
    while (!is_recorded(r, last))
        last++;
    for (uint32_t i = 0; i < r->world && !recording_is_full(r); i++) {
        if (is_recorded(r, i) && !(first_ones && i >= n))
            last = i;
        else
            rank_copy(r, first_ones ? i % n : last, i);
    }
    if (first_ones)
        recording_assume(r,
                         "ranks %u to %u do what the rank of their number modulo %u did; measured "
                         "times of collectives include waiting for them",
                         n, r->world - 1, n);
    else
        recording_assume(r,
                         "the %u of %u ranks that were not recorded do what the last recorded "
                         "rank before them did; measured times of collectives include waiting for "
                         "them",
                         r->world - n, r->world);
}
