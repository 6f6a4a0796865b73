// SPDX-License-Identifier: MIT
// Use of links: one list per column, so that a fabric of thousands of links stays small.
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "report/page/page_internal.h"

struct link {
    const char *at;
    double utilization;
    json_int_t bytes, max_queue_bytes, paused_ns, pauses, dropped_packets;
    size_t index;
};

static json_int_t integer(const json_t *object, const char *key)
{
    return json_integer_value(json_object_get(object, key));
}

static int busiest_first(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->utilization != y->utilization)
        return x->utilization < y->utilization ? 1 : -1;
    return (x->index > y->index) - (x->index < y->index);
}

static int by_index(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    return (x->index > y->index) - (x->index < y->index);
}

// Add the values of another list, whose items name the same places in `at`.
static void join(struct link *links, const json_t *places, const json_t *items,
                 void (*add)(struct link *link, const json_t *item))
{
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        const char *at = json_string_value(json_object_get(item, "at"));
        const json_t *place = at ? json_object_get(places, at) : NULL;
        if (place)
            add(&links[json_integer_value(place)], item);
    }
}

static void add_queue(struct link *link, const json_t *item)
{
    link->max_queue_bytes = integer(item, "max_bytes");
}

static void add_pause(struct link *link, const json_t *item)
{
    link->paused_ns += integer(item, "paused_ns");
    link->pauses += integer(item, "pauses");
}

static void add_drop(struct link *link, const json_t *item)
{
    link->dropped_packets = integer(item, "packets");
}

// Add a column, unless it is zero everywhere.
static void put_column(json_t *object, const char *key, const struct link *links, size_t n,
                       json_int_t (*value)(const struct link *link))
{
    json_t *list = json_array();
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        any |= value(&links[i]) != 0;
        json_array_append_new(list, json_integer(value(&links[i])));
    }
    if (any)
        json_object_set(object, key, list);
    json_decref(list);
}

static json_int_t value_bytes(const struct link *link) { return link->bytes; }
static json_int_t value_queue(const struct link *link) { return link->max_queue_bytes; }
static json_int_t value_paused(const struct link *link) { return link->paused_ns; }
static json_int_t value_pauses(const struct link *link) { return link->pauses; }
static json_int_t value_drops(const struct link *link) { return link->dropped_packets; }

static json_t *columns(const struct link *links, size_t n)
{
    json_t *object = json_object(), *at = json_array(), *use = json_array();
    for (size_t i = 0; i < n; i++) {
        json_array_append_new(at, json_string(links[i].at));
        json_array_append_new(use, json_real(round(links[i].utilization * 1e6) / 1e6));
    }
    json_object_set_new(object, "at", at);
    json_object_set_new(object, "utilization", use);
    put_column(object, "bytes", links, n, value_bytes);
    put_column(object, "max_queue_bytes", links, n, value_queue);
    put_column(object, "paused_ns", links, n, value_paused);
    put_column(object, "pauses", links, n, value_pauses);
    put_column(object, "dropped_packets", links, n, value_drops);
    return object;
}

json_t *page_links(struct page *page, const json_t *metrics, size_t limit)
{
    const json_t *items = json_object_get(metrics, "links"), *item;
    size_t n = json_array_size(items), i;
    struct link *links = memory_zeroed(n + 1, sizeof *links);
    json_t *places = json_object();
    json_array_foreach(items, i, item)
    {
        const char *at = json_string_value(json_object_get(item, "at"));
        links[i] =
            (struct link){.at = at ? at : "",
                          .bytes = integer(item, "bytes"),
                          .utilization = json_number_value(json_object_get(item, "utilization")),
                          .index = i};
        json_object_set_new(places, links[i].at, json_integer((json_int_t)i));
    }
    join(links, places, json_object_get(json_object_get(metrics, "queues"), "ports"), add_queue);
    join(links, places, json_object_get(json_object_get(metrics, "pfc"), "ports"), add_pause);
    join(links, places, json_object_get(json_object_get(metrics, "drops"), "by_place"), add_drop);
    json_decref(places);
    if (n > limit) {
        page_note(page, "Of %zu directions of links the page has the %zu busiest.", n, limit);
        qsort(links, n, sizeof *links, busiest_first);
        qsort(links, limit, sizeof *links, by_index);
        n = limit;
    }
    json_t *object = n > 0 ? columns(links, n) : NULL;
    free(links);
    return object;
}
