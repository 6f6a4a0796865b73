// SPDX-License-Identifier: MIT
// collwire gpcnet: reads all networks, then runs and prints them one by one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gpcnet/experiment.h"
#include "cli/gpcnet/gpcnet.h"
#include "cli/results/result_set.h"
#include "cli/runs/report.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- page ---- */

// The table has the form of sweep.csv, so that the report shows it as it shows sweeps.

struct gpcnet_page {
    struct text text;
    FILE *csv;     // the table: a row for each network, policy, test and seed
    json_t *whole; // gpcnet.json
    json_t *why;   // sentences
    bool networks; // there are several
};

static const char heading[] = "cc.kind,test,seed,status,impact_mean,impact_p99,isolated_mean,"
                              "isolated_p99,congested_mean,congested_p99,unfinished\n";

static const char *const test_words[GPCNET_TESTS] = {"latency", "bandwidth", "allreduce"};

static void gpcnet_page_begin(struct gpcnet_page *page, bool networks)
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

// Add the results of a network; `name` is that of its scenario.
static void gpcnet_page_add(struct gpcnet_page *page, const struct experiment *g)
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

// Write the folder and release the page. `dir` NULL = write nothing. Returns 0, or -1 with errors.
static int gpcnet_page_end(struct gpcnet_page *page, const char *dir, struct err *err)
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

/* ---- gpcnet command ---- */

static void print_text(const struct experiment *g)
{
    struct gpcnet_nodes nodes = gpcnet_nodes_draw(g->ranks, g->first_seed);
    for (size_t p = 0; p < g->n_policies; p++)
        impact_print(stdout, &g->impacts[p], &nodes);
    if (g->n_policies > 1)
        impacts_print(stdout, g->impacts, g->n_policies);
    free(nodes.order);
}

// One network's results, or a list of several's.
static void print_json(const struct gpcnet_page *page)
{
    json_dumpf(page->networks ? page->whole : json_array_get(page->whole, 0), stdout,
               JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
}

// Run and print the networks. Returns the exit code.
static int run_all(struct experiment *list, const struct options *o, struct gpcnet_page *page)
{
    for (size_t i = 0; i < o->n_args; i++) {
        struct experiment *g = &list[i];
        if (experiment_run(g) != 0)
            return EXIT_NOT_COMPLETED;
        if (g->failed > 0) {
            fprintf(stderr, "collwire: %zu of %zu runs ended without a result\n", g->failed,
                    g->n_tasks);
            return EXIT_NOT_COMPLETED;
        }
        gpcnet_page_add(page, g);
        if (options_print_results(o) && o->format == FORMAT_TABLE) {
            if (o->n_args > 1)
                path_print(stdout, "\n== %s ==\n", o->args[i]);
            print_text(g);
        }
    }
    if (o->format == FORMAT_JSON)
        print_json(page);
    return EXIT_DONE;
}

static int run_networks(struct experiment *list, const struct options *o, struct err *err)
{
    struct gpcnet_page page;
    gpcnet_page_begin(&page, o->n_args > 1);
    int code = run_all(list, o, &page);
    if (gpcnet_page_end(&page, code == EXIT_DONE ? o->out : NULL, err) != 0)
        return EXIT_NOT_COMPLETED;
    return code == EXIT_DONE && o->out != NULL ? report_after(o, o->out, code) : code;
}

static const char *name_of(const struct experiment *g)
{
    const char *name = json_string_value(json_object_get(g->draft.json, "name"));
    return name != NULL ? name : "";
}

// Results are told apart by the names of networks.
static void check_names(const struct experiment *list, const struct options *o, struct err *err)
{
    for (size_t i = 1; i < o->n_args && err->n_errors == 0; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(name_of(&list[i]), name_of(&list[j])) == 0)
                err_add(err, o->args[i], "has the name of %s: networks need names of their own",
                        o->args[j]);
}

static int command_gpcnet(const struct options *given)
{
    struct err err = {0};
    struct options o = *given;
    int code = EXIT_BAD_USE;
    if (o.n_args == 0) {
        fputs("collwire: gpcnet takes networks: scenarios; see collwire gpcnet --help\n", stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    struct experiment *list = memory_zeroed(o.n_args, sizeof *list);
    for (size_t i = 0; i < o.n_args; i++) {
        size_t errors = err.n_errors;
        list[i].options = &o;
        if (experiment_read(&list[i], o.args[i], &err) == 0)
            experiment_make(&list[i], &err);
        if (o.n_args > 1 && err.n_errors > errors)
            err_add(&err, o.args[i], "has these errors");
    }
    check_names(list, &o, &err);
    if (err.n_errors == 0)
        code = run_networks(list, &o, &err);
    errors_print(&err);
    for (size_t i = 0; i < o.n_args; i++)
        experiment_free(&list[i]);
    free(list);
    return code;
}

/* ---- its row ---- */

static const char gpcnet_text[] =
    "Asks as the benchmark GPCNeT does how much other jobs slow a job down: a fifth of the ranks "
    "run a network test (messages around a random ring, an all-reduce), the others four congestors "
    "(exchanges, incasts, a broadcast); the impact is the ratio of the test's times with and "
    "without them, in the mean and the 99th percentile. The scenario's workload is not used.\n\n"
    "  collwire gpcnet network.json\n"
    "  collwire gpcnet network.json --cc none,dcqcn,hpcc,swift --seeds 5\n"
    "  collwire gpcnet clos.json torus.json --cc none,dcqcn --out out/impact\n"
    "  collwire gpcnet network.json --format json";

const struct command gpcnet_command = {
    .name = "gpcnet",
    .help = "how much congestion slows other jobs down, as GPCNeT asks",
    .args = "NETWORK...",
    .text = gpcnet_text,
    .run = command_gpcnet,
    .completes = COMPLETE_FILES,
};
