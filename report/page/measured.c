// SPDX-License-Identifier: MIT
// Collectives of a real run by operation and size, measured there and simulated here; and the same
// as the data of a chart.
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

static json_t *median(const json_t *size, const char *key)
{
    json_t *value = json_object_get(json_object_get(size, key), "p50");
    return value != NULL ? json_incref(value) : json_null();
}

// [op, ranks, bytes, count, measured_ns, simulated_ns, ratio], medians.
static json_t *size_row(const json_t *size)
{
    json_t *row = json_array();
    json_array_append(row, json_object_get(size, "op"));
    json_array_append(row, json_object_get(size, "ranks"));
    json_array_append(row, json_object_get(size, "bytes"));
    json_array_append(row, json_object_get(size, "count"));
    json_array_append_new(row, median(size, "measured_ns"));
    json_array_append_new(row, median(size, "simulated_ns"));
    json_array_append_new(row, median(size, "ratios"));
    return row;
}

json_t *page_measured(struct page *page, const json_t *metrics, size_t limit)
{
    const json_t *all = json_object_get(metrics, "measured_collectives"), *size;
    size_t i, n = json_array_size(json_object_get(all, "sizes"));
    json_t *out, *rows;
    if (all == NULL)
        return NULL;
    out = json_object(), rows = json_array();
    json_array_foreach(json_object_get(all, "sizes"), i, size)
    {
        if (i < limit)
            json_array_append_new(rows, size_row(size));
    }
    if (n > limit)
        page_note(page, "Of %zu sizes of measured collectives the page has the first %zu.", n,
                  limit);
    page_set(out, "count", page_copy(all, "count"));
    page_set(out, "measured_ns", page_copy(all, "measured_ns"));
    page_set(out, "simulated_ns", page_copy(all, "simulated_ns"));
    page_set(out, "ratio", page_copy(all, "ratio"));
    json_object_set_new(out, "sizes", rows);
    return out;
}

static void size_rows(struct sheet *s, const json_t *run)
{
    const json_t *detail = json_object_get(run, "detail"), *row, *value;
    size_t i, k;
    json_array_foreach(json_object_get(json_object_get(detail, "measured"), "sizes"), i, row)
    {
        sheet_run_row(s, run);
        json_array_foreach(row, k, value) sheet_value(s, value);
    }
}

void sheet_measured(struct sheet *s)
{
    sheet_heading(s, "scenario,policy,seed,op,ranks,bytes,count,measured_ns,simulated_ns,ratio");
    sheet_each_run(s, size_rows);
}
