// SPDX-License-Identifier: MIT
// What a run without a timeline of its ranks did when: the phases of its collectives, a row a
// dimension, and its messages, a row a rank that sends. From metrics.json, in the form of a
// timeline.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"

struct activity {
    json_t *rows, *names, *slices;
    json_t *row_index, *name_index; // text -> its place in `rows` and `names`
    size_t limit;
};

enum {
    OF_COLLECTIVES = 2,
    OF_MESSAGES = 3
}; // categories of slices, as in report/web/src/timeline.js

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static const char *text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

// The place of a text in a list, to which it is added if it is new. Takes the reference.
static json_int_t place(json_t *list, json_t *index, json_t *name)
{
    const char *key = json_string_value(name);
    const json_t *known = json_object_get(index, key);
    json_int_t at = known ? json_integer_value(known) : (json_int_t)json_array_size(list);
    if (!known) {
        json_array_append(list, name);
        json_object_set_new(index, key, json_integer(at));
    }
    json_decref(name);
    return at;
}

// Takes the references of `row` and `name`.
static void add(struct activity *a, json_t *row, json_t *name, json_int_t begin, json_int_t length,
                int category)
{
    json_int_t at = place(a->rows, a->row_index, row),
               called = place(a->names, a->name_index, name);
    json_array_append_new(a->slices,
                          json_pack("[I, I, I, i, I]", at, begin, length, category, called));
}

static void add_phases(struct activity *a, const json_t *collective)
{
    size_t i;
    const json_t *phase;
    json_array_foreach(json_object_get(collective, "phases"), i, phase)
    {
        const json_t *start = json_object_get(phase, "start_ns"),
                     *end = json_object_get(phase, "end_ns");
        if (!json_is_integer(start) || !json_is_integer(end) ||
            json_array_size(a->slices) >= a->limit)
            continue;
        json_int_t begin = json_integer_value(start);
        add(a, json_sprintf("dim%lld %s", (long long)integer(phase, "dim"), text(phase, "op")),
            json_sprintf("%s: %s, %s", text(collective, "name"), text(phase, "op"),
                         text(phase, "algorithm")),
            begin, json_integer_value(end) - begin, OF_COLLECTIVES);
    }
}

// A message from its posting to its last byte at the receiver.
static void add_message(struct activity *a, const json_t *flow)
{
    const json_t *length = json_object_get(flow, "delivered_ns");
    if (json_is_integer(length))
        add(a, json_sprintf("rank%lld sends", (long long)integer(flow, "src")),
            json_sprintf("to rank%lld", (long long)integer(flow, "dst")), integer(flow, "start_ns"),
            json_integer_value(length), OF_MESSAGES);
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

// Add the messages of the first ranks, of as many as fit. Returns their number; *all is that of the
// ranks that send.
static size_t add_messages(struct activity *a, const json_t *flows, size_t *all)
{
    size_t n, used = json_array_size(a->slices), chosen = 0, last = 0, i;
    size_t *counts = messages_by_rank(flows, &n);
    const json_t *flow;
    *all = 0;
    for (size_t rank = 0; rank < n; rank++) {
        *all += counts[rank] > 0;
        if (counts[rank] == 0 || *all != chosen + 1 || used + counts[rank] > a->limit)
            continue;
        used += counts[rank];
        chosen++;
        last = rank;
    }
    for (size_t rank = 0; chosen > 0 && rank <= last; rank++) // rows in the order of ranks
        if (counts[rank] > 0)
            place(a->rows, a->row_index, json_sprintf("rank%zu sends", rank));
    json_array_foreach(flows, i, flow)
    {
        if (chosen > 0 && (size_t)integer(flow, "src") <= last)
            add_message(a, flow);
    }
    free(counts);
    return chosen;
}

// The list at `key` of an earlier timeline, or an empty one; `index` becomes the places of its
// texts.
static json_t *list_of(const json_t *timeline, const char *key, json_t *index)
{
    const json_t *known = json_object_get(timeline, key), *text;
    json_t *list = known ? json_copy((json_t *)(uintptr_t)known) : json_array();
    size_t i;
    json_array_foreach(list, i, text)
    {
        if (json_is_string(text))
            json_object_set_new(index, json_string_value(text), json_integer((json_int_t)i));
    }
    return list;
}

json_t *page_activity(struct page *page, const json_t *timeline, const json_t *metrics,
                      size_t limit)
{
    struct activity a = {.row_index = json_object(), .name_index = json_object(), .limit = limit};
    a.rows = list_of(timeline, "rows", a.row_index);
    a.names = list_of(timeline, "names", a.name_index);
    a.slices = list_of(timeline, "slices", NULL);
    size_t i, all = 0;
    const json_t *collective, *flows = json_object_get(metrics, "flows");
    json_array_foreach(json_object_get(metrics, "collectives"), i, collective)
    {
        if (!timeline)
            add_phases(&a, collective);
    }
    size_t chosen = add_messages(&a, flows, &all);
    if (chosen < all)
        page_note(page, "The timeline shows the messages of the first %zu of %zu ranks that send.",
                  chosen, all);
    json_t *out = json_array_size(a.slices) == 0 ? NULL
                                                 : json_pack("{s:O, s:O, s:O}", "rows", a.rows,
                                                             "names", a.names, "slices", a.slices);
    json_decref(a.rows);
    json_decref(a.names);
    json_decref(a.slices);
    json_decref(a.row_index);
    json_decref(a.name_index);
    return out;
}
