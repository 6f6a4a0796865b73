// SPDX-License-Identifier: MIT
// The table has the form of sweep.csv, so that the report shows it as it shows sweeps.
#include "cli/gpcnet/page.h"

#include <stdlib.h>

#include "cli/results/result_set.h"

static const char heading[] = "cc.kind,test,seed,status,impact_mean,impact_p99,isolated_mean,"
                              "isolated_p99,congested_mean,congested_p99,unfinished\n";

static const char *const test_words[GPCNET_TESTS] = {"latency", "bandwidth", "allreduce"};

void gpcnet_page_begin(struct gpcnet_page *page, bool networks)
{
    *page = (struct gpcnet_page){.whole = json_array(), .why = json_array(), .networks = networks};
    page->csv = text_open(&page->text);
    fprintf(page->csv, "%s%s", networks ? "network," : "", heading);
}

static const char *network_name(const struct experiment *g)
{
    const char *name = json_string_value(json_object_get(g->draft.json, "name"));
    return name != NULL ? name : "network";
}

// A cell of CSV (RFC 4180).
static void put_cell(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text != '\0'; text++) {
        if (*text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    fputs("\",", out);
}

// The run of a policy, a seed and a test, alone and beside the congestors.
static void put_row(const struct gpcnet_page *page, const struct experiment *g,
                    const struct task *alone, const struct task *beside)
{
    enum gpcnet_test test = alone->test;
    struct impact one = {0};
    one.alone[test] = alone->made;
    one.beside[test] = beside->made;
    if (page->networks)
        put_cell(page->csv, network_name(g));
    put_cell(page->csv, g->choices[alone->policy].text);
    fprintf(page->csv, "%s,%llu,completed,%.10g,%.10g,%.10g,%.10g,%.10g,%.10g,%zu\n",
            test_words[test], (unsigned long long)alone->seed, impact_mean(&one, test),
            impact_p99(&one, test), measured_mean(&alone->made), measured_p99(&alone->made, test),
            measured_mean(&beside->made), measured_p99(&beside->made, test),
            beside->made.unfinished);
}

/* ---- sentences ---- */

static size_t least_hurt(const struct experiment *g, enum gpcnet_test test, bool most)
{
    size_t found = 0;
    for (size_t p = 1; p < g->n_policies; p++) {
        double p99 = impact_p99(&g->impacts[p], test), other = impact_p99(&g->impacts[found], test);
        if (most ? p99 > other : p99 < other)
            found = p;
    }
    return found;
}

static void add_sentences(const struct gpcnet_page *page, const struct experiment *g)
{
    static const char *const what[GPCNET_TESTS] = {
        "a message of 8 bytes", "a message of 131,072 bytes", "an all-reduce of 8 bytes"};
    for (int t = 0; t < GPCNET_TESTS; t++) {
        enum gpcnet_test test = (enum gpcnet_test)t;
        const struct impact *best = &g->impacts[least_hurt(g, test, false)],
                            *worst = &g->impacts[least_hurt(g, test, true)];
        char *text =
            g->n_policies > 1
                ? text_format("On %s, beside congestors %s takes %.2f times as long under %s, and "
                              "%.2f times under %s (99 of 100 turns take less).",
                              network_name(g), what[t], impact_p99(best, test), best->policy,
                              impact_p99(worst, test), worst->policy)
                : text_format("On %s, beside congestors %s takes %.2f times as long under %s (99 "
                              "of 100 turns take less).",
                              network_name(g), what[t], impact_p99(best, test), best->policy);
        json_array_append_new(page->why, json_string(text));
        free(text);
    }
}

void gpcnet_page_add(struct gpcnet_page *page, const struct experiment *g)
{
    struct gpcnet_nodes nodes = gpcnet_nodes_draw(g->ranks, g->first_seed);
    json_t *whole = impacts_json(g->impacts, g->n_policies, &nodes);
    json_object_set_new(whole, "network", json_string(network_name(g)));
    json_array_append_new(page->whole, whole);
    free(nodes.order);
    for (size_t i = 0; i + 1 < g->n_tasks; i += 2) // as experiment_make() orders them
        put_row(page, g, &g->tasks[i], &g->tasks[i + 1]);
    add_sentences(page, g);
}

/* ---- the folder ---- */

static int write_set(struct result_set *set, const char *csv, const struct gpcnet_page *page,
                     struct err *err)
{
    json_t *about = json_pack("{s:s, s:O}", "name", "gpcnet", "why", page->why);
    char *whole = json_dumps(page->whole, JSON_INDENT(1) | JSON_REAL_PRECISION(10)),
         *sweep = json_dumps(about, JSON_INDENT(1));
    int status = result_set_write(set, "gpcnet.json", whole, err) == 0 &&
                         result_set_write(set, "sweep.csv", csv, err) == 0 &&
                         result_set_write(set, "sweep.json", sweep, err) == 0
                     ? result_set_commit(set, NULL, err)
                     : -1;
    json_decref(about);
    free(whole);
    free(sweep);
    return status;
}

int gpcnet_page_end(struct gpcnet_page *page, const char *dir, struct err *err)
{
    char *csv = text_close(page->csv, &page->text);
    struct result_set *set = dir != NULL ? result_set_open(dir, err) : NULL;
    int status = dir == NULL ? 0 : -1;
    if (set != NULL)
        status = write_set(set, csv, page, err);
    result_set_close(set);
    json_decref(page->whole);
    json_decref(page->why);
    free(csv);
    return status;
}
