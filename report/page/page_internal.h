// SPDX-License-Identifier: MIT
// Parts of a report: each turns a result into data that the page shows. Every function returns a
// new JSON value, or NULL where there is nothing to show.
#pragma once

#include <stdbool.h>

#include "report/page.h"

enum { PAGE_DISTRIBUTIONS = 2 }; // completion times and slowdowns

struct page {
    json_t *root, *notes, *runs;
    size_t n_detail;
    struct page_samples *samples; // of each policy in each scenario
    size_t n_samples;
};

// Bytes of all runs in detail together, by use. The rest of the 3 MB is the charts' program
// (0.7 MB) and the summaries of runs.
enum {
    PAGE_SERIES_BYTES = 700000,
    PAGE_TIMELINE_SLICES = 12000,
    PAGE_LINKS = 12000,
    PAGE_MEMORY_STEPS = 2400,
    PAGE_MEASURED_SIZES = 4000
};

// The text of a document, to be freed.
char *page_json(const json_t *document);

// Escape characters that could end a <script> element or a line of it: <, >, &, U+2028, U+2029
// inside strings. `json` is a JSON text; the result is the same document. To be freed.
char *page_escape(const char *json);

// Keep the completion times and slowdowns of a run's messages; then, with those of all seeds of a
// policy together, the points [value, share of messages up to it] of their distributions, by key.
void page_samples_add(struct page *page, const char *scenario, const char *policy,
                      const json_t *metrics);
json_t *page_distributions(struct page *page);
void page_samples_free(struct page *page);

// The slowest messages of a run.
json_t *page_slowest_flows(const json_t *flows, size_t limit);

// Every direction of every link with its use, its longest queue and its pauses; the busiest where
// there are more than `limit`, with a note.
json_t *page_links(struct page *page, const json_t *metrics, size_t limit);

// The series with at most as many points as fit into `bytes`, and the lines that matter.
json_t *page_series(struct page *page, const json_t *metrics, size_t bytes);

// The slices of a timeline in the Trace Event Format, of at most `limit` slices; where ranks were
// not recorded, the phases of collectives and messages.
json_t *page_timeline(struct page *page, const json_t *timeline, const json_t *metrics,
                      size_t limit);

// metrics.json without what is long (page_run.c has the list), and without keys that have no value
// or an empty list; of a run that is not shown in detail, what the page shows of every run.
json_t *page_metrics(struct page *page, const json_t *metrics, bool detail);

// A new reference to the value at `key`, NULL if it is missing or null.
json_t *page_copy(const json_t *object, const char *key);

// The number of a column of a sweep's table by its name; the number of columns if there is none.
size_t page_sweep_column(const json_t *sweep, const char *name);

// True if a column is an axis with several values, and does not always change together with an
// earlier one. Jobs and seeds are no axes.
bool page_sweep_axis(const json_t *sweep, size_t column);

// A number as an integer where it is one, NAN as null.
json_t *page_number(double value);

// Sort items by their value, the largest first; equal ones stay in the order of `index`.
struct page_ranked {
    double value;
    size_t index;
};
void page_rank(struct page_ranked *list, size_t n);

// Add what needs all runs; may be called several times.
void page_finish(struct page *page);

// Set a key unless the value is NULL; takes the reference.
void page_set(json_t *object, const char *key, json_t *value);
