// SPDX-License-Identifier: MIT
// The second pass: nodes of computations, of the times between them, and of communication.
#include <stdlib.h>

#include "cli/import/dependencies_internal.h"
#include "engine/base/memory.h"

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

// Operations of a stream may overlap by the resolution of the clock.
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

void sweep_nodes(struct sweep *w)
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
