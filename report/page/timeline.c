// SPDX-License-Identifier: MIT
// The timeline of a training job, reduced: the critical path, the slowest rank and then the others
// in their order, as long as their slices fit. Source: Trace Event Format, as report/timeline.c
// writes it.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"

struct timeline {
    json_t *rows;  // names of rows, "rank0 loop"
    json_t *names; // distinct names of slices, which refer to them by position
    json_t *index; // name -> its place in `names`
    json_t *slices;
    const char *process; // name of the process whose rows are being added
    json_int_t row;
};

static const char *text(const json_t *event, const char *key)
{
    const char *value = json_string_value(json_object_get(event, key));
    return value ? value : "";
}

static json_int_t integer(const json_t *event, const char *key)
{
    return json_integer_value(json_object_get(event, key));
}

static json_int_t name_index(struct timeline *t, const char *name)
{
    const json_t *known = json_object_get(t->index, name);
    if (known)
        return json_integer_value(known);
    json_int_t i = (json_int_t)json_array_size(t->names);
    json_array_append_new(t->names, json_string(name));
    json_object_set_new(t->index, name, json_integer(i));
    return i;
}

static json_int_t category(const char *name)
{
    return strcmp(name, "compute") == 0 ? 0 : strcmp(name, "wait") == 0 ? 1 : 2;
}

static json_int_t ns(const json_t *event, const char *key)
{
    double value = json_number_value(json_object_get(event, key)) * 1000;
    return fabs(value) < 1e18 ? (json_int_t)llround(value) : 0;
}

static void add_event(struct timeline *t, const json_t *event)
{
    const char *name = text(event, "name");
    if (strcmp(text(event, "ph"), "X") == 0) {
        json_array_append_new(t->slices, json_pack("[I, I, I, I, I]", t->row, ns(event, "ts"),
                                                   ns(event, "dur"), category(text(event, "cat")),
                                                   name_index(t, name)));
        return;
    }
    const char *value = text(json_object_get(event, "args"), "name");
    if (strcmp(name, "process_name") == 0)
        t->process = value;
    else if (strcmp(name, "thread_name") == 0) {
        t->row = (json_int_t)json_array_size(t->rows);
        json_array_append_new(t->rows, json_sprintf("%s %s", t->process, value));
    }
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
    for (size_t i = p->first; i < p->first + p->n && json_array_size(t->slices) < limit; i++)
        add_event(t, json_array_get(events, i));
}

static size_t slices_of(const struct process *list, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += list[i].slices;
    return sum;
}

json_t *page_timeline(struct page *page, const json_t *timeline, const json_t *metrics,
                      size_t limit)
{
    const json_t *events = json_object_get(timeline, "traceEvents");
    const json_t *rank = json_object_get(json_object_get(metrics, "slowest"), "rank");
    size_t n_events = json_array_size(events);
    struct process *list = memory_zeroed(n_events + 1, sizeof *list);
    size_t n = read_processes(events, list), all = slices_of(list, n);
    size_t chosen = choose(list, n, json_is_integer(rank) ? json_integer_value(rank) : -1, limit);
    struct timeline t = {json_array(), json_array(), json_object(), json_array(), "", 0};
    size_t ranks = 0;
    for (size_t i = 0; i < n; i++) {
        ranks += !is_path(&list[i]);
        if (is_path(&list[i]))
            add_process(&t, events, &list[i], limit);
    }
    for (size_t i = 0; i < n; i++)
        if (list[i].wanted && !is_path(&list[i]))
            add_process(&t, events, &list[i], limit);
    size_t kept = json_array_size(t.slices);
    if (kept < all)
        page_note(
            page,
            "The timeline shows %zu of %zu ranks and %zu of %zu slices; timeline.json has all, "
            "for Perfetto.",
            chosen, ranks, kept, all);
    json_t *out = NULL;
    if (kept > 0)
        out = json_pack("{s:O, s:O, s:O}", "rows", t.rows, "names", t.names, "slices", t.slices);
    json_decref(t.rows);
    json_decref(t.names);
    json_decref(t.index);
    json_decref(t.slices);
    free(list);
    return out;
}
