// SPDX-License-Identifier: MIT
// The calls of a process in time: as on streams of a GPU, one for each communicator. The time in
// which no collective runs is taken as computing.
#include <stdlib.h>

#include "cli/import/inspector_internal.h"
#include "engine/base/memory.h"

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

void process_calls_make(struct recording *r, struct rank_recording *rank,
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
