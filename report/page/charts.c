// SPDX-License-Identifier: MIT
// The charts of a page by name: a list of those that it has, the data of one as CSV, and the wish
// that one is drawn alone. Names are those of report/web/src.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

static void put_slowdowns(struct sheet *s) { sheet_messages(s, "slowdown"); }
static void put_times(struct sheet *s) { sheet_messages(s, "fct_ns"); }
static void put_queues_of_all(struct sheet *s)
{
    sheet_series_of_all(s, "queue_bytes", "high", "queue_bytes");
}
static void put_paused_of_all(struct sheet *s)
{
    sheet_series_of_all(s, "paused", "count", "ports");
}
static void put_rates_of_all(struct sheet *s)
{
    sheet_series_of_all(s, "rate_bps", "low", "rate_bps");
}
static void put_windows_of_all(struct sheet *s)
{
    sheet_series_of_all(s, "cwnd_bytes", "low", "window_bytes");
}
static void put_queues(struct sheet *s) { sheet_series(s, "queue_bytes", "queue_bytes"); }
static void put_rates(struct sheet *s) { sheet_series(s, "rate_bps", "rate_bps"); }
static void put_windows(struct sheet *s) { sheet_series(s, "cwnd_bytes", "window_bytes"); }
static void put_lines(struct sheet *s) { sheet_points(s, 1); }
static void put_map(struct sheet *s) { sheet_points(s, 2); }

enum of { OF_ALL, OF_COMPARISONS, OF_SCENARIOS };

static const struct chart {
    const char *name, *what;
    void (*put)(struct sheet *s);
    enum of of;
    bool chooses; // NAME=CHOICE draws it in another way
} charts[] = {
    {"policies", "a metric of every run, by policy", sheet_policies, OF_COMPARISONS, true},
    {"scenarios", "a metric of every policy in every scenario", sheet_policies, OF_SCENARIOS, true},
    {"sweep.lines", "a metric over an axis", put_lines, OF_ALL, true},
    {"sweep.map", "a metric over two axes", put_map, OF_ALL, true},
    {"time", "the critical path by cause", sheet_parts, OF_ALL, false},
    {"time.collectives", "the critical path of each collective", sheet_collectives, OF_ALL, false},
    {"time.phases", "phases of the critical path", sheet_phases, OF_ALL, false},
    {"time.iterations", "iterations of the critical path", sheet_iterations, OF_ALL, false},
    {"time.layers", "layers on the critical path", sheet_layers, OF_ALL, false},
    {"time.streams", "what compute streams were idle for", sheet_streams, OF_ALL, false},
    {"time.ranks", "the same by rank", sheet_ranks, OF_ALL, false},
    {"time.places", "places on the critical path", sheet_places, OF_ALL, false},
    {"messages.slowdown", "the distribution of slowdowns", put_slowdowns, OF_ALL, true},
    {"messages.time", "the distribution of completion times", put_times, OF_ALL, true},
    {"all.queue", "the longest queue of every policy over time", put_queues_of_all, OF_ALL, false},
    {"all.paused", "ports stopped by PFC of every policy over time", put_paused_of_all, OF_ALL,
     false},
    {"all.rate", "the slowest rate of every policy over time", put_rates_of_all, OF_ALL, false},
    {"all.window", "the smallest window of every policy over time", put_windows_of_all, OF_ALL,
     false},
    {"queue", "queues over time", put_queues, OF_ALL, false},
    {"paused", "ports stopped by PFC over time", sheet_stopped, OF_ALL, false},
    {"rate", "allowed rates over time", put_rates, OF_ALL, false},
    {"window", "windows over time", put_windows, OF_ALL, false},
    {"links", "use of links", sheet_links, OF_ALL, true},
    {"pauses", "who paused whom", sheet_pauses, OF_ALL, false},
    {"measured", "collectives of a real run, measured and simulated", sheet_measured, OF_ALL,
     false},
    {"memory", "memory of a GPU within an iteration, by kind", sheet_memory, OF_ALL, false},
    {"memory.ranks", "memory of ranks by kind, when it is most", sheet_memory_ranks, OF_ALL, false},
    {"timeline", "what ranks did when", sheet_timeline, OF_ALL, false},
};
enum { CHARTS = sizeof charts / sizeof *charts };

static const char state_prefix[] = "state."; // then a state of the policy

static bool has_several_scenarios(const json_t *doc)
{
    const json_t *runs = json_object_get(doc, "runs"), *run;
    const json_t *first = json_object_get(json_array_get(runs, 0), "scenario");
    size_t i;
    json_array_foreach(runs, i, run)
    {
        if (!json_equal(first, json_object_get(run, "scenario")))
            return true;
    }
    return false;
}

static bool fits(const struct chart *c, const json_t *doc)
{
    bool comparison = strcmp(json_string_value(json_object_get(doc, "kind")), "compare") == 0;
    return c->of == OF_ALL ||
           (comparison && (c->of == OF_COMPARISONS || has_several_scenarios(doc)));
}

// ---- the name of a chart ----

// NAME, NAME=CHOICE, NAME@RUN or NAME=CHOICE@RUN; the texts are to be freed.
struct wish {
    char *name, *choice, *run; // NULL = none
};

static struct wish wish_read(const char *text)
{
    struct wish w = {0};
    size_t name = strcspn(text, "=@"), choice = 0;
    w.name = text_format("%.*s", (int)name, text);
    if (text[name] == '=') {
        choice = strcspn(text + name + 1, "@");
        w.choice = text_format("%.*s", (int)choice, text + name + 1);
        choice++;
    }
    if (text[name + choice] == '@')
        w.run = memory_text(text + name + choice + 1);
    return w;
}

static void wish_free(struct wish *w)
{
    free(w->name);
    free(w->choice);
    free(w->run);
}

// ---- their data ----

// The rows of a chart as CSV, to be freed; *n is their number.
static char *sheet_of(const json_t *doc, const struct wish *w, size_t *n)
{
    struct sheet s = {.doc = doc, .run = w->run, .choice = w->choice};
    s.out = text_open(&s.text);
    for (size_t i = 0; i < CHARTS; i++)
        if (strcmp(charts[i].name, w->name) == 0 && fits(&charts[i], doc) &&
            (!w->choice || charts[i].chooses))
            charts[i].put(&s);
    if (!w->choice && strncmp(w->name, state_prefix, strlen(state_prefix)) == 0)
        sheet_series(&s, w->name + strlen(state_prefix), w->name + strlen(state_prefix));
    fputc('\n', s.out);
    *n = s.rows;
    return text_close(s.out, &s.text);
}

static void list_one(json_t *list, const json_t *doc, const char *name, const char *what)
{
    struct wish w = {.name = (char *)(uintptr_t)name};
    size_t n;
    free(sheet_of(doc, &w, &n));
    if (n > 0)
        json_array_append_new(list, json_pack("[s, s]", name, what));
}

// The states of policies that any run has, as an object {name: true}.
static json_t *states(const json_t *doc)
{
    json_t *names = json_object(), *group;
    const json_t *run;
    const char *name;
    size_t i;
    json_array_foreach(json_object_get(doc, "runs"), i, run)
    {
        const json_t *series = json_object_get(json_object_get(run, "detail"), "series");
        json_object_foreach(json_object_get(series, "observe"), name, group)
            json_object_set_new(names, name, json_true());
    }
    return names;
}

json_t *page_charts(struct page *page)
{
    json_t *list = json_array(), *observed, *yes;
    const char *state;
    page_finish(page);
    for (size_t i = 0; i < CHARTS; i++)
        if (fits(&charts[i], page->root))
            list_one(list, page->root, charts[i].name, charts[i].what);
    observed = states(page->root);
    json_object_foreach(observed, state, yes)
    {
        char *name = text_format("%s%s", state_prefix, state);
        list_one(list, page->root, name, "a state of the policy over time");
        free(name);
    }
    json_decref(observed);
    return list;
}

char *page_chart_csv(struct page *page, const char *chart)
{
    struct wish w = wish_read(chart);
    size_t n;
    page_finish(page);
    char *text = sheet_of(page->root, &w, &n);
    wish_free(&w);
    if (n > 0)
        return text;
    free(text);
    return NULL;
}

char *page_document(struct page *page, const char *chart)
{
    page_finish(page);
    json_t *root = json_copy(page->root);
    struct wish w = wish_read(chart);
    json_object_set_new(
        root, "plot",
        json_pack("{s:s, s:s*, s:s*}", "chart", w.name, "choice", w.choice, "run", w.run));
    char *text = page_json(root);
    json_decref(root);
    wish_free(&w);
    return text;
}

json_t *page_run_names(struct page *page)
{
    json_t *names = json_object();
    const json_t *run;
    size_t i;
    json_array_foreach(page->runs, i, run)
    {
        char *name = sheet_run_name(page->root, run);
        if (json_object_get(run, "detail"))
            json_object_set_new(names, name, json_true());
        free(name);
    }
    return names;
}

static void add_keys(json_t *names, const json_t *values)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)values, key, value)
    {
        if (json_number_value(value) > 0)
            json_object_set_new(names, key, json_true());
    }
}

json_t *page_metric_names(struct page *page)
{
    json_t *names = json_object();
    const json_t *sweep = json_object_get(page->root, "sweep"), *one,
                 *roles = json_object_get(sweep, "roles");
    size_t i;
    json_array_foreach(page->runs, i, one)
    {
        if (json_object_get(page->root, "comparison"))
            add_keys(names, json_object_get(one, "values"));
    }
    json_array_foreach(json_object_get(sweep, "columns"), i, one)
    {
        const char *name = json_string_value(one);
        bool reason = strcmp(name, "first_cause") == 0 || strncmp(name, "reason_", 7) == 0;
        if (!reason && strcmp(json_string_value(json_array_get(roles, i)), "metric") == 0)
            json_object_set_new(names, name, json_true());
    }
    return names;
}
