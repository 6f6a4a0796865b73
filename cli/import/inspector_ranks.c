// SPDX-License-Identifier: MIT
// Processes become ranks, communicators groups, entries calls.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/inspector.h"
#include "cli/import/inspector_internal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- inspector calls ---- */

// The calls of a process in time: as on streams of a GPU, one for each communicator. The time in
// which no collective runs is taken as computing.

#define COMM_STREAMS_MOST 32

static int by_start(const void *a, const void *b)
{
    const struct log_entry *x = a, *y = b;
    if (x->call.start_ns != y->call.start_ns)
        return x->call.start_ns < y->call.start_ns ? -1 : 1;
    if (x->call.group != y->call.group)
        return x->call.group < y->call.group ? -1 : 1;
    return (x->call.sequence > y->call.sequence) - (x->call.sequence < y->call.sequence);
}

static void event_add(struct rank_recording *rank, int64_t start_ns, int64_t end_ns, uint32_t call,
                      int64_t stream)
{
    *rank_event(rank) = (struct gpu_event){.start_ns = start_ns,
                                           .end_ns = end_ns,
                                           .launch_ns = TIME_UNKNOWN,
                                           .call = call,
                                           .stream = rank_stream(rank, stream)};
}

static void timed(struct recording *r, struct rank_recording *rank, struct log_entry *entries,
                  size_t n)
{
    int64_t busy_ns = INT64_MIN;
    qsort(entries, n, sizeof *entries, by_start);
    for (size_t i = 0; i < n; i++) {
        struct call *call = &entries[i].call;
        if (busy_ns != INT64_MIN && call->start_ns > busy_ns)
            event_add(rank, busy_ns, call->start_ns, NO_CALL, -1);
        event_add(rank, call->start_ns, call->end_ns, (uint32_t)rank->n_calls,
                  (int64_t)call->group);
        *rank_call(rank) = *call;
        busy_ns = call->end_ns > busy_ns ? call->end_ns : busy_ns;
    }
    recording_end_rank(r, (uint32_t)(rank - r->ranks));
}

// Without starts: each communicator is a stream of its own, since nothing says how they follow each
// other.
static void untimed(struct recording *r, struct rank_recording *rank,
                    const struct log_entry *entries, size_t n)
{
    r->no_starts = true;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || entries[i].call.group != entries[i - 1].call.group)
            rank->n_comm_streams++;
        if (rank->n_nodes == rank->cap_nodes)
            rank->nodes = memory_grow(rank->nodes, &rank->cap_nodes, sizeof *rank->nodes);
        rank->nodes[rank->n_nodes++] = (struct trace_node){
            .kind = TRACE_CALL,
            .stream = (uint8_t)(TRACE_STREAM_COMM + (rank->n_comm_streams - 1) % COMM_STREAMS_MOST),
            .call = (uint32_t)rank->n_calls,
            .step = -1};
        *rank_call(rank) = entries[i].call;
    }
    if (rank->n_comm_streams > COMM_STREAMS_MOST)
        err_add(r->err, rank->path, "%u communicators: at most %u can be simulated",
                rank->n_comm_streams, COMM_STREAMS_MOST);
}

// Make the events or nodes of a process's entries [n], which have the groups of the recording.
static void process_calls_make(struct recording *r, struct rank_recording *rank,
                               const struct log_entry *entries, size_t n)
{
    bool all = true;
    struct log_entry *own = memory_zeroed(n, sizeof *own);
    for (size_t i = 0; i < n; i++) {
        own[i] = entries[i];
        all = all && entries[i].call.start_ns != TIME_UNKNOWN;
    }
    if (all)
        timed(r, rank, own, n);
    else
        untimed(r, rank, own, n);
    free(own);
}

/* ---- inspector ranks ---- */

static void inspector_free(struct inspector *in)
{
    for (size_t p = 0; p < in->n_processes; p++) {
        free(in->processes[p].host);
        free(in->processes[p].path);
    }
    for (size_t c = 0; c < in->n_communicators; c++) {
        free(in->communicators[c].id);
        free(in->communicators[c].name);
        free(in->communicators[c].members);
    }
    free(in->entries);
    free(in->processes);
    free(in->communicators);
    free(in);
}

/* ---- ranks ---- */

static int by_host(const void *a, const void *b)
{
    const struct log_process *const *x = a, *const *y = b;
    int host = strcmp((*x)->host, (*y)->host);
    if (host != 0)
        return host;
    return ((*x)->pid > (*y)->pid) - ((*x)->pid < (*y)->pid);
}

static int by_rank(const void *a, const void *b)
{
    const struct log_member *x = a, *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void members_sort(struct inspector *in)
{
    for (size_t c = 0; c < in->n_communicators; c++)
        if (in->communicators[c].n_members > 1)
            qsort(in->communicators[c].members, in->communicators[c].n_members,
                  sizeof *in->communicators[c].members, by_rank);
}

// Number the processes by the communicator with most ranks, if it has all of them; else by host and
// process.
static void processes_number(struct recording *r, struct inspector *in)
{
    const struct log_communicator *world = NULL;
    for (size_t c = 0; c < in->n_communicators; c++)
        if (world == NULL || in->communicators[c].n_ranks > world->n_ranks)
            world = &in->communicators[c];
    if (world != NULL && world->n_members == in->n_processes) {
        for (size_t m = 0; m < world->n_members; m++)
            in->processes[world->members[m].process].number = world->members[m].rank;
        r->world = world->n_ranks;
        if (world->n_nodes > 0 && world->n_ranks % world->n_nodes == 0)
            r->gpus_per_node = world->n_ranks / world->n_nodes;
        return;
    }
    struct log_process **sorted = memory_zeroed(in->n_processes + 1, sizeof(struct log_process *));
    for (size_t p = 0; p < in->n_processes; p++)
        sorted[p] = &in->processes[p];
    qsort(sorted, in->n_processes, sizeof *sorted, by_host);
    for (size_t p = 0; p < in->n_processes; p++)
        sorted[p]->number = (uint32_t)p;
    free(sorted);
    r->world = (uint32_t)in->n_processes;
    err_warn(r->err, NULL,
             "no communicator has all %zu processes: ranks are numbered by host and process",
             in->n_processes);
}

static void missing_named(struct recording *r, const struct log_communicator *c)
{
    struct text text;
    FILE *out = text_open(&text);
    uint32_t n = 0;
    size_t next = 0;
    for (uint32_t m = 0; m < c->n_ranks; m++) {
        if (next < c->n_members && c->members[next].rank == m) {
            next++;
            continue;
        }
        if (n < 8)
            fprintf(out, "%s%u", n > 0 ? ", " : "", m);
        n++;
    }
    char *list = text_close(out, &text);
    err_add(r->err, NULL, "communicator %s: of %u ranks, %u have no log: %s%s", c->id, c->n_ranks,
            n, list, n > 8 ? ", .." : "");
    free(list);
}

// The group of the recording for a communicator; UINT32_MAX with an error.
static uint32_t group_make(struct recording *r, const struct inspector *in,
                           const struct log_communicator *c)
{
    if (c->n_members < c->n_ranks) {
        if (!recording_is_full(r))
            missing_named(r, c);
        return UINT32_MAX;
    }
    uint32_t *ranks = memory_zeroed(c->n_ranks, sizeof *ranks);
    for (uint32_t m = 0; m < c->n_ranks; m++)
        ranks[m] = in->processes[c->members[m].process].number;
    uint32_t group =
        recording_group(r, c->id, c->name[0] != '\0' ? c->name : NULL, ranks, c->n_ranks);
    free(ranks);
    return group;
}

/* ---- entries ---- */

static int by_entry(const void *a, const void *b)
{
    const struct log_entry *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->call.group != y->call.group)
        return x->call.group < y->call.group ? -1 : 1;
    if (x->call.kind != y->call.kind)
        return x->call.kind < y->call.kind ? -1 : 1;
    if (x->call.peer != y->call.peer)
        return x->call.peer < y->call.peer ? -1 : 1;
    return (x->call.sequence > y->call.sequence) - (x->call.sequence < y->call.sequence);
}

void entries_sort(struct inspector *in)
{
    if (in->n_entries > 1)
        qsort(in->entries, in->n_entries, sizeof *in->entries, by_entry);
}

static void twice_check(struct recording *r, const struct inspector *in)
{
    for (size_t i = 1; i < in->n_entries && !recording_is_full(r); i++)
        if (by_entry(&in->entries[i - 1], &in->entries[i]) == 0)
            err_add(r->err, in->processes[in->entries[i].process].path,
                    "byte %" PRIu64 ": number %" PRId64
                    " occurs twice in communicator %s on rank %u",
                    in->entries[i].call.offset, in->entries[i].call.sequence,
                    in->communicators[in->entries[i].call.group].id, in->entries[i].rank);
}

static void ranks_make(struct recording *r, struct inspector *in, const uint32_t *groups)
{
    for (size_t first = 0, next; first < in->n_entries; first = next) {
        uint32_t process = in->entries[first].process;
        for (next = first; next < in->n_entries && in->entries[next].process == process; next++) {
            struct call *call = &in->entries[next].call;
            const struct log_communicator *c = &in->communicators[call->group];
            if (call->kind != CALL_COLLECTIVE)
                call->peer = in->processes[c->members[call->peer].process].number;
            call->group = groups[call->group];
        }
        struct rank_recording *rank = recording_rank(r, in->processes[process].number);
        rank->path = memory_text(in->processes[process].path);
        process_calls_make(r, rank, &in->entries[first], next - first);
    }
}

void inspector_end(struct recording *r)
{
    struct inspector *in = r->reader;
    if (in == NULL)
        return;
    size_t errors = r->err->n_errors;
    if (in->n_processes > RANKS_MOST)
        err_add(r->err, NULL, "the logs are of %zu processes: at most %d can be ranks",
                in->n_processes, RANKS_MOST);
    if (in->n_processes == 0 || in->n_processes > RANKS_MOST) {
        inspector_free(in);
        r->reader = NULL;
        return;
    }
    uint32_t *groups = memory_zeroed(in->n_communicators + 1, sizeof *groups);
    members_sort(in);
    processes_number(r, in);
    for (size_t c = 0; c < in->n_communicators; c++)
        groups[c] = group_make(r, in, &in->communicators[c]);
    entries_sort(in);
    twice_check(r, in);
    if (r->err->n_errors == errors && !recording_is_full(r)) // else groups may be missing
        ranks_make(r, in, groups);
    free(groups);
    inspector_free(in);
    r->reader = NULL;
}
