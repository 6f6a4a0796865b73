// SPDX-License-Identifier: MIT
// Use of links: one list per column, so that a fabric of thousands of links stays small.
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

// Columns beside `at` and `utilization`: sums of `item` over the items of `list` that name the link
// in `at`.
static const struct column {
    const char *key, *list, *item;
} columns[] = {
    {"bytes", "links", "bytes"},
    {"max_queue_bytes", "queues.ports", "max_bytes"},
    {"paused_ns", "pfc.ports", "paused_ns"},
    {"dropped_packets", "drops.by_place", "packets"},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct link {
    const json_t *at;
    double utilization;
    json_int_t values[COLUMNS];
};

// Add a column's values to the links; `places` has the index of each by its name.
static void join(struct link *links, const json_t *places, const json_t *metrics, size_t column)
{
    size_t i;
    const json_t *item;
    json_array_foreach(sheet_at(metrics, columns[column].list), i, item)
    {
        const json_t *place =
            json_object_get(places, json_string_value(json_object_get(item, "at")));
        if (place)
            links[json_integer_value(place)].values[column] +=
                json_integer_value(json_object_get(item, columns[column].item));
    }
}

// The columns that are not zero everywhere.
static json_t *columns_json(const struct link *links, size_t n)
{
    json_t *object = json_object(), *at = json_array(), *use = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append(at, (json_t *)(uintptr_t)links[i].at);
        // Six digits are enough for a chart and keep the page small.
        json_array_append_new(use, json_real(round(links[i].utilization * 1e6) / 1e6));
    }
    json_object_set_new(object, "at", at);
    json_object_set_new(object, "utilization", use);
    for (size_t c = 0; c < COLUMNS; c++) {
        json_t *list = json_array();
        bool any = false;
        for (size_t i = 0; i < n; i++) {
            any |= links[i].values[c] != 0;
            json_array_append_new(list, json_integer(links[i].values[c]));
        }
        // Most runs have no drops or pauses, so their columns would be lists of zeros.
        if (any)
            json_object_set(object, columns[c].key, list);
        json_decref(list);
    }
    return object;
}

// Move the `limit` busiest links to the front, in their order. Returns their number.
static size_t keep_busiest(struct link *links, size_t n, size_t limit)
{
    struct page_ranked *order = memory_zeroed(n, sizeof *order);
    bool *kept = memory_zeroed(n, sizeof *kept);
    size_t to = 0;
    for (size_t i = 0; i < n; i++)
        order[i] = (struct page_ranked){links[i].utilization, i};
    page_rank(order, n);
    for (size_t i = 0; i < limit; i++)
        kept[order[i].index] = true;
    for (size_t i = 0; i < n; i++)
        if (kept[i])
            links[to++] = links[i];
    free(order);
    free(kept);
    return to;
}

json_t *page_links(struct page *page, const json_t *metrics, size_t limit)
{
    const json_t *items = json_object_get(metrics, "links"), *item;
    size_t n = json_array_size(items), i;
    struct link *links = memory_zeroed(n + 1, sizeof *links);
    json_t *places = json_object();
    json_array_foreach(items, i, item)
    {
        links[i].at = json_object_get(item, "at");
        links[i].utilization = json_number_value(json_object_get(item, "utilization"));
        json_object_set_new(places, json_string_value(links[i].at), json_integer((json_int_t)i));
    }
    for (size_t c = 0; c < COLUMNS; c++)
        join(links, places, metrics, c);
    json_decref(places);
    if (n > limit) {
        page_note(page, "Of %zu directions of links the page has the %zu busiest.", n, limit);
        n = keep_busiest(links, n, limit);
    }
    json_t *object = n > 0 ? columns_json(links, n) : NULL;
    free(links);
    return object;
}
