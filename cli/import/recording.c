// SPDX-License-Identifier: MIT
// Lists that grow, and what is released.
#include "cli/import/recording.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/dependencies.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"

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
    free(r->assumptions);
    table_free(&r->group_of);
    table_free(&r->group_name);
    names_free(&r->names);
}

// A name that no group has: the name itself, else with its first rank, else with a number too.
static const char *name_free(struct recording *r, const char *name, uint32_t first)
{
    const char *made = name;
    while (*table_pair(&r->group_name, (uintptr_t)made, 0) != 0) { // the same name, other ranks
        size_t k = (*table_pair(&r->group_name, (uintptr_t)name, 1 + (uint64_t)first))++;
        char *text = k == 0 ? text_format("%s@%u", name, (unsigned)first)
                            : text_format("%s@%u.%zu", name, (unsigned)first, k);
        made = name_keep(&r->names, text);
        free(text);
    }
    *table_pair(&r->group_name, (uintptr_t)made, 0) = 1;
    return made;
}

static uint64_t ranks_hash(const uint32_t *ranks, uint32_t size)
{
    uint64_t hash = size;
    for (uint32_t i = 0; i < size; i++)
        hash = hash_mix(hash + ranks[i]);
    return hash;
}

// The place of the group of a name and these ranks in `group_of`, 0 in it if there is none. Groups
// with the same hash follow each other.
static size_t *group_place(struct recording *r, const char *name, const uint32_t *ranks,
                           uint32_t size)
{
    for (uint64_t hash = ranks_hash(ranks, size);; hash++) {
        size_t *place = table_pair(&r->group_of, (uintptr_t)name, hash);
        const struct recorded_group *old = *place > 0 ? &r->groups[*place - 1] : NULL;
        if (old == NULL ||
            (old->size == size && memcmp(old->ranks, ranks, size * sizeof *ranks) == 0))
            return place;
    }
}

uint32_t recording_group(struct recording *r, const char *name, const char *use,
                         const uint32_t *ranks, uint32_t size)
{
    const char *kept = name_keep(&r->names, name);
    if (r->n_groups == 0) // the program's own group
        *table_pair(&r->group_name, (uintptr_t)name_keep(&r->names, "all"), 0) = 1;
    size_t *place = group_place(r, kept, ranks, size);
    if (*place > 0)
        return (uint32_t)(*place - 1);
    *place = r->n_groups + 1;
    if (r->n_groups == r->cap_groups)
        r->groups = memory_grow(r->groups, &r->cap_groups, sizeof *r->groups);
    struct recorded_group *group = &r->groups[r->n_groups++];
    const char *made = name_free(r, kept, size > 0 ? ranks[0] : 0);
    *group = (struct recorded_group){.name = memory_text(made), .base_name = kept, .size = size};
    group->use = memory_text(use != NULL ? use : "");
    group->ranks = memory_bytes((size > 0 ? size : 1) * sizeof *ranks);
    memcpy(group->ranks, ranks, size * sizeof *ranks);
    if (made != kept)
        *group_place(r, made, ranks, size) = r->n_groups;
    return (uint32_t)r->n_groups - 1;
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

void recording_assume(struct recording *r, const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    const char *sentence = name_keep(&r->names, text);
    for (size_t i = 0; i < r->n_assumptions; i++)
        if (r->assumptions[i].sentence == sentence) {
            r->assumptions[i].n++;
            return;
        }
    if (r->n_assumptions == r->cap_assumptions)
        r->assumptions = memory_grow(r->assumptions, &r->cap_assumptions, sizeof *r->assumptions);
    r->assumptions[r->n_assumptions++] = (struct recorded_assumption){sentence, 1};
}

void recording_named(struct recording *r, const char **known, const char *name, const char *what)
{
    const char *kept = name_keep(&r->names, name);
    if (*known == NULL)
        *known = kept;
    else if (*known != kept)
        recording_assume(r, "of the different %s in the files, %.60s is that of all", what, *known);
}

/* ---- lists of a rank ---- */

uint32_t rank_stream(struct rank_recording *rank, int64_t id)
{
    for (size_t s = 0; s < rank->n_streams; s++)
        if (rank->streams[s].id == id)
            return (uint32_t)s;
    rank->many_streams |= rank->n_streams == STREAMS_MOST;
    if (rank->many_streams)
        return STREAMS_MOST - 1;
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
    if (rank->many_streams && !recording_is_full(r))
        err_add(r->err, rank->path, "a GPU has operations in more than %d streams", STREAMS_MOST);
    else if (!recording_is_full(r))
        rank_nodes_make(r, rank);
    drop_events(rank);
}
