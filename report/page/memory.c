// SPDX-License-Identifier: MIT
// The memory that jobs need: the classes of ranks, and an iteration of the fullest one as rows of
// numbers; and the same as the data of charts.
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

#define CLASSES_MOST 64

// [step, end_ns, bytes by kind ..], in the order of `kinds`.
static json_t *step_row(const json_t *step, const json_t *kinds)
{
    json_t *row = json_array();
    size_t i;
    const json_t *kind;
    json_array_append(row, json_object_get(step, "step"));
    json_array_append(row, json_object_get(step, "end_ns"));
    json_array_foreach(kinds, i, kind) json_array_append(
        row, json_object_get(json_object_get(step, "by_kind"), json_string_value(kind)));
    return row;
}

json_t *page_memory(struct page *page, const json_t *metrics, size_t limit)
{
    const json_t *memory = json_object_get(metrics, "memory"), *value, *one;
    const char *key;
    size_t i, steps = json_array_size(json_object_get(memory, "iteration"));
    json_t *out, *kinds, *rows, *classes;
    if (memory == NULL)
        return NULL;
    out = json_object(), kinds = json_array(), rows = json_array(), classes = json_array();
    json_object_foreach(json_object_get(memory, "by_kind"), key, value)
        json_array_append_new(kinds, json_string(key));
    json_object_foreach((json_t *)(uintptr_t)memory, key, value)
    {
        if (!json_is_array(value))
            json_object_set(out, key, (json_t *)(uintptr_t)value);
    }
    json_array_foreach(json_object_get(memory, "iteration"), i, one)
    {
        if (i < limit)
            json_array_append_new(rows, step_row(one, kinds));
    }
    json_array_foreach(json_object_get(memory, "classes"), i, one)
    {
        if (i < CLASSES_MOST)
            json_array_append(classes, (json_t *)(uintptr_t)one);
    }
    if (steps > limit)
        page_note(page, "Of %zu steps of an iteration's memory the page has the first %zu.", steps,
                  limit);
    json_object_set_new(out, "kinds", kinds);
    json_object_set_new(out, "steps", rows);
    json_object_set_new(out, "classes", classes);
    return out;
}

/* ---- as data ---- */

static const json_t *memory_of(const json_t *run)
{
    return json_object_get(json_object_get(run, "detail"), "memory");
}

static void step_rows(struct sheet *s, const json_t *run)
{
    const json_t *memory = memory_of(run), *step, *kind;
    size_t i, k;
    json_array_foreach(json_object_get(memory, "steps"), i, step)
    {
        json_array_foreach(json_object_get(memory, "kinds"), k, kind)
        {
            sheet_run_row(s, run);
            sheet_value(s, json_array_get(step, 0));
            sheet_value(s, json_array_get(step, 1));
            sheet_value(s, kind);
            sheet_value(s, json_array_get(step, 2 + k));
        }
    }
}

void sheet_memory(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,step,end_ns,kind,memory_bytes");
    sheet_each_run(s, step_rows);
}

static void class_rows(struct sheet *s, const json_t *run)
{
    const json_t *one;
    size_t i;
    json_array_foreach(json_object_get(memory_of(run), "classes"), i, one)
    {
        const char *kind;
        json_t *bytes;
        json_object_foreach(json_object_get(one, "by_kind"), kind, bytes)
        {
            sheet_run_row(s, run);
            sheet_value(s, json_object_get(one, "job"));
            sheet_value(s, json_object_get(one, "rank"));
            sheet_value(s, json_object_get(one, "ranks"));
            sheet_text(s, kind);
            sheet_value(s, bytes);
        }
    }
}

void sheet_memory_ranks(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,job,rank,ranks,kind,memory_bytes");
    sheet_each_run(s, class_rows);
}
