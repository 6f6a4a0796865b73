// SPDX-License-Identifier: MIT
// Lists that grow, and what is released.
#include "profile/recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "profile/dependencies.h"

#define ERRORS_MOST 40

bool recording_is_full(const struct recording *r) { return r->err->n_errors >= ERRORS_MOST; }

struct rank_recording *recording_rank(struct recording *r, int64_t rank)
{
    if (rank < 0 || rank >= RANKS_MOST)
        return NULL;
    if ((size_t)rank >= r->n_ranks) {
        size_t n = (size_t)rank + 1;
        r->ranks = memory_resize(r->ranks, n, sizeof *r->ranks);
        memset(r->ranks + r->n_ranks, 0, (n - r->n_ranks) * sizeof *r->ranks);
        for (size_t i = r->n_ranks; i < n; i++)
            r->ranks[i].begin_ns = TIME_UNKNOWN;
        r->n_ranks = n;
    }
    return &r->ranks[rank];
}

static void drop_events(struct rank_recording *rank)
{
    free(rank->events);
    free(rank->streams);
    free(rank->host_waits);
    free(rank->stream_waits);
    free(rank->call_waits);
    rank->events = NULL;
    rank->streams = NULL;
    rank->host_waits = NULL;
    rank->stream_waits = NULL;
    rank->call_waits = NULL;
    rank->n_events = rank->cap_events = rank->n_streams = rank->cap_streams = 0;
    rank->n_host_waits = rank->cap_host_waits = 0;
    rank->n_stream_waits = rank->cap_stream_waits = 0;
    rank->n_call_waits = rank->cap_call_waits = 0;
}

void rank_drop(struct rank_recording *rank)
{
    drop_events(rank);
    rank->n_calls = rank->n_nodes = rank->n_steps = 0;
}

void rank_free(struct rank_recording *rank)
{
    drop_events(rank);
    free(rank->path);
    free(rank->steps);
    free(rank->calls);
    free(rank->nodes);
    free(rank->after);
}

void recording_free(struct recording *r)
{
    for (size_t i = 0; i < r->n_ranks; i++)
        rank_free(&r->ranks[i]);
    for (size_t g = 0; g < r->n_groups; g++) {
        free(r->groups[g].name);
        free(r->groups[g].use);
        free(r->groups[g].ranks);
        free(r->groups[g].bytes);
        free(r->groups[g].uneven);
        free(r->groups[g].received);
    }
    free(r->ranks);
    free(r->groups);
    free(r->unused);
    names_free(&r->names);
}

static bool name_taken(const struct recording *r, const char *name)
{
    for (size_t g = 0; g < r->n_groups; g++)
        if (strcmp(r->groups[g].name, name) == 0)
            return true;
    return strcmp(name, "all") == 0; // the program's own group
}

uint32_t recording_group(struct recording *r, const char *name, const char *use,
                         const uint32_t *ranks, uint32_t size)
{
    size_t length = strlen(name);
    for (size_t g = 0; g < r->n_groups; g++) {
        const struct recorded_group *old = &r->groups[g];
        bool same = strncmp(old->name, name, length) == 0 &&
                    (old->name[length] == '\0' || old->name[length] == '@');
        if (same && old->size == size && memcmp(old->ranks, ranks, size * sizeof *ranks) == 0)
            return (uint32_t)g;
    }
    if (r->n_groups == r->cap_groups)
        r->groups = memory_grow(r->groups, &r->cap_groups, sizeof *r->groups);
    char *made = memory_text(name);
    for (unsigned k = 0; name_taken(r, made); k++) { // the same name, other ranks
        free(made);
        made = memory_bytes(length + 24);
        snprintf(made, length + 24, k == 0 ? "%s@%u" : "%s@%u.%u", name,
                 size > 0 ? (unsigned)ranks[0] : 0u, k);
    }
    struct recorded_group *group = &r->groups[r->n_groups];
    *group = (struct recorded_group){.name = made, .size = size};
    group->use = memory_text(use != NULL ? use : "");
    group->ranks = memory_bytes((size > 0 ? size : 1) * sizeof *ranks);
    memcpy(group->ranks, ranks, size * sizeof *ranks);
    return (uint32_t)r->n_groups++;
}

int64_t time_sum(int64_t a_ns, int64_t b_ns)
{
    return a_ns < TIME_MOST_NS - b_ns ? a_ns + b_ns : TIME_MOST_NS;
}

void recording_unused(struct recording *r, const char *what, int64_t ns)
{
    const char *name = name_keep(&r->names, what);
    for (size_t i = 0; i < r->n_unused; i++)
        if (r->unused[i].what == name) {
            r->unused[i].n++;
            r->unused[i].ns = time_sum(r->unused[i].ns, ns);
            return;
        }
    if (r->n_unused == r->cap_unused)
        r->unused = memory_grow(r->unused, &r->cap_unused, sizeof *r->unused);
    r->unused[r->n_unused++] = (struct unused_events){name, 1, ns};
}

/* ---- lists of a rank ---- */

uint32_t rank_stream(struct rank_recording *rank, int64_t id)
{
    for (size_t s = 0; s < rank->n_streams; s++)
        if (rank->streams[s].id == id)
            return (uint32_t)s;
    if (rank->n_streams == rank->cap_streams)
        rank->streams = memory_grow(rank->streams, &rank->cap_streams, sizeof *rank->streams);
    rank->streams[rank->n_streams] = (struct gpu_stream){.id = id};
    return (uint32_t)rank->n_streams++;
}

#define APPEND(list, n, cap)                                                                       \
    if (rank->n == rank->cap)                                                                      \
        rank->list = memory_grow(rank->list, &rank->cap, sizeof *rank->list);                      \
    memset(&rank->list[rank->n], 0, sizeof *rank->list);                                           \
    return &rank->list[rank->n++]

struct gpu_event *rank_event(struct rank_recording *rank) { APPEND(events, n_events, cap_events); }

struct call *rank_call(struct rank_recording *rank) { APPEND(calls, n_calls, cap_calls); }
struct step_mark *rank_step(struct rank_recording *rank) { APPEND(steps, n_steps, cap_steps); }

struct host_wait *rank_host_wait(struct rank_recording *rank)
{
    APPEND(host_waits, n_host_waits, cap_host_waits);
}

struct stream_wait *rank_stream_wait(struct rank_recording *rank)
{
    APPEND(stream_waits, n_stream_waits, cap_stream_waits);
}

struct call_wait *rank_call_wait(struct rank_recording *rank)
{
    APPEND(call_waits, n_call_waits, cap_call_waits);
}

void recording_end_rank(struct recording *r, uint32_t index)
{
    struct rank_recording *rank = &r->ranks[index];
    if (!recording_is_full(r))
        rank_nodes_make(r, rank);
    drop_events(rank);
}
