// SPDX-License-Identifier: MIT
// The state of the passes over a rank's events.
#pragma once

#include "cli/import/recording.h"

#define COMM_STREAMS_MOST 32u
#define NO_EVENT UINT32_MAX

struct numbered_call {
    uint32_t group, event;
    int64_t sequence;
};

struct sweep {
    /* config */
    struct recording *recording;
    struct rank_recording *rank;
    const struct gpu_event *events; // [n] by start
    uint32_t n, n_streams;
    uint32_t main;   // the stream that computes most, or UINT32_MAX
    uint32_t *first; // [stream] first of its events in `order`
    uint32_t *order; // events by stream and start
    uint32_t *place; // [event] among those of its stream
    /* state */
    uint32_t *ended; // [stream] events that have ended by the present event's start
    uint64_t clock_errors;
    struct numbered_call *numbered; // by group and sequence number
    size_t n_numbered;
    size_t next_call_wait; // of the main stream
    /* what each event waits for, other than its stream's order */
    uint32_t *first_wait; // [event], [n] = their number
    uint32_t *waits;      // events
    size_t n_waits, cap_waits;
    bool *awaited; // [event] another one waits for it
};

// The event before in the same stream; `e` must not be its first.
static inline uint32_t event_before(const struct sweep *w, uint32_t e)
{
    return w->order[w->first[w->events[e].stream] + w->place[e] - 1];
}

// The stream of the program in which an event runs.
static inline uint8_t node_stream(const struct sweep *w, uint32_t e)
{
    const struct gpu_event *event = &w->events[e];
    if (event->call < COPY_CALL)
        return (uint8_t)(TRACE_STREAM_COMM + w->rank->streams[event->stream].comm);
    return event->stream == w->main ? TRACE_STREAM_COMPUTE : TRACE_STREAM_NONE;
}

int32_t event_step(const struct sweep *w, uint32_t e); // index into steps, or -1

void sweep_waits(struct sweep *w); // the first pass: waits, awaited
