// SPDX-License-Identifier: MIT
// The timeline, reduced: the critical path, the slowest rank and then the others in their order, as
// long as their slices fit. Source: Trace Event Format, as report/timeline.c writes it. A run whose
// ranks were not recorded has the phases of its collectives instead, a row a dimension, and its
// messages, a row a rank that sends.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"

struct timeline {
    json_t *rows, *names;           // names of rows, "rank0 loop"; distinct names of slices
    json_t *row_index, *name_index; // name -> its place in `rows` and `names`
    json_t *slices;                 // [row, begin, duration, category, name], both by their places
};

// Categories of slices, as in report/web/src/timeline.js.
enum { OF_COMPUTING, OF_WAITING, OF_COLLECTIVES, OF_MESSAGES };

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

// Add a name to a list. Returns its place; takes the reference.
static json_int_t append(json_t *list, json_t *index, json_t *name)
{
    json_int_t at = (json_int_t)json_array_size(list);
    json_object_set_new(index, json_string_value(name), json_integer(at));
    json_array_append_new(list, name);
    return at;
}

// The same, unless the list has the name.
static json_int_t place(json_t *list, json_t *index, json_t *name)
{
    const json_t *known = json_object_get(index, json_string_value(name));
    if (!known)
        return append(list, index, name);
    json_decref(name);
    return json_integer_value(known);
}

// Takes the reference of `name`.
static void add_slice(struct timeline *t, json_int_t row, json_int_t begin, json_int_t length,
                      int category, json_t *name)
{
    json_array_append_new(t->slices, json_pack("[I, I, I, i, I]", row, begin, length, category,
                                               place(t->names, t->name_index, name)));
}

// ---- ranks ----

static json_int_t ns(const json_t *event, const char *key)
{
    // Traces count microseconds. A damaged trace may have any number, which might not fit.
    double value = json_number_value(json_object_get(event, key)) * 1000;
    return fabs(value) < 1e18 ? (json_int_t)llround(value) : 0;
}

// A process of the trace. Its events follow one another: `n` from index `first` on; `slices` of
// them are slices (phase "X").
struct process {
    json_int_t pid;
    size_t first, n, slices;
    bool wanted;
};

enum { RANK_MASK = 0xffff, CRITICAL_PATH = 0xffff }; // of process numbers, see report/timeline.c

static bool is_path(const struct process *p) { return (p->pid & RANK_MASK) == CRITICAL_PATH; }

static size_t read_processes(const json_t *events, struct process *list)
{
    size_t n = 0, i;
    const json_t *event;
    json_array_foreach(events, i, event)
    {
        json_int_t pid = integer(event, "pid");
        if (n == 0 || list[n - 1].pid != pid)
            list[n++] = (struct process){.pid = pid, .first = i};
        list[n - 1].n++;
        list[n - 1].slices += strcmp(text(event, "ph"), "X") == 0;
    }
    return n;
}

// Choose the critical path, and whole ranks until the limit, the slowest rank first. Returns the
// number of ranks.
static size_t choose(struct process *list, size_t n, json_int_t slowest, size_t limit)
{
    size_t used = 0, chosen = 0;
    for (size_t i = 0; i < n; i++) {
        list[i].wanted = is_path(&list[i]);
        used += list[i].wanted ? list[i].slices : 0;
    }
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            struct process *p = &list[i];
            // The first rank is shown even if it has more slices than the limit; add_process() then
            // cuts it.
            if (p->wanted || (pass == 0 && (p->pid & RANK_MASK) != slowest) ||
                (chosen > 0 && used + p->slices > limit))
                continue;
            p->wanted = true;
            used += p->slices;
            chosen++;
        }
    return chosen;
}

static void add_process(struct timeline *t, const json_t *events, const struct process *p,
                        size_t limit)
{
    json_int_t row = 0;
    const char *process = "";
    for (size_t i = p->first; i < p->first + p->n && json_array_size(t->slices) < limit; i++) {
        const json_t *event = json_array_get(events, i);
        const char *name = text(event, "name"), *category = text(event, "cat"),
                   *value = text(json_object_get(event, "args"), "name");
        if (strcmp(text(event, "ph"), "X") == 0)
            add_slice(t, row, ns(event, "ts"), ns(event, "dur"),
                      strcmp(category, "compute") == 0 ? OF_COMPUTING
                      : strcmp(category, "wait") == 0  ? OF_WAITING
                                                       : OF_COLLECTIVES,
                      json_string(name));
        else if (strcmp(name, "process_name") == 0)
            process = value;
        else if (strcmp(name, "thread_name") == 0)
            row = append(t->rows, t->row_index, json_sprintf("%s %s", process, value));
    }
}

static void add_ranks(struct page *page, struct timeline *t, const json_t *events,
                      const json_t *metrics, size_t limit)
{
    const json_t *rank = json_object_get(json_object_get(metrics, "slowest"), "rank");
    struct process *list = memory_zeroed(json_array_size(events) + 1, sizeof *list);
    size_t n = read_processes(events, list), ranks = 0, all = 0;
    size_t chosen = choose(list, n, json_is_integer(rank) ? json_integer_value(rank) : -1, limit);
    for (int path = 1; path >= 0; path--) // the critical path first
        for (size_t i = 0; i < n; i++)
            if (list[i].wanted && is_path(&list[i]) == path)
                add_process(t, events, &list[i], limit);
    for (size_t i = 0; i < n; i++) {
        ranks += !is_path(&list[i]);
        all += list[i].slices;
    }
    free(list);
    size_t kept = json_array_size(t->slices);
    if (kept < all)
        page_note(
            page,
            "The timeline shows %zu of %zu ranks and %zu of %zu slices; timeline.json has all, "
            "for Perfetto.",
            chosen, ranks, kept, all);
}

// ---- collectives and messages ----

static void add_phases(struct timeline *t, const json_t *collective, size_t limit)
{
    size_t i;
    const json_t *phase;
    json_array_foreach(json_object_get(collective, "phases"), i, phase)
    {
        const json_t *start = json_object_get(phase, "start_ns"),
                     *end = json_object_get(phase, "end_ns");
        if (!json_is_integer(start) || !json_is_integer(end) || json_array_size(t->slices) >= limit)
            continue;
        json_int_t begin = json_integer_value(start),
                   row = place(t->rows, t->row_index,
                               json_sprintf("dim%lld %s", (long long)integer(phase, "dim"),
                                            text(phase, "op")));
        add_slice(t, row, begin, json_integer_value(end) - begin, OF_COLLECTIVES,
                  json_sprintf("%s: %s, %s", text(collective, "name"), text(phase, "op"),
                               text(phase, "algorithm")));
    }
}

static json_int_t row_of_sender(struct timeline *t, size_t rank)
{
    return place(t->rows, t->row_index, json_sprintf("rank%zu sends", rank));
}

// The number of messages of each rank that sends, by rank.
static size_t *messages_by_rank(const json_t *flows, size_t *n)
{
    size_t i, *counts = NULL;
    const json_t *flow;
    *n = 0;
    json_array_foreach(flows, i, flow)
    {
        size_t rank = (size_t)integer(flow, "src");
        if (rank >= *n) {
            counts = memory_resize(counts, rank + 1, sizeof *counts);
            for (; *n <= rank; ++*n)
                counts[*n] = 0;
        }
        counts[rank]++;
    }
    return counts;
}

// Add the messages of the first ranks, of as many as fit, from the post to the last byte at the
// receiver.
static void add_messages(struct page *page, struct timeline *t, const json_t *flows, size_t limit)
{
    size_t n, used = json_array_size(t->slices), chosen = 0, all = 0, last = 0, i;
    size_t *counts = messages_by_rank(flows, &n);
    const json_t *flow;
    for (size_t rank = 0; rank < n; rank++) {
        all += counts[rank] > 0;
        // Ranks are shown without gaps: the first one that does not fit ends the choice.
        if (counts[rank] == 0 || all != chosen + 1 || used + counts[rank] > limit)
            continue;
        used += counts[rank];
        chosen++;
        last = rank;
    }
    for (size_t rank = 0; chosen > 0 && rank <= last; rank++) // rows in the order of ranks
        if (counts[rank] > 0)
            row_of_sender(t, rank);
    json_array_foreach(flows, i, flow)
    {
        const json_t *length = json_object_get(flow, "delivered_ns");
        size_t rank = (size_t)integer(flow, "src");
        if (chosen > 0 && rank <= last && json_is_integer(length))
            add_slice(t, row_of_sender(t, rank), integer(flow, "start_ns"),
                      json_integer_value(length), OF_MESSAGES,
                      json_sprintf("to rank%lld", (long long)integer(flow, "dst")));
    }
    free(counts);
    if (chosen < all)
        page_note(page, "The timeline shows the messages of the first %zu of %zu ranks that send.",
                  chosen, all);
}

// ---- the whole ----

json_t *page_timeline(struct page *page, const json_t *timeline, const json_t *metrics,
                      size_t limit)
{
    struct timeline t = {json_array(), json_array(), json_object(), json_object(), json_array()};
    const json_t *training = json_object_get(metrics, "training"), *collective;
    size_t i;
    add_ranks(page, &t, json_object_get(timeline, "traceEvents"), metrics, limit);
    bool recorded = json_array_size(t.slices) > 0;
    if (!recorded) {
        // A trace without slices may have names of rows.
        json_array_clear(t.rows);
        json_object_clear(t.row_index);
        json_array_foreach(json_object_get(metrics, "collectives"), i, collective)
            add_phases(&t, collective, limit);
    }
    if (!recorded || !(json_is_object(training) || json_array_size(training) > 0 ||
                       json_array_size(json_object_get(metrics, "programs")) > 0))
        add_messages(page, &t, json_object_get(metrics, "flows"), limit);
    json_t *out = NULL;
    if (json_array_size(t.slices) > 0)
        out = json_pack("{s:O, s:O, s:O}", "rows", t.rows, "names", t.names, "slices", t.slices);
    json_decref(t.rows);
    json_decref(t.names);
    json_decref(t.row_index);
    json_decref(t.name_index);
    json_decref(t.slices);
    return out;
}
