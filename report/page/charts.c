// SPDX-License-Identifier: MIT
// The charts of a page by name: a list of those that it has, the data of one as CSV, and the wish
// that one is drawn alone. Names are those of report/web/src.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/page/page_internal.h"
#include "report/page/sheet.h"

static const struct chart charts[] = {
    {"policies", "a metric of every run, by policy", OF_COMPARISONS, true, .put = sheet_policies},
    {"scenarios", "a metric of every policy in every scenario", OF_SCENARIOS, true,
     .put = sheet_policies},
    {"assumptions", "how far each assumption moves a ratio, over the draws", OF_COMPARISONS, true,
     .put = sheet_draws},
    {"sweep.lines", "a metric over an axis", OF_ALL, true, .put = sheet_points, .least = 1},
    {"sweep.map", "a metric over two axes", OF_ALL, true, .put = sheet_points, .least = 2},
    {"diagnosis", "measured values, beside the healthy network and the first cause",
     .put = sheet_diagnosis, .heading = "quantity,place,unit,measured,healthy,first",
     .keys = "quantity place unit measured healthy first"},
    {"time", "the critical path by cause", .each = sheet_path, .heading = "part,time_ns"},
    {"time.collectives", "the critical path of each collective", .each = sheet_collectives,
     .heading = "collective,op,start_ns,part,time_ns"},
    {"time.phases", "phases of the critical path", .each = sheet_phases,
     .heading = "phase,part,time_ns"},
    {"time.iterations", "iterations of the critical path", .each = sheet_list,
     .heading = "iteration,part,time_ns", .path = "metrics.slowest.iterations", .keys = "iteration",
     .parts = "parts", .least = 2}, // the path of the run is that of one
    {"time.layers", "layers on the critical path", .each = sheet_layers,
     .heading = "layer,pass,part,time_ns"},
    {"time.streams", "what compute streams were idle for", .each = sheet_streams,
     .heading = "program,part,time_ns"},
    {"time.ranks", "the same by rank", .each = sheet_ranks, .heading = "rank,part,time_ns"},
    {"time.places", "places on the critical path", .each = sheet_places,
     .heading = "place,cause,time_ns"},
    {"messages.slowdown", "the distribution of slowdowns", OF_ALL, true, .put = sheet_messages,
     .heading = "slowdown"},
    {"messages.time", "the distribution of completion times", OF_ALL, true, .put = sheet_messages,
     .heading = "fct_ns"},
    {"all.queue", "the longest queue of every policy over time", .each = sheet_series_of_all,
     .heading = "time_ns,queue_bytes", .path = "queue_bytes.high"},
    {"all.paused", "ports stopped by PFC of every policy over time", .each = sheet_series_of_all,
     .heading = "time_ns,ports", .path = "paused.count"},
    {"all.rate", "the slowest rate of every policy over time", .each = sheet_series_of_all,
     .heading = "time_ns,rate_bps", .path = "rate_bps.low"},
    {"all.window", "the smallest window of every policy over time", .each = sheet_series_of_all,
     .heading = "time_ns,window_bytes", .path = "cwnd_bytes.low"},
    {"queue", "queues over time", .each = sheet_series, .heading = "line,time_ns,queue_bytes",
     .path = "queue_bytes"},
    {"paused", "ports stopped by PFC over time", .each = sheet_stopped,
     .heading = "port,from_ns,to_ns"},
    {"rate", "allowed rates over time", .each = sheet_series, .heading = "line,time_ns,rate_bps",
     .path = "rate_bps"},
    {"window", "windows over time", .each = sheet_series, .heading = "line,time_ns,window_bytes",
     .path = "cwnd_bytes"},
    {"links", "use of links", OF_ALL, true, .each = sheet_links,
     .heading = "link,utilization,max_queue_bytes,paused_ns,dropped_packets,bytes"},
    {"pauses", "who paused whom", .each = sheet_list,
     .heading = "stopped_port,class,stopped_ns,pauses", .path = "metrics.pfc.ports",
     .keys = "at class paused_ns pauses"},
    {"measured", "collectives of a real run, measured and simulated", .each = sheet_list,
     .heading = "op,ranks,bytes,count,measured_ns,simulated_ns,ratio",
     .path = "metrics.measured_collectives.sizes",
     .keys = "op ranks bytes count measured_ns.p50 simulated_ns.p50 ratios.p50"},
    {"against", "collectives beside measured times", .each = sheet_list,
     .heading = "op,ranks,bytes,count,measured_ns,simulated_ns,ratio",
     .path = "metrics.against.rows", .keys = "op ranks bytes count measured_ns simulated_ns ratio"},
    {"against.ranks", "ranks beside those of a recording", .each = sheet_list,
     .heading = "rank,measured_ns,simulated_ns,ratio,measured_compute_ns,simulated_compute_ns",
     .path = "metrics.against.ranks",
     .keys = "rank measured_ns simulated_ns ratio measured_compute_ns simulated_compute_ns"},
    {"memory", "memory of a GPU within an iteration, by kind", .each = sheet_list,
     .heading = "step,end_ns,kind,memory_bytes", .path = "metrics.memory.iteration",
     .keys = "step end_ns", .parts = "by_kind"},
    {"memory.ranks", "memory of ranks by kind, when it is most", .each = sheet_list,
     .heading = "job,rank,ranks,kind,memory_bytes", .path = "metrics.memory.classes",
     .keys = "job rank ranks", .parts = "by_kind"},
    {"timeline", "what ranks did when", .each = sheet_timeline,
     .heading = "row,slice,from_ns,duration_ns,kind"},
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
    const char *dim;           // struct sheet; borrowed
};

static struct wish wish_read(const char *text, const char *dim)
{
    struct wish w = {.dim = dim};
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
    struct sheet s = {.doc = doc, .run = w->run, .choice = w->choice, .dim = w->dim};
    size_t n_prefix = strlen(state_prefix);
    bool of_state = !w->choice && strncmp(w->name, state_prefix, n_prefix) == 0;
    char *heading = text_format("line,time_ns,%s", of_state ? w->name + n_prefix : "");
    struct chart own = {
        .each = sheet_series, .heading = heading, .path = strrchr(heading, ',') + 1};
    s.chart = of_state ? &own : NULL;
    for (size_t i = 0; i < CHARTS; i++)
        if (strcmp(charts[i].name, w->name) == 0 && fits(&charts[i], doc) &&
            (!w->choice || charts[i].chooses) && (!w->dim || charts[i].put == sheet_messages))
            s.chart = &charts[i];
    s.out = text_open(&s.text);
    if (s.chart)
        s.chart->put ? s.chart->put(&s) : sheet_each_run(&s);
    fputc('\n', s.out);
    free(heading);
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

char *page_chart_csv(struct page *page, const char *chart, const char *dim)
{
    struct wish w = wish_read(chart, dim);
    size_t n;
    page_finish(page);
    char *text = sheet_of(page->root, &w, &n);
    wish_free(&w);
    if (n > 0)
        return text;
    free(text);
    return NULL;
}

char *page_document(struct page *page, const char *chart, const char *dim)
{
    page_finish(page);
    json_t *root = json_copy(page->root);
    struct wish w = wish_read(chart, dim);
    json_object_set_new(root, "plot",
                        json_pack("{s:s, s:s*, s:s*, s:s*}", "chart", w.name, "choice", w.choice,
                                  "run", w.run, "dim", w.dim));
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

json_t *page_dimension_names(struct page *page)
{
    json_t *names = json_object();
    const json_t *lines, *line;
    size_t i;
    page_finish(page);
    lines = json_object_get(json_object_get(page->root, "distributions"), "fct_ns");
    json_array_foreach(lines, i, line)
    {
        unsigned number;
        char text[24] = "several";
        const char *dimension = json_string_value(json_object_get(line, "dimension"));
        if (!dimension)
            continue;
        if (sscanf(dimension, "dimension %u:", &number) == 1)
            snprintf(text, sizeof text, "%u", number);
        json_object_set_new(names, text, json_true());
    }
    if (json_object_size(names) > 0) {
        json_object_set_new(names, "each", json_true());
        json_object_set_new(names, "all", json_true());
    }
    return names;
}
