// SPDX-License-Identifier: MIT
// Two passes over the events by start: what each waits for, then the nodes.
#include "cli/import/dependencies.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/dependencies_internal.h"
#include "engine/base/memory.h"

/* ---- nodes ---- */

// The second pass: nodes of computations, of the times between them, and of communication.

struct node_pass {
    struct sweep *w;
    uint32_t *node; // [event] the node after which it has ended; of events that others wait for
    /* computations of the main stream that become one node */
    bool open;
    uint32_t first; // its first event, whose waits are those of the node
    int64_t wait_ns, busy_ns;
    int32_t step;
};

static struct trace_node *node_add(struct rank_recording *rank, uint8_t kind, uint8_t stream,
                                   int64_t takes_ns, int32_t step)
{
    if (rank->n_nodes == rank->cap_nodes)
        rank->nodes = memory_grow(rank->nodes, &rank->cap_nodes, sizeof *rank->nodes);
    struct trace_node *node = &rank->nodes[rank->n_nodes++];
    *node = (struct trace_node){.kind = kind,
                                .stream = stream,
                                .takes_ns = takes_ns,
                                .call = NO_CALL,
                                .step = step,
                                .first_after = (uint32_t)rank->n_after};
    return node;
}

static void after_add(struct rank_recording *rank, struct trace_node *node, uint32_t on)
{
    if (rank->n_after == rank->cap_after)
        rank->after = memory_grow(rank->after, &rank->cap_after, sizeof *rank->after);
    rank->after[rank->n_after++] = on;
    node->n_after++;
}

static void after_events(struct node_pass *pass, struct trace_node *node, uint32_t e)
{
    const struct sweep *w = pass->w;
    for (uint32_t i = w->first_wait[e]; i < w->first_wait[e + 1]; i++)
        after_add(w->rank, node, pass->node[w->waits[i]]);
}

// The time between what the event waits for and its beginning.
static int64_t residual_ns(const struct sweep *w, uint32_t e)
{
    int64_t since = w->place[e] > 0 ? w->events[event_before(w, e)].end_ns : w->rank->begin_ns;
    for (uint32_t i = w->first_wait[e]; i < w->first_wait[e + 1]; i++) {
        int64_t end = w->events[w->waits[i]].end_ns;
        since = end > since ? end : since;
    }
    int64_t ns = w->events[e].start_ns - since;
    return ns > 0 ? ns : 0;
}

// How long a stream was busy with an event. Events of one stream may overlap by the resolution of
// the recording's clock, so the time starts at the end of the event before at the earliest.
static int64_t busy_ns(const struct sweep *w, uint32_t e)
{
    const struct gpu_event *event = &w->events[e];
    int64_t from = event->start_ns;
    if (w->place[e] > 0 && w->events[event_before(w, e)].end_ns > from)
        from = w->events[event_before(w, e)].end_ns;
    return event->end_ns > from ? event->end_ns - from : 0;
}

/* ---- nodes ---- */

// A node that waits for time, if there is any, and then another of `kind`. Returns the latter.
static struct trace_node *pair_add(struct node_pass *pass, uint32_t e, uint8_t kind,
                                   int64_t wait_ns, int64_t takes_ns, int32_t step)
{
    struct rank_recording *rank = pass->w->rank;
    uint8_t stream = node_stream(pass->w, e);
    if (wait_ns == 0) {
        struct trace_node *node = node_add(rank, kind, stream, takes_ns, step);
        after_events(pass, node, e);
        return node;
    }
    struct trace_node *wait = node_add(rank, TRACE_WAIT, stream, wait_ns, step);
    after_events(pass, wait, e);
    uint32_t id = (uint32_t)rank->n_nodes - 1;
    struct trace_node *node = node_add(rank, kind, stream, takes_ns, step);
    if (stream == TRACE_STREAM_NONE)
        after_add(rank, node, id);
    return node;
}

static void run_close(struct node_pass *pass)
{
    if (!pass->open)
        return;
    pair_add(pass, pass->first, TRACE_COMPUTE, pass->wait_ns, pass->busy_ns, pass->step);
    pass->open = false;
}

static void computation(struct node_pass *pass, uint32_t e)
{
    struct sweep *w = pass->w;
    int32_t step = event_step(w, e);
    if (pass->open && (w->first_wait[e + 1] > w->first_wait[e] || step != pass->step))
        run_close(pass);
    if (!pass->open) {
        pass->open = true;
        pass->first = e;
        pass->wait_ns = pass->busy_ns = 0;
        pass->step = step;
    }
    pass->wait_ns += residual_ns(w, e);
    pass->busy_ns = time_sum(pass->busy_ns, busy_ns(w, e));
    if (w->awaited[e])
        run_close(pass);
}

static void other(struct node_pass *pass, uint32_t e)
{
    struct sweep *w = pass->w;
    const struct gpu_event *event = &w->events[e];
    uint8_t kind = event->call == NO_CALL     ? TRACE_COMPUTE
                   : event->call == COPY_CALL ? TRACE_WAIT
                                              : TRACE_CALL;
    struct trace_node *node = pair_add(pass, e, kind, residual_ns(w, e),
                                       event->end_ns - event->start_ns, event_step(w, e));
    if (kind == TRACE_CALL) {
        node->call = event->call;
        node->takes_ns = 0;
    }
}

// The second.
static void sweep_nodes(struct sweep *w)
{
    struct node_pass pass = {.w = w, .node = memory_zeroed(w->n, sizeof *pass.node)};
    for (uint32_t e = 0; e < w->n; e++) {
        if (node_stream(w, e) == TRACE_STREAM_COMPUTE)
            computation(&pass, e);
        else
            other(&pass, e);
        pass.node[e] = (uint32_t)w->rank->n_nodes - 1;
    }
    run_close(&pass);
    free(pass.node);
}

/* ---- dependencies ---- */

#define CLOCK_SLACK_NS 1000000 // clocks of CPU and GPU are aligned to microseconds

static int by_start(const void *a, const void *b)
{
    const struct gpu_event *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    if (x->correlation != y->correlation)
        return x->correlation < y->correlation ? -1 : 1;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->stream > y->stream) - (x->stream < y->stream);
}

static int by_end(const void *a, const void *b)
{
    const struct host_wait *x = a, *y = b;
    if (x->end_ns != y->end_ns)
        return x->end_ns < y->end_ns ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static int by_number(const void *a, const void *b)
{
    const struct step_mark *x = a, *y = b;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

// Number the streams of communication, and find the one that computes most.
static void streams_sort_out(struct sweep *w)
{
    struct rank_recording *rank = w->rank;
    for (uint32_t e = 0; e < w->n; e++) {
        const struct gpu_event *event = &w->events[e];
        struct gpu_stream *stream = &rank->streams[event->stream];
        if (event->call < COPY_CALL && !stream->calls) {
            stream->calls = true;
            stream->comm = (uint8_t)(rank->n_comm_streams % COMM_STREAMS_MOST);
            rank->n_comm_streams++;
        }
        if (event->call == NO_CALL)
            stream->busy_ns = time_sum(stream->busy_ns, event->end_ns - event->start_ns);
    }
    w->main = UINT32_MAX;
    for (uint32_t s = 0; s < w->n_streams; s++)
        if (rank->streams[s].busy_ns > 0 &&
            (w->main == UINT32_MAX || rank->streams[s].busy_ns > rank->streams[w->main].busy_ns))
            w->main = s;
}

// The events of each stream, by start.
static void streams_index(struct sweep *w)
{
    w->first = memory_zeroed(w->n_streams + 1, sizeof *w->first);
    w->order = memory_zeroed(w->n, sizeof *w->order);
    w->place = memory_zeroed(w->n, sizeof *w->place);
    w->ended = memory_zeroed(w->n_streams, sizeof *w->ended);
    for (uint32_t e = 0; e < w->n; e++)
        w->first[w->events[e].stream + 1]++;
    for (uint32_t s = 0; s < w->n_streams; s++)
        w->first[s + 1] += w->first[s];
    for (uint32_t e = 0; e < w->n; e++) {
        uint32_t s = w->events[e].stream;
        w->place[e] = w->ended[s]++;
        w->order[w->first[s] + w->place[e]] = e;
    }
    memset(w->ended, 0, w->n_streams * sizeof *w->ended);
}

static void clock_error(struct sweep *w, const struct gpu_event *e, const char *what, int64_t ns)
{
    if (w->clock_errors++ == 0)
        err_add(w->recording->err, w->rank->path,
                "the clock runs backwards: in stream %" PRId64 " an operation at %" PRId64
                " ns %s by %" PRId64 " ns",
                w->rank->streams[e->stream].id, e->start_ns, what, ns);
}

// Operations of a stream run in the order of their launches, each after its launch.
static void clocks_check(struct sweep *w)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const struct gpu_event *e = &w->events[i];
        if (e->launch_ns == TIME_UNKNOWN)
            continue;
        if (e->launch_ns - e->start_ns > CLOCK_SLACK_NS)
            clock_error(w, e, "begins before its launch", e->launch_ns - e->start_ns);
        if (w->place[i] == 0)
            continue;
        const struct gpu_event *p = &w->events[event_before(w, i)];
        if (p->launch_ns != TIME_UNKNOWN && p->correlation > e->correlation &&
            p->launch_ns - e->launch_ns > CLOCK_SLACK_NS)
            clock_error(w, p, "runs before one that was launched earlier",
                        p->launch_ns - e->launch_ns);
    }
}

// Put the calls into the order in which they began.
static void calls_sort(struct rank_recording *rank)
{
    struct call *sorted = memory_zeroed(rank->n_calls + 1, sizeof *sorted);
    uint32_t n = 0;
    for (size_t e = 0; e < rank->n_events; e++) {
        if (rank->events[e].call >= COPY_CALL)
            continue;
        sorted[n] = rank->calls[rank->events[e].call];
        rank->events[e].call = n++;
    }
    free(rank->calls);
    rank->calls = sorted;
    rank->n_calls = n;
    rank->cap_calls = n;
}

static int by_sequence(const void *a, const void *b)
{
    const struct numbered_call *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

static int by_wait(const void *a, const void *b)
{
    const struct call_wait *x = a, *y = b;
    if (x->at_ns != y->at_ns)
        return x->at_ns < y->at_ns ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

// The calls by number, where the program's waits for them are known.
static void calls_number(struct sweep *w)
{
    struct rank_recording *rank = w->rank;
    if (rank->n_call_waits == 0)
        return;
    qsort(rank->call_waits, rank->n_call_waits, sizeof *rank->call_waits, by_wait);
    w->numbered = memory_zeroed(w->n, sizeof *w->numbered);
    for (uint32_t e = 0; e < w->n; e++) {
        const struct call *call =
            w->events[e].call < COPY_CALL ? &rank->calls[w->events[e].call] : NULL;
        if (call != NULL && call->kind == CALL_COLLECTIVE && call->sequence != SEQUENCE_UNKNOWN)
            w->numbered[w->n_numbered++] = (struct numbered_call){call->group, e, call->sequence};
    }
    if (w->n_numbered > 1)
        qsort(w->numbered, w->n_numbered, sizeof *w->numbered, by_sequence);
}

void rank_nodes_make(struct recording *r, struct rank_recording *rank)
{
    struct sweep w = {.recording = r,
                      .rank = rank,
                      .events = rank->events,
                      .n = (uint32_t)rank->n_events,
                      .n_streams = (uint32_t)rank->n_streams};
    if (rank->n_events == 0)
        return;
    qsort(rank->events, rank->n_events, sizeof *rank->events, by_start);
    if (rank->n_host_waits > 1)
        qsort(rank->host_waits, rank->n_host_waits, sizeof *rank->host_waits, by_end);
    if (rank->n_steps > 1)
        qsort(rank->steps, rank->n_steps, sizeof *rank->steps, by_number);
    calls_sort(rank);
    rank->begin_ns = rank->end_ns = rank->events[0].start_ns;
    for (size_t e = 0; e < rank->n_events; e++)
        if (rank->events[e].end_ns > rank->end_ns)
            rank->end_ns = rank->events[e].end_ns;
    if (rank->events[rank->n_events - 1].start_ns - rank->begin_ns > SPAN_MOST_NS) {
        err_add(r->err, rank->path, "its operations are more than 100000 s apart");
        return;
    }
    streams_sort_out(&w);
    streams_index(&w);
    if (rank->n_comm_streams > COMM_STREAMS_MOST)
        err_add(r->err, rank->path, "%u streams have communication: at most %u can be simulated",
                rank->n_comm_streams, COMM_STREAMS_MOST);
    clocks_check(&w);
    calls_number(&w);
    sweep_waits(&w);
    sweep_nodes(&w);
    free(w.first);
    free(w.order);
    free(w.place);
    free(w.ended);
    free(w.waits);
    free(w.first_wait);
    free(w.awaited);
    free(w.numbered);
}
