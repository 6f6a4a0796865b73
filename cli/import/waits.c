// SPDX-License-Identifier: MIT
// The first pass: what each operation waits for (the rules are in dependencies.h).
#include <stdlib.h>

#include "cli/import/dependencies_internal.h"
#include "engine/base/memory.h"

#define BACK_MOST 64       // operations looked back for one that was launched earlier
#define WAKE_UP_NS 1000000 // of a CPU that waited for the GPU

int32_t event_step(const struct sweep *w, uint32_t e)
{
    const struct rank_recording *rank = w->rank;
    const struct gpu_event *event = &w->events[e];
    int64_t at = event->launch_ns != TIME_UNKNOWN ? event->launch_ns : event->start_ns;
    size_t low = 0, high = rank->n_steps; // the last that begins before
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->steps[middle].start_ns <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low - 1;
}

static void add(struct sweep *w, uint32_t e, uint32_t on)
{
    if (on == NO_EVENT || on == e)
        return;
    for (size_t i = w->first_wait[e]; i < w->n_waits; i++)
        if (w->waits[i] == on)
            return;
    if (w->n_waits == w->cap_waits)
        w->waits = memory_grow(w->waits, &w->cap_waits, sizeof *w->waits);
    w->waits[w->n_waits++] = on;
    w->awaited[on] = true;
}

// The last operation of a stream that has ended, of those launched before `correlation`.
static uint32_t last_ended(const struct sweep *w, uint32_t stream, uint64_t correlation)
{
    uint32_t n = w->ended[stream];
    for (uint32_t back = 0; back < BACK_MOST && back < n; back++) {
        uint32_t e = w->order[w->first[stream] + n - 1 - back];
        uint64_t own = w->events[e].correlation;
        if (own == 0 || correlation == 0 || own < correlation)
            return e;
    }
    return NO_EVENT;
}

// The CPU waited for the GPU at `end_ns`, and launched the event after that.
static bool host_waited(const struct sweep *w, const struct gpu_event *event, int64_t end_ns)
{
    const struct host_wait *list = w->rank->host_waits;
    size_t low = 0, high = w->rank->n_host_waits; // those that end before the launch
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list[middle].end_ns <= event->launch_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 1; back <= 4 && back <= low; back++) {
        const struct host_wait *wait = &list[low - back];
        if (wait->start_ns <= end_ns && wait->end_ns >= end_ns &&
            wait->end_ns - end_ns <= WAKE_UP_NS)
            return true;
    }
    return false;
}

// Rule 3. `idle_ns`: since when the stream was idle.
static void add_gap(struct sweep *w, uint32_t e, int64_t idle_ns)
{
    const struct gpu_event *event = &w->events[e];
    uint32_t cause = NO_EVENT;
    for (uint32_t s = 0; s < w->n_streams; s++) {
        uint32_t x = s != event->stream ? last_ended(w, s, event->correlation) : NO_EVENT;
        if (x == NO_EVENT || w->events[x].end_ns <= idle_ns)
            continue;
        bool waited = event->launch_ns == TIME_UNKNOWN || // else the launch says who waited
                      (w->rank->n_stream_waits == 0 && event->launch_ns <= w->events[x].end_ns) ||
                      host_waited(w, event, w->events[x].end_ns);
        if (waited && (cause == NO_EVENT || w->events[x].end_ns > w->events[cause].end_ns))
            cause = x;
    }
    add(w, e, cause);
}

// Rule 2.
static void add_work_before(struct sweep *w, uint32_t e)
{
    uint64_t correlation = w->events[e].correlation;
    uint32_t own = w->main != UINT32_MAX ? last_ended(w, w->main, correlation) : NO_EVENT;
    uint32_t last = own;
    for (uint32_t s = 0; s < w->n_streams; s++) {
        uint32_t x = !w->rank->streams[s].calls ? last_ended(w, s, correlation) : NO_EVENT;
        if (x != NO_EVENT && (last == NO_EVENT || w->events[x].end_ns > w->events[last].end_ns))
            last = x;
    }
    if (own != NO_EVENT && w->events[own].call == NO_CALL)
        add(w, e, own);
    add(w, e, last);
}

// Rule 4: waits that were recorded between the launches of the event before and of this one.
static void add_recorded(struct sweep *w, uint32_t e, uint64_t before)
{
    const struct rank_recording *rank = w->rank;
    const struct gpu_event *event = &w->events[e];
    for (size_t i = 0; i < rank->n_stream_waits && event->correlation > 0; i++) {
        const struct stream_wait *wait = &rank->stream_waits[i];
        if (wait->stream != rank->streams[event->stream].id || wait->correlation <= before ||
            wait->correlation >= event->correlation)
            continue;
        for (uint32_t s = 0; s < w->n_streams; s++)
            if (rank->streams[s].id == wait->on && s != event->stream)
                add(w, e, last_ended(w, s, wait->on_correlation));
    }
}

static void add_step(struct sweep *w, uint32_t e, uint32_t before)
{
    if (w->events[e].stream != w->main || event_step(w, e) == event_step(w, before))
        return;
    for (uint32_t s = 0; s < w->n_streams; s++)
        if (w->rank->streams[s].calls)
            add(w, e, last_ended(w, s, w->events[e].correlation));
}

// Rule 6.
static void add_waited(struct sweep *w, uint32_t e)
{
    const struct rank_recording *rank = w->rank;
    const struct gpu_event *event = &w->events[e];
    if (event->stream != w->main || event->launch_ns == TIME_UNKNOWN)
        return;
    for (; w->next_call_wait < rank->n_call_waits &&
           rank->call_waits[w->next_call_wait].at_ns <= event->launch_ns;
         w->next_call_wait++) {
        const struct call_wait *wait = &rank->call_waits[w->next_call_wait];
        for (size_t low = 0, high = w->n_numbered; low < high;) {
            size_t middle = low + (high - low) / 2;
            const struct numbered_call *call = &w->numbered[middle];
            if (call->group == wait->group && call->sequence == wait->sequence) {
                if (w->events[call->event].end_ns <= event->start_ns)
                    add(w, e, call->event);
                break;
            }
            if (call->group < wait->group ||
                (call->group == wait->group && call->sequence < wait->sequence))
                low = middle + 1;
            else
                high = middle;
        }
    }
}

static void waits_of(struct sweep *w, uint32_t e)
{
    const struct gpu_event *event = &w->events[e];
    uint32_t before = w->place[e] > 0 ? event_before(w, e) : NO_EVENT;
    uint8_t stream = node_stream(w, e);
    int64_t idle_ns = before != NO_EVENT ? w->events[before].end_ns : w->events[0].start_ns;
    for (uint32_t s = 0; s < w->n_streams; s++) // streams advance to the event's start
        while (w->first[s] + w->ended[s] < w->first[s + 1] &&
               w->events[w->order[w->first[s] + w->ended[s]]].end_ns <= event->start_ns)
            w->ended[s]++;
    if (before != NO_EVENT && (stream == TRACE_STREAM_NONE || node_stream(w, before) != stream))
        add(w, e, before);
    if (event->call < COPY_CALL)
        add_work_before(w, e);
    add_recorded(w, e, before != NO_EVENT ? w->events[before].correlation : 0);
    add_waited(w, e);
    add_gap(w, e, idle_ns);
    if (before != NO_EVENT)
        add_step(w, e, before);
}

void sweep_waits(struct sweep *w)
{
    w->first_wait = memory_zeroed(w->n + 1, sizeof *w->first_wait);
    w->awaited = memory_zeroed(w->n, sizeof *w->awaited);
    for (uint32_t e = 0; e < w->n; e++) {
        w->first_wait[e] = (uint32_t)w->n_waits;
        waits_of(w, e);
    }
    w->first_wait[w->n] = (uint32_t)w->n_waits;
}
