// SPDX-License-Identifier: MIT
// Merge sort from the bottom (Knuth, The Art of Computer Programming, volume 3, section 5.2.4), of
// runs that insertion has sorted. The merge has no branch on the keys: their order is unpredictable
// where it is needed. qsort() calls a function for each comparison and takes three times as many
// instructions.
#include "engine/event_sort.h"

#include <string.h>

#define RUN 8 // events that insertion sorts

static void sort_run(struct event *events, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        struct event e = events[i];
        size_t at = i;
        for (; at > 0 && event_before(e, events[at - 1]); at--)
            events[at] = events[at - 1];
        events[at] = e;
    }
}

// Merge from[0..middle) and from[middle..n), both ascending, to `to`.
static void merge(const struct event *from, size_t middle, size_t n, struct event *to)
{
    size_t a = 0, b = middle;
    while (a < middle && b < n) {
        bool second = event_before(from[b], from[a]);
        *to++ = from[second ? b : a];
        b += second;
        a += !second;
    }
    memcpy(to, from + a, (middle - a) * sizeof *to);
    memcpy(to + (middle - a), from + b, (n - b) * sizeof *to);
}

void events_sort(struct event *events, struct event *scratch, size_t n)
{
    for (size_t i = 0; i < n; i += RUN)
        sort_run(events + i, n - i < RUN ? n - i : RUN);
    struct event *from = events, *to = scratch;
    for (size_t run = RUN; run < n; run *= 2) {
        for (size_t i = 0; i < n; i += 2 * run) {
            size_t pair = n - i < 2 * run ? n - i : 2 * run;
            merge(from + i, pair < run ? pair : run, pair, to + i);
        }
        struct event *done = to;
        to = from;
        from = done;
    }
    if (from != events)
        memcpy(events, from, n * sizeof *events);
}
