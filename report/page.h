// SPDX-License-Identifier: MIT
// The HTML report of a run, a comparison, a sweep or a diagnosis: one file that opens without a
// network.
//
// The page is a template (built from report/web/ by `make report-assets`) and a JSON document that
// this interface collects: the data of each run, reduced so that the file stays below 3 MB. Notes
// on the page name the parts that were left out. Pure: texts in, text out.
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

#define PAGE_SCHEMA "collwire.report/1"
#define PAGE_MARK "@COLLWIRE_DATA@" // stands once in the template, where the document belongs

struct page;

enum page_kind { PAGE_RUN, PAGE_COMPARISON, PAGE_SWEEP, PAGE_DIAGNOSIS };

// Description of a run, which may have no metrics. Texts may be NULL.
struct page_run {
    const char *scenario, *policy;
    uint64_t seed;
    const char *dir;     // relative to the report
    const char *failure; // why there are no metrics
    const json_t *row;   // its row in compare.json, used where its metrics are missing
    const json_t *metrics, *timeline;
    const json_t *baseline; // metrics of the run that this one is compared with, and its policy
    const char *baseline_name;
    bool detail; // also its links, series, slowest flows and timeline, and all of its metrics
};

// Begin a page. `n_detail` is the number of runs that will be added in detail: they share the
// space. Free with page_free().
struct page *page_new(enum page_kind kind, const char *name, const char *version, size_t n_detail);
void page_free(struct page *page);

// The command that made the results, and the resolved scenario. NULL = not known.
void page_origin(struct page *page, const char *command, const json_t *scenario);

// Add a sentence about data that the page leaves out.
__attribute__((format(printf, 2, 3))) void page_note(struct page *page, const char *format, ...);

void page_add_run(struct page *page, const struct page_run *run);

// Add compare.json; its rows are left out, since each run is added by page_add_run().
void page_add_comparison(struct page *page, const json_t *comparison);

// Add the text of sweep.csv: varied paths, `seed`, `status`, then metrics; a row a run. Returns 0,
// or -1 with an error at `path` if it is not such a table.
int page_add_sweep(struct page *page, const char *csv, const char *path, struct err *err);

// Add diagnosis.json. Returns 0, or -1 with an error at `path` if it is none.
int page_add_diagnosis(struct page *page, const json_t *diagnosis, const char *path,
                       struct err *err);

// Add sentences about what costs the most time along the axes of a sweep; NULL = there are none.
void page_add_why(struct page *page, const json_t *sentences);

// The 95 % interval of the mean of `n` values. Returns false if there is none.
typedef bool page_interval(const double *values, size_t n, double *low, double *high);

// Add the intervals of the metrics of the sweep's points over their seeds, of at most `limit`
// points times metrics, in the order of the columns.
void page_add_intervals(struct page *page, page_interval *interval, size_t limit);

// The whole file; NULL with an error at `path` if the template does not have PAGE_MARK exactly
// once.
char *page_html(struct page *page, const char *template, const char *path, struct err *err);

// ---- charts by name ----

// A chart is NAME, NAME=CHOICE (a metric, or `tail`) or either with @RUN: in a comparison the
// policy, or SCENARIO/POLICY where there are several scenarios.

// The charts of the page as a list of [name, what it shows]; the names of runs that are shown in
// detail, and the metrics of a comparison or sweep, as the keys of an object. New references.
json_t *page_charts(struct page *page);
json_t *page_run_names(struct page *page);
json_t *page_metric_names(struct page *page);

// The dimensions of which charts of messages can be drawn, likewise; empty where there is one.
json_t *page_dimension_names(struct page *page);

// The data of a chart as CSV, to be freed; NULL = the page has no such chart. `dim`: the dimension
// of messages that is wanted (struct sheet); NULL = no wish.
char *page_chart_csv(struct page *page, const char *chart, const char *dim);

// The document of the page as JSON, with the wish to draw this chart alone (cli/drawing). To be
// freed.
char *page_document(struct page *page, const char *chart, const char *dim);
